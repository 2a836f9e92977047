"""Figure 4: what policies leave of global all-to-all traffic, and of all bytes on NICs, on the headline's tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, mean, names
from simulator.figures.look import SMALL, bar_text, change_text, policy_colour
from simulator.figures.measures import metrics
from simulator.report.plots.style import BLUE, PURPLE, VERMILLION, plain_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE = "row-wise"
CLAIMED_CUT = 0.85  # "over 85 %", of the abstract
GB = 1e9
WORKLOADS = {"headline_40": "40 tables of 1e6 rows", "headline_4": "4 tables of 1e7 rows"}
LONGEST_GB = 100.0
SYNC_NAME = (76, 3)  # GB and row at which synchronisation is named, below the bar of 2D


@dataclass(frozen=True)
class Bar:
    """One policy's bytes of one kind: mean over seeds, the part of synchronisation, the change against row-wise."""

    policy: str
    all_gb: float
    sync_gb: float
    change: float


def bars(frame: "DataFrame", workload: str, column: str) -> list[Bar]:
    """In the file's order. `column` is of the global all-to-alls, or of all that goes between islands."""
    mine = chosen(frame, workload=workload)
    base = mean(mine, column, policy=BASELINE)
    found = []
    for policy in names(mine, "policy"):
        moved = mean(mine, column, policy=policy)
        sync = mean(mine, "replica_sync_inter_island_bytes", policy=policy) if "inter" in column else 0.0
        found.append(Bar(policy, moved / GB, sync / GB, moved / base - 1))
    return found


def draw_bars(ax: "Axes", own: list[Bar]) -> None:
    """One bar a policy, with the part of synchronisation at its end and the change in figures."""
    for row, bar in enumerate(own):
        ax.barh(row, bar.all_gb - bar.sync_gb, height=0.7, color=BLUE)
        ax.barh(row, bar.sync_gb, left=bar.all_gb - bar.sync_gb, height=0.7, color=PURPLE)
        change = "" if bar.policy == BASELINE else f"  {change_text(bar.change)}"
        bar_text(ax, bar.all_gb, row, f"{bar.all_gb:.1f}{change}")
    ax.set_yticks(range(len(own)), [bar.policy for bar in own], size=SMALL)
    for label in ax.get_yticklabels():
        label.set_color(policy_colour(label.get_text()))
    plain_bars(ax, rows=len(own) - 0.4, longest=LONGEST_GB, label="")


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    axes = figure.subplots(2, 2, sharey="row", sharex="col")
    for row, (workload, name) in zip(axes, WORKLOADS.items(), strict=True):
        exchanged = bars(frames["traffic"], workload, "global_all_to_all_bytes")
        draw_bars(row[0], exchanged)
        draw_bars(row[1], bars(frames["traffic"], workload, "inter_island_bytes"))
        row[0].set_title(name, size=SMALL, loc="left", pad=3)
        claimed = (1 - CLAIMED_CUT) * exchanged[0].all_gb
        row[0].axvline(claimed, color=VERMILLION, linewidth=1, linestyle=(0, (3, 2)))
    axes[1, 0].set_xticks([claimed, 50, 100], ["-85 %", "50", "100"])
    axes[0, 1].text(*SYNC_NAME, "synchronisation", size=SMALL, color=PURPLE, va="center")
    axes[1, 0].set_xlabel("GB in global all-to-alls")
    axes[1, 1].set_xlabel("GB on NICs, with synchronisation")


FIGURE = PaperFigure(
    number=4,
    name="traffic",
    question="What is left of global all-to-all traffic?",
    assumptions=(
        "Ours, not the paper's: bytes of all ranks in one iteration; 16 islands of 8, 300 and 25 GB/s;\n"
        "Zipf-Mandelbrot s = 1.15, q = 2.75, 40 % of rows touched, 1,024,000 lookups a rank."
    ),
    datasets=(Dataset("traffic", metrics),),
    height_in=5.0,
    draw=draw,
)
