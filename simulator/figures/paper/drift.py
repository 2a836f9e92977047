"""Figure 11: what a plan is worth as popularity moves on, and how often to plan anew.

`drift` is the share of lookups that have moved to other rows since the plan was made; what has moved follows the
same law over rows in a new random order. So a plan of age 0 is a fresh one, and what is left of its gain is measured
against row-wise under the same drift. If a share r of the lookups moves in each iteration, a plan of age a has seen
1 - (1 - r)^a of them move. Planning anew moves the copies: every rank is handed its replicated rows and its part of
the island rows over its NIC. What the planner itself takes is not counted; it runs beside the training.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import levels, mean, series
from simulator.figures.look import SMALL, line_labels, plain_axes, policy_colour
from simulator.figures.measures import means
from simulator.metrics.hit_rates import hit_rates
from simulator.report.plots.style import BLUE, GREEN, GREY, VERMILLION
from simulator.sharding.plan import Tier
from simulator.sums import added
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE, OURS = "row-wise", "FlexShard"
PER_ITERATIONS = 1000
RATES = {0.01: GREEN, 0.05: BLUE, 0.2: VERMILLION}  # share of the lookups that moves in 1,000 iterations
INTERVALS = np.geomspace(1, 1e5, 41)
AGES = 64  # of an interval


def aged(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """One row: times, the share of lookups that copies take, planned and achieved, and what moving copies takes."""
    experiment, setup = bench.set_up(point)
    records = [bench.iteration(point, experiment, setup, number).record for number in range(point.iterations)]
    rates = hit_rates(setup.plan, bench.workload(point).statistics(), records)
    copied = [rate for rate in rates if rate.tier in (Tier.REPLICATED, Tier.ISLAND)]
    held = setup.memory.weights_bytes_by_tier
    copies_bytes = float(held[Tier.REPLICATED].max() + held[Tier.ISLAND].max())
    times = means(records)
    return [
        {
            "communication_s": times["communication_s"],
            "communication_without_sync_s": times["communication_without_sync_s"],
            "planned_copied_share": added(rate.planned_share for rate in copied),
            "achieved_copied_share": added(rate.achieved_share or 0.0 for rate in copied),
            "replan_s": copies_bytes / float(bench.topology(point).inter_island_bytes_per_s.min()),
        }
    ]


def speedups(frame: "DataFrame", policy: str) -> FloatArray:
    """[drifts] row-wise's time over the policy's, both under the same drift."""
    base, own = (series(frame, "communication_s", "drift", policy=name) for name in (BASELINE, policy))
    ratio: FloatArray = base / own
    return ratio


def speedup_over(frame: "DataFrame", rate: float, interval: float) -> float:
    """Of a plan made anew every `interval` iterations, its copies' way counted, when `rate` moves in 1,000."""
    ages = (np.arange(AGES) + 0.5) / AGES * interval
    moved = 1.0 - (1.0 - rate) ** (ages / PER_ITERATIONS)
    drifts = levels(frame, "drift")
    base_s, own_s = (
        float(np.interp(moved, drifts, series(frame, "communication_s", "drift", policy=name)).mean())
        for name in (BASELINE, OURS)
    )
    return base_s / (own_s + mean(frame, "replan_s", policy=OURS) / interval)


def draw_age(ax: "Axes", frame: "DataFrame") -> None:
    """The gain that is left as lookups move, and the share of them that copies still take."""
    drifts = 100 * levels(frame, "drift")
    labels = []
    for policy in (OURS, "hybrid"):
        gain = speedups(frame, policy)
        ax.plot(drifts, gain, color=policy_colour(policy), linewidth=1.6, marker="o", ms=3)
        labels.append((policy, float(drifts[0]), float(gain[0]), policy_colour(policy)))
    taken = series(frame, "achieved_copied_share", "drift", policy=OURS)
    for drift, gain, share in list(zip(drifts, speedups(frame, OURS), taken, strict=True))[3::2]:
        ax.annotate(
            f"{100 * share:.0f} % on copies",
            (drift, gain),
            xytext=(4, 4),
            textcoords="offset points",
            size=6.5,
            color=GREY,
        )
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(xlim=(0, 100), ylim=(0, 6), xlabel="% of lookups moved since the plan")
    ax.set_yticks([1, 2, 3, 4, 5, 6], ["1x", "2x", "3x", "4x", "5x", "6x"])
    plain_axes(ax)
    for name, x, y, colour in labels:
        ax.annotate(name, (x, y), xytext=(8, -2), textcoords="offset points", size=SMALL, color=colour)


def draw_intervals(ax: "Axes", frame: "DataFrame") -> None:
    """The mean gain over the time from one plan to the next."""
    labels = []
    for rate, colour in RATES.items():
        gain = [speedup_over(frame, rate, interval) for interval in INTERVALS]
        ax.plot(INTERVALS, gain, color=colour, linewidth=1.6)
        labels.append((f"{100 * rate:.0f} % in {PER_ITERATIONS:,}", float(INTERVALS[-1]), gain[-1], colour))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(xscale="log", xlim=(1, 1e5), ylim=(0, 6), xlabel="iterations between plans")
    ax.set_xticks([1, 10, 100, 1e3, 1e4, 1e5], ["1", "10", "100", "1,000", "10,000", "1e5"], size=SMALL)
    ax.set_yticks([1, 2, 3, 4, 5, 6], [])
    ax.minorticks_off()
    plain_axes(ax)
    line_labels(ax, labels)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    left.set_title("speed-up of a plan that ages", size=SMALL, loc="left")
    right.set_title("mean speed-up as lookups move", size=SMALL, loc="left")
    draw_age(left, frames["drift"])
    draw_intervals(right, frames["drift"])


FIGURE = PaperFigure(
    number=11,
    name="drift",
    question="How long is a plan good?",
    assumptions=(
        "Ours, not the paper's: zionex_16x8 (calibrated), 40 tables of 1e6 rows, s = 1.15, serial, synchronisation "
        "counted, port bound, two seeds; against row-wise under the same drift. What moves keeps the law of "
        "popularity. Right: the time to hand out new copies is counted, planning is not."
    ),
    datasets=(Dataset("drift", aged),),
    height_in=3.5,
    draw=draw,
)
