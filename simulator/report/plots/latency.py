"""Communication time by step: transfer in the colour of its tier, waiting for others hatched."""

from typing import TYPE_CHECKING

from simulator.report.folder import Results
from simulator.report.headline import SAME_SHARE
from simulator.report.plots.bars import Bar, BarChart, Group, Part, bar_chart_picture, bar_figure
from simulator.report.plots.plot import Plot, View
from simulator.report.plots.style import SYNC_COLOURS, TIER_COLOURS, hue, policy_title
from simulator.report.scales import share_text, time_scale, time_text
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

QUESTION = "Where does communication time go, and how much is waiting?"
PARTS = ["mean_wait_s", "transfer_s"]
WAITING, OTHER = "waiting for others", "other"


def time_by_phase(results: Results) -> "DataFrame":
    """Mean seconds of waiting and transfer: rows (policy, step, tier) in the order of the program."""
    return results.phases.groupby(["policy", "step", "tier"], sort=False)[PARTS].mean()


def chart(results: Results) -> BarChart:
    """One bar a step under each policy's name; the tiers of a step end to end, each after its waiting."""
    times_s = time_by_phase(results)
    longest_s = float(times_s.sum(axis=1).groupby(["policy", "step"]).sum().max()) if len(times_s) else 0.0
    scale = time_scale([longest_s])
    return BarChart(
        tuple(
            Group(policy_title(policy, results.baseline), step_bars(times_s, policy))
            for policy in results.policies
        ),
        scale,
        f"{scale.unit}, mean an iteration",
        order=(*(name.replace("_", " ") for name in (*TIER_COLOURS, *SYNC_COLOURS)), OTHER, WAITING),
        columns=4,
    )


def step_bars(times_s: "DataFrame", policy: str) -> tuple[Bar, ...]:
    """One bar a step of a policy, each tier after its waiting."""
    mine = times_s[times_s.index.get_level_values("policy") == policy]
    bars = []
    for step, tiers in mine.groupby("step", sort=False):
        parts: list[Part] = []
        for (_, _, tier), (wait_s, transfer_s) in zip(tiers.index, tiers.to_numpy(), strict=True):
            name = str(step) if step in SYNC_COLOURS else str(tier or OTHER)
            colour = hue(str(step), str(tier))
            what = f"{step} {tier}".replace("_", " ").strip()
            parts.append(Part(WAITING, float(wait_s), colour, f"{what}, waiting for others", hatched=True))
            parts.append(Part(name.replace("_", " "), float(transfer_s), colour, f"{what}, transfer"))
        end = time_text(added(part.size for part in parts))
        bars.append(Bar(str(step).replace("_", " "), tuple(part for part in parts if part.size), end))
    return tuple(bars) or (Bar("", (), "no communication"),)


def draw(results: Results) -> "Figure":
    return bar_chart_picture(chart(results), QUESTION)


def views(results: Results) -> tuple[View, ...]:
    return (View("all", bar_figure(chart(results))),)


def finding(results: Results) -> str:
    """Who communicates fastest, and the share of its time that is waiting."""
    rows = results.summary["policies"]
    shortest_s = min(row["communication_s"] for row in rows)
    fastest = next(row for row in rows if row["communication_s"] <= shortest_s * (1 + SAME_SHARE))
    times_s = time_by_phase(results)
    mine = times_s[times_s.index.get_level_values("policy") == fastest["policy"]].sum()
    total_s = float(mine.sum())
    if total_s == 0:
        return f"{fastest['policy']} spends no time on communication."
    verb = "communicates fastest:" if len(rows) > 1 else "communicates for"
    return (
        f"{fastest['policy']} {verb} {time_text(fastest['communication_s'])} an iteration, "
        f"{time_text(fastest['communication_without_sync_s'])} without synchronisation; "
        f"{share_text(float(mine['mean_wait_s']) / total_s)} of its collectives' time is waiting."
    )


PLOT = Plot(
    "latency",
    QUESTION,
    draw,
    views,
    finding,
    "Waiting (hatched) is the mean over the ranks, from coming to a collective to its start; transfer is that of "
    "the slowest group. Tiers of a step are drawn end to end even where they overlap in time. With sync_every above "
    "1, synchronisation is as long as the iterations that synchronise have it.",
)
