"""Figure 9: weak scaling from 8 to 1,024 ranks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import levels, names, series
from simulator.figures.look import line_labels, plain_axes, policy_colour
from simulator.figures.measures import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

ISLAND_RANKS = 8
MS = 1e-3


def draw_lines(ax: "Axes", frame: "DataFrame") -> None:
    """Communication time over the number of ranks, a line a policy; dashed where it dedups."""
    ranks = ISLAND_RANKS * levels(frame, "islands")
    labels = []
    for policy in names(frame, "policy"):
        ms = series(frame, "communication_s", "islands", policy=policy) / MS
        colour = policy_colour(policy)
        dashes = (0, (3, 1.5)) if "dedup" in policy else "-"
        ax.plot(ranks, ms, color=colour, linewidth=1.6, marker="o", ms=3, linestyle=dashes)
        last = int(np.flatnonzero(np.isfinite(ms))[-1])
        labels.append((policy, float(ranks[last]), float(ms[last]), colour))
    ax.set(xscale="log", yscale="log", xlim=(ranks[0], ranks[-1]), ylim=(0.8, 100))
    ax.set_xticks(ranks, [f"{rank:,.0f}" for rank in ranks])
    ax.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    ax.minorticks_off()
    ax.set(xlabel="ranks, in islands of 8", ylabel="ms of communication in one iteration")
    plain_axes(ax)
    line_labels(ax, labels)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    draw_lines(figure.subplots(), frames["scale"])


FIGURE = PaperFigure(
    number=9,
    name="scale",
    question="What happens as the cluster grows?",
    assumptions=(
        "Ours, not the paper's: islands as in zionex_16x8 (calibrated), 40 tables of 1e6 rows, s = 1.15; 512 samples "
        "for each rank however many there are; synchronisation counted, port bound, one seed."
    ),
    datasets=(Dataset("scale", metrics),),
    height_in=3.6,
    draw=draw,
)
