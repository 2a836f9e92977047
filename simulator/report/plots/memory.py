"""Memory of the fullest GPU by tier, with the baseline as a line."""

from typing import TYPE_CHECKING

from simulator.report.folder import OPTIMIZER, Results
from simulator.report.plots.bars import Bar, BarChart, Group, Part, bar_chart_picture, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import GREY, TIER_COLOURS, policy_title
from simulator.report.scales import byte_scale, bytes_text
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {**TIER_COLOURS, OPTIMIZER: GREY}
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
    return {policy: added(held.get((policy, tier), 0.0) for tier in COLOURS) for policy in results.policies}


def chart(results: Results) -> BarChart:
    """One stacked bar a policy under its name."""
    held, total = memory_by_tier(results), totals(results)
    scale = byte_scale([max(total.values())])
    has_state = " and optimizer state" if any(tier == OPTIMIZER for _, tier in held) else ""

    def bar(policy: str) -> Bar:
        sizes = {tier: held.get((policy, tier), 0.0) for tier in COLOURS}
        parts = (Part(tier, size, COLOURS[tier], held_text(tier)) for tier, size in sizes.items() if size)
        return Bar("", tuple(parts), bytes_text(total[policy]))

    return BarChart(
        tuple(Group(policy_title(policy, results.baseline), (bar(policy),)) for policy in results.policies),
        scale,
        f"{scale.unit} of embedding weights{has_state} on the fullest GPU",
        order=tuple(COLOURS),
        columns=5,
        line=("baseline", total[results.baseline]),
    )


def held_text(tier: str) -> str:
    """What a part of a bar is, to people."""
    return "optimizer state" if tier == OPTIMIZER else f"{tier} rows"


def draw(results: Results) -> "Figure":
    return bar_chart_picture(chart(results), QUESTION)


def views(results: Results) -> tuple[View, ...]:
    return (View("all", bar_figure(chart(results))),)


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
    "Bytes on the rank that holds most, by the tier of the rows; optimizer state is apart. Each replicated row is on "
    "every rank, an island row once an island.",
)
