"""Figure 10: who gains from larger islands, and who from faster NICs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, names, numbers
from simulator.figures.look import SMALL, line_labels, plain_axes, policy_colour
from simulator.figures.measures import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MS = 1e-3


def times_ms(frame: "DataFrame", policy: str, column: str) -> tuple[FloatArray, FloatArray]:
    """Numbers of a column (a quantity's unit is left out), ascending, and mean milliseconds at them."""
    own = chosen(frame, policy=policy)
    at = np.array([float(str(text).split()[0]) for text in own[column]])
    levels = np.unique(at)
    ms = numbers(own, "communication_s") / MS
    return levels, np.array([ms[at == level].mean() for level in levels])


def draw_lines(ax: "Axes", frame: "DataFrame", column: str) -> "list[tuple[str, float, float, str]]":
    """A line a policy, dashed where it dedups; gives the names at their ends."""
    labels = []
    for policy in names(frame, "policy"):
        levels, ms = times_ms(frame, policy, column)
        colour, dashes = policy_colour(policy), (0, (3, 1.5)) if "dedup" in policy else "-"
        ax.plot(levels, ms, color=colour, linewidth=1.6, marker="o", ms=3, linestyle=dashes)
        labels.append((policy, float(levels[-1]), float(ms[-1]), colour))
    ax.set(xscale="log", yscale="log", xlim=(levels[0], levels[-1]), ylim=(0.7, 100))
    ax.set_xticks(levels, [f"{level:.0f}" for level in levels], size=SMALL)
    ax.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    ax.minorticks_off()
    plain_axes(ax)
    return labels


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    left, right = figure.subplots(1, 2, sharey=True)
    draw_lines(left, frames["islands"], "gpus_per_island")
    labels = draw_lines(right, frames["nics"], "nic_bandwidth")
    left.set_title("144 ranks in larger islands", size=SMALL, loc="left")
    right.set_title("16 islands of 8, faster NICs", size=SMALL, loc="left")
    left.set(xlabel="ranks of an island", ylabel="ms of communication in one iteration")
    right.set_xlabel("Gbit/s of a rank's NIC")
    line_labels(right, labels)


FIGURE = PaperFigure(
    number=10,
    name="topology",
    question="Who gains from larger islands, and who from faster NICs?",
    assumptions=(
        "Ours, not the paper's: H100 as in dgx_h100_16x8 (calibrated), a NIC of 400 Gbit/s a rank unless varied, 40 "
        "tables of 1e6 rows, s = 1.15, synchronisation counted, port bound, one seed on the left and "
        "two on the right; dashed: dedup by island, FlexShard's tiers concurrent."
    ),
    datasets=(Dataset("islands", metrics), Dataset("nics", metrics)),
    height_in=3.6,
    draw=draw,
)
