"""Memory of the fullest GPU by tier, with the baseline as a line."""

from typing import TYPE_CHECKING

from simulator.report.folder import Results
from simulator.report.plots.interactive import Bar, Group, Part, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import (
    TIER_COLOURS,
    VERMILLION,
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

QUESTION = "Does a policy need more memory than the baseline?"


def memory_by_tier(results: Results) -> dict[tuple[str, str], float]:
    """Bytes on the fullest GPU of each policy, by (policy, tier)."""
    held: dict[tuple[str, str], float] = {}
    for policy, tier, share in zip(
        *(results.memory[name] for name in ("policy", "tier", "bytes")), strict=True
    ):
        held[policy, tier] = held.get((policy, tier), 0.0) + share
    return held


def totals(results: Results) -> dict[str, float]:
    """Bytes on the fullest GPU of each policy."""
    held = memory_by_tier(results)
    return {
        policy: sum(held.get((policy, tier), 0.0) for tier in TIER_COLOURS) for policy in results.policies
    }


def draw_memory(ax: "Axes", results: Results) -> None:
    """One stacked bar a policy under its name."""
    held, total = memory_by_tier(results), totals(results)
    longest = max(total.values())
    scale = byte_scale([longest])
    tiers = [tier for tier in TIER_COLOURS if any(held.get((policy, tier)) for policy in results.policies)]
    for row, policy in enumerate(results.policies):
        policy_name(ax, 2 * row, policy, results.baseline)
        left = 0.0
        for tier in tiers:
            width = held.get((policy, tier), 0.0) / scale.size
            ax.barh(2 * row + 0.85, width, left=left, height=0.7, color=TIER_COLOURS[tier])
            left += width
        bar_end(ax, left, 2 * row + 0.85, bytes_text(total[policy]))
    ax.axvline(total[results.baseline] / scale.size, color=VERMILLION, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.set_yticks([])
    label = f"{scale.unit} of embedding weights on the fullest GPU"
    plain_bars(ax, rows=2 * len(results.policies) - 0.6, longest=longest / scale.size, label=label)
    legend_above(ax, {tier: TIER_COLOURS[tier] for tier in tiers}, extra=[_baseline_handle()], columns=5)


def _baseline_handle() -> object:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=VERMILLION, linewidth=1.2, linestyle=(0, (4, 2)), label="baseline")


def draw(results: Results) -> "Figure":
    figure = new_figure(1.1 + 0.4 * len(results.policies))
    draw_memory(figure.subplots(), results)
    title(figure, QUESTION)
    return figure


def views(results: Results) -> tuple[View, ...]:
    """The same bars."""
    held, total = memory_by_tier(results), totals(results)
    scale = byte_scale([max(total.values())])

    def bar(policy: str) -> Bar:
        sizes = {tier: held.get((policy, tier), 0.0) for tier in TIER_COLOURS}
        parts = tuple(
            Part(tier, size, TIER_COLOURS[tier], f"{tier} rows") for tier, size in sizes.items() if size
        )
        return Bar("", parts, bytes_text(total[policy]))

    groups = [Group(policy_title(policy, results.baseline), (bar(policy),)) for policy in results.policies]
    label = f"{scale.unit} of embedding weights on the fullest GPU"
    return (View("all", bar_figure(groups, scale=scale, label=label, line_at=total[results.baseline])),)


def finding(results: Results) -> str:
    """Which policies need more, by how much at most."""
    total = totals(results)
    base = total[results.baseline]
    more = [policy for policy in results.policies if total[policy] > base]
    if not more:
        return f"No policy needs more than {results.baseline}: {bytes_text(base)} on the fullest GPU."
    most = max(more, key=lambda policy: total[policy])
    verb = "needs" if len(more) == 1 else "need"
    return (
        f"{len(more)} of {len(total) - 1} other policies {verb} more than {results.baseline} "
        f"({bytes_text(base)} on the fullest GPU); {most} needs most, {bytes_text(total[most])}."
    )


PLOT = Plot(
    "memory",
    QUESTION,
    draw,
    views,
    finding,
    "Bytes on the rank that holds most, by the tier of the rows. Each replicated row is on every rank, an island "
    "row once an island.",
)
