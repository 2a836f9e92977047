"""What the communication of the slowest rank is made of: the bound and its causes, and what lies beyond it."""

from typing import TYPE_CHECKING

from simulator.report.explanation_words import BEYOND_BOUND, PARTS
from simulator.report.folder import Results
from simulator.report.plots.bars import Bar, BarChart, Group, Part, bar_chart_picture, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    policy_title,
)
from simulator.report.scales import factor_text, time_scale, time_text
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUESTION = "What is communication made of?"
COLOURS = {
    **{"even_s": BLUE, "imbalance_s": VERMILLION, "pair_cap_s": PURPLE},
    **{"contention_s": ORANGE, "startup_s": SKY, "latency_s": GREEN, "waiting_s": GREY},
}


def parts_s(results: Results, policy: str) -> dict[str, float]:
    """Seconds of each part of the first iteration's communication, in the order in which they are drawn."""
    parts = results.explanation(policy).anatomy.communication
    return {name: getattr(parts, name) for name in COLOURS}


def chart(results: Results) -> BarChart:
    """One bar a policy."""
    found = {policy: parts_s(results, policy) for policy in results.policies}
    scale = time_scale([max(added(sizes.values()) for sizes in found.values())])

    def bar(sizes: dict[str, float]) -> Bar:
        parts = (
            Part(PARTS[name], size, COLOURS[name], hatched=name == "waiting_s")
            for name, size in sizes.items()
            if size
        )
        return Bar("", tuple(parts), time_text(added(sizes.values())))

    return BarChart(
        tuple(
            Group(policy_title(policy, results.baseline), (bar(sizes),)) for policy, sizes in found.items()
        ),
        scale,
        f"{scale.unit} of the slowest rank in the first iteration",
        order=tuple(PARTS[name] for name in COLOURS),
        columns=4,
    )


def draw(results: Results) -> "Figure":
    return bar_chart_picture(chart(results), QUESTION)


def views(results: Results) -> tuple[View, ...]:
    return (View("all", bar_figure(chart(results))),)


def finding(results: Results) -> str:
    """How far the policy that communicates least is from its bound, and what the distance is mostly."""
    found = {policy: parts_s(results, policy) for policy in results.policies}
    policy = min(found, key=lambda each: added(found[each].values()))
    sizes, total_s = found[policy], added(found[policy].values())
    bound_s = total_s - added(sizes[name] for name in BEYOND_BOUND)
    if not bound_s:
        return f"{policy} spends no time on communication."
    most = max(BEYOND_BOUND, key=lambda name: sizes[name])
    beyond = f", most of the rest is {PARTS[most]}, {time_text(sizes[most])}" if sizes[most] else ""
    return f"{policy} takes {factor_text(total_s / bound_s)} the time of its port bound, {time_text(bound_s)}{beyond}."


PLOT = Plot(
    "made_of",
    QUESTION,
    draw,
    views,
    finding,
    "Evenly spread bytes, imbalance and pair cap together are the port bound. Contention, start-up, latency and "
    "waiting for late ranks come on top.",
    needs_first_iteration=True,
)
