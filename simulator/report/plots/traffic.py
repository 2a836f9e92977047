"""Traffic by policy: what kind of bytes travel, on NICs and on NVLink."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.report.folder import Results
from simulator.report.headline import SAME_SHARE
from simulator.report.plots.interactive import Bar, Group, Part, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import (
    SYNC_COLOURS,
    TIER_COLOURS,
    bar_end,
    legend_above,
    new_figure,
    plain_bars,
    policy_name,
    policy_title,
    title,
)
from simulator.report.scales import byte_scale, bytes_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

QUESTION = "Which bytes travel, and over what?"
WIRES = {"NIC": "inter_island_bytes", "NVLink": "intra_island_bytes"}
COLOURS = {
    **{f"{tier} all-to-all": TIER_COLOURS[tier] for tier in ("global", "group", "island")},
    "replica sync": SYNC_COLOURS["replica_sync"],
    "dense sync": SYNC_COLOURS["dense_sync"],
}


def traffic_by_use(results: Results) -> "DataFrame":
    """Mean bytes an iteration: rows (policy, use), columns the two of `WIRES`."""
    phases = results.phases
    sync = phases["step"].isin(SYNC_COLOURS)
    use = phases["step"].str.replace("_", " ").where(sync, phases["tier"] + " all-to-all")
    total = phases.assign(use=use).groupby(["policy", "use"], sort=False)[list(WIRES.values())].sum()
    iterations = phases.groupby("policy")["iteration"].nunique()
    return total.div(iterations, axis=0, level="policy")


def draw_traffic(ax: "Axes", results: Results) -> None:
    """Two stacked bars a policy, NIC above NVLink."""
    traffic = traffic_by_use(results)
    totals = traffic.groupby("policy").sum()
    longest = float(totals.to_numpy().max(initial=0))
    scale = byte_scale([longest])
    uses = [use for use in COLOURS if use in traffic.index.get_level_values("use")]
    ticks = []
    for row, policy in enumerate(results.policies):
        policy_name(ax, 3 * row, policy, results.baseline)
        for place, (wire, column) in enumerate(WIRES.items(), start=1):
            y, left = 3 * row + 0.85 * place, 0.0
            for use in uses:
                width = float(traffic[column].get((policy, use), 0)) / scale.size
                ax.barh(y, width, left=left, height=0.72, color=COLOURS[use])
                left += width
            bar_end(ax, left, y, bytes_text(left * scale.size))
            ticks.append((y, wire))
    ax.set_yticks([y for y, _ in ticks], [wire for _, wire in ticks])
    label = f"{scale.unit} an iteration, all ranks together"
    plain_bars(ax, rows=3 * len(results.policies) - 0.6, longest=longest / scale.size, label=label)
    legend_above(ax, {use: COLOURS[use] for use in uses})


def draw(results: Results) -> "Figure":
    figure = new_figure(1.1 + 0.62 * len(results.policies))
    draw_traffic(figure.subplots(), results)
    title(figure, QUESTION)
    return figure


def views(results: Results) -> tuple[View, ...]:
    """The same bars."""
    traffic = traffic_by_use(results)
    scale = byte_scale([float(traffic.groupby("policy").sum().to_numpy().max(initial=0))])
    uses = [use for use in COLOURS if use in traffic.index.get_level_values("use")]

    def bar(policy: str, wire: str) -> Bar:
        sizes = {use: float(traffic[WIRES[wire]].get((policy, use), 0)) for use in uses}
        parts = tuple(
            Part(use, size, COLOURS[use], f"{use} on {wire}") for use, size in sizes.items() if size
        )
        return Bar(wire, parts, bytes_text(sum(sizes.values())))

    groups = [
        Group(policy_title(policy, results.baseline), tuple(bar(policy, wire) for wire in WIRES))
        for policy in results.policies
    ]
    figure = bar_figure(groups, scale=scale, label=f"{scale.unit} an iteration, all ranks together")
    return (View("all", figure),)


def finding(results: Results) -> str:
    """Who puts least on the NICs."""
    rows = results.summary["policies"]
    base = next(row for row in rows if row["policy"] == results.baseline)
    fewest = min(row["inter_island_bytes"] for row in rows)
    least = next(row for row in (base, *rows) if row["inter_island_bytes"] <= fewest * (1 + SAME_SHARE))
    if base["inter_island_bytes"] == 0:
        return f"With {base['policy']} no byte travels between islands."
    if least is base:
        return f"No policy puts less on the NICs than {base['policy']}: {_nic_text(base)} an iteration."
    return (
        f"{least['policy']} puts least on the NICs: {_nic_text(least)} an iteration, "
        f"{bytes_text(least['replica_sync_inter_island_bytes'])} of it to synchronise replicas; "
        f"{base['policy']} puts {_nic_text(base)} there."
    )


def _nic_text(row: Mapping[str, Any]) -> str:
    return bytes_text(row["inter_island_bytes"])


PLOT = Plot(
    "traffic",
    QUESTION,
    draw,
    views,
    finding,
    "Bytes that leave ports, ids, embeddings and gradients together. Bytes that an algorithm moves twice count twice.",
)
