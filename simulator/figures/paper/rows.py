"""Figure 2: cumulative shares of lookups by rank of row, in shipped workloads and as measured."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, numbers
from simulator.figures.look import SMALL, plain_axes
from simulator.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

POINTS = 49  # of a curve, evenly in the logarithm of the rank
HALF = 0.5
TOP = 1.42  # of the axes; names stand between it and 100 %
SHIPPED = {
    "headline_40": ("headline, s 1.15", VERMILLION),
    "hstu_like": ("HSTU-like items, s 0.9", BLUE),
    "production_like": ("production-like, s 0.85", PURPLE),
    "review_like": ("review-like, s 0.68", GREEN),
    "uniform": ("uniform", GREY),
}
MEASURED = {
    "kosarak": ("news clicks", ORANGE),
    "histograms_2022": ("production 2022", PURPLE),
    "histograms_2021": ("production 2021", BLACK),
    "beauty": ("beauty reviews", GREEN),
    "wikipedia": ("Wikipedia edits", SKY),
}


def curve(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """A row for each of up to `POINTS` ranks in the table that is looked up most: the share of rows and of lookups."""
    tables = bench.workload(point).tables
    table = max(tables, key=lambda table: table.length.mean)
    touched = table.touched_rows
    ranks = np.unique(np.geomspace(1, touched, POINTS).round().astype(np.int64))
    shares = table.popularity.cumulative_share(ranks)
    return [
        {
            "table": table.name,
            "rows": int(rank),
            "touched_share": rank / touched,
            "lookup_share": float(share),
        }
        for rank, share in zip(ranks, shares, strict=True)
    ]


def half_at(frame: "DataFrame", workload: str) -> float:
    """The share of the touched rows that hold half of the lookups."""
    own = chosen(frame, workload=workload)
    return float(np.interp(HALF, numbers(own, "lookup_share"), numbers(own, "touched_share")))


def draw_curves(ax: "Axes", frame: "DataFrame", curves: Mapping[str, tuple[str, str]]) -> None:
    """Lookups over rows, the hottest first."""
    for workload, (_, colour) in curves.items():
        own = chosen(frame, workload=workload)
        ax.plot(numbers(own, "touched_share"), numbers(own, "lookup_share"), color=colour, linewidth=1.6)
    ax.axhline(HALF, color=GREY, linewidth=0.6)
    ax.set(xscale="log", xlim=(1e-7, 1), ylim=(0, TOP), xlabel="of touched rows, hottest first")
    ax.set_xticks([1e-6, 1e-4, 1e-2, 1], ["0.0001 %", "0.01 %", "1 %", "100 %"])
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    ax.minorticks_off()
    plain_axes(ax)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    frame = frames["rows"]
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, title, curves in ((left, "shipped workloads", SHIPPED), (right, "measured", MEASURED)):
        ax.set_title(f"share of lookups, {title}", size=SMALL, loc="left")
        draw_curves(ax, frame, curves)
        for place, (workload, (name, colour)) in enumerate(curves.items()):
            text = f"{name}: half on {100 * half_at(frame, workload):.2g} %"
            ax.text(0.02, 0.99 - 0.06 * place, text, color=colour, size=6.5, va="top", transform=ax.transAxes)


FIGURE = PaperFigure(
    number=2,
    name="rows",
    question="How unequal are rows?",
    assumptions=(
        "Ours, not the paper's, whose tables are not public. The table of each workload that is looked up most. "
        "Measured: FIMI kosarak, Amazon Beauty, JODIE Wikipedia, dlrm_datasets (means over its tables)."
    ),
    datasets=(Dataset("rows", curve),),
    height_in=3.4,
    draw=draw,
)
