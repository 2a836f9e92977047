"""Traffic by policy: what kind of bytes travel, on NICs and on NVLink."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.report.folder import Results
from simulator.report.headline import SAME_SHARE
from simulator.report.plots.bars import Bar, BarChart, Group, Part, bar_chart_picture, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import SYNC_COLOURS, TIER_COLOURS, policy_title
from simulator.report.scales import byte_scale, bytes_text
from simulator.sums import added

if TYPE_CHECKING:
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


def chart(results: Results) -> BarChart:
    """Two stacked bars a policy, NIC above NVLink."""
    traffic = traffic_by_use(results)
    scale = byte_scale([float(traffic.groupby("policy").sum().to_numpy().max(initial=0))])

    def bar(policy: str, wire: str) -> Bar:
        sizes = {use: float(traffic[WIRES[wire]].get((policy, use), 0)) for use in COLOURS}
        parts = (Part(use, size, COLOURS[use], f"{use} on {wire}") for use, size in sizes.items() if size)
        return Bar(wire, tuple(parts), bytes_text(added(sizes.values())))

    groups = (
        Group(policy_title(policy, results.baseline), tuple(bar(policy, wire) for wire in WIRES))
        for policy in results.policies
    )
    label = f"{scale.unit} an iteration, all ranks together"
    return BarChart(tuple(groups), scale, label, order=tuple(COLOURS))


def draw(results: Results) -> "Figure":
    return bar_chart_picture(chart(results), QUESTION)


def views(results: Results) -> tuple[View, ...]:
    return (View("all", bar_figure(chart(results))),)


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
