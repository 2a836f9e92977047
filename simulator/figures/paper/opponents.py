"""Figure 8: FlexShard against strong opponents over skew, each in whichever of its ways is fastest there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import levels, names, series
from simulator.figures.look import SMALL, line_labels, plain_axes, policy_colour
from simulator.figures.measures import metrics
from simulator.report.plots.style import GREEN, GREY, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE, OURS = "row-wise", "FlexShard"
DEDUP = "row-wise, dedup"
EVERY = (OURS, "hybrid", DEDUP, "2D", "RecShard")
WITHOUT_DEDUP = (OURS, "hybrid", "2D", "RecShard")
DEDUP_WORDS = ("rank", "island", "dedup")


def ways(frame: "DataFrame", family: str, *, dedup: bool) -> list[str]:
    """The labels of a family: those that dedup too, or only those that do not."""
    own = [label for label in names(frame, "policy") if label.startswith(family)]
    return [label for label in own if dedup or not any(word in label for word in DEDUP_WORDS)]


def best(frame: "DataFrame", family: str, *, dedup: bool = True) -> FloatArray:
    """[skews] speed-up over row-wise without dedup, of the family's fastest way at each skew."""
    base = series(frame, "communication_s", "s", policy=BASELINE)
    times = [
        series(frame, "communication_s", "s", policy=label) for label in ways(frame, family, dedup=dedup)
    ]
    gain: FloatArray = base / np.nanmin(times, axis=0)
    return gain


def lead(frame: "DataFrame", *, dedup: bool) -> FloatArray:
    """[skews] FlexShard's speed-up over that of its best opponent: above 1 it wins."""
    families = EVERY if dedup else WITHOUT_DEDUP
    others = [best(frame, family, dedup=dedup) for family in families if family != OURS]
    ratio: FloatArray = best(frame, OURS, dedup=dedup) / np.max([*others, np.ones(len(others[0]))], axis=0)
    return ratio


def draw_gains(ax: "Axes", frame: "DataFrame") -> None:
    """Each family at its best."""
    skews = levels(frame, "s")
    labels = []
    for family in reversed(EVERY):
        gain = best(frame, family)
        colour = policy_colour(family)
        ax.plot(skews, gain, color=colour, linewidth=1.6, marker="o", ms=3)
        labels.append((family, float(skews[-1]), float(gain[-1]), colour))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(yscale="log", xlim=(skews[0], skews[-1]), ylim=(0.3, 20), xlabel="skew s")
    ax.set_yticks([0.3, 1, 3, 10], ["0.3x", "1x", "3x", "10x"])
    ax.minorticks_off()
    plain_axes(ax)
    line_labels(ax, labels)


def draw_lead(ax: "Axes", frame: "DataFrame") -> None:
    """How far FlexShard is ahead of the best of the others."""
    skews = levels(frame, "s")
    for dedup, colour, dashes in ((True, VERMILLION, "-"), (False, GREEN, (0, (3, 1.5)))):
        ax.plot(
            skews, lead(frame, dedup=dedup), color=colour, linewidth=1.6, linestyle=dashes, marker="o", ms=3
        )
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(xlim=(skews[0], skews[-1]), ylim=(0.9, 1.3), xlabel="skew s")
    ax.set_yticks([0.9, 1, 1.1, 1.2, 1.3], ["0.9x", "1x", "1.1x", "1.2x", "1.3x"])
    ax.text(0.03, 0.95, "dedup allowed to all", color=VERMILLION, size=SMALL, transform=ax.transAxes)
    ax.text(0.03, 0.89, "without dedup", color=GREEN, size=SMALL, transform=ax.transAxes)
    plain_axes(ax)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    left.set_title("speed-up, each at its best", size=SMALL, loc="left")
    right.set_title("FlexShard over the best", size=SMALL, loc="left")
    draw_gains(left, frames["opponents"])
    draw_lead(right, frames["opponents"])


FIGURE = PaperFigure(
    number=8,
    name="opponents",
    question="Does FlexShard beat strong opponents?",
    assumptions=(
        "Ours, not the paper's: zionex_16x8 (calibrated), 40 tables of 1e6 rows; over row-wise without dedup, "
        "synchronisation every iteration and counted, port bound, two seeds. Ways: dedup none, by rank "
        "or by island; direct or hierarchical; tiers serial or concurrent."
    ),
    datasets=(Dataset("opponents", metrics),),
    height_in=3.6,
    draw=draw,
)
