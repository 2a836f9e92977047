"""Figure 7: maps of the cut and of the speed-up over skew and lookups, and over skew and memory."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, mean
from simulator.figures.look import SMALL
from simulator.figures.measures import metrics
from simulator.report.plots.style import BLACK, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE, OURS = "row-wise", "FlexShard"
BATCH = 512  # samples of a rank in the headline's workload
CUTS = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 1.0)
SPEEDUPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 60.0)
CLAIMED = {"cut": 0.85, "speedup": 6.0, "balanced": 6.0}  # "over 85 %" and "almost 6x", of the abstract
DARKEST = 0.72  # of the colour map
HEADLINE_S, HEADLINE_LOOKUPS = 1.15, 25_600
PRODUCTION_S = 0.9  # fitted to the histograms of dlrm_datasets, 2022
NO_BUDGET = 0.1  # %, where a budget of 0 is drawn on a logarithmic axis


def lookups(text: str) -> float:
    """Lookups a rank and table, of a length."""
    return BATCH * float(text)


def budget(text: str) -> float:
    """Per cent of row-wise's memory, of a budget such as '5 %'."""
    return max(NO_BUDGET, float(text.removesuffix("%")))


def gains(frame: "DataFrame", column: str, level: Any, skew: float) -> dict[str, float]:
    """The cut and the speed-ups at one point, means over seeds. Row-wise may not depend on the column."""
    ours = chosen(frame, policy=OURS, s=skew, **{column: level})
    base = chosen(frame, policy=BASELINE, s=skew)
    base = chosen(base, **{column: level}) if base[column].notna().any() else base
    moved, time = "global_all_to_all_bytes", "communication_s"
    return {
        "cut": 1 - mean(ours, moved) / mean(base, moved),
        "speedup": mean(base, time) / mean(ours, time),
        "balanced": mean(base, "predicted_s") / mean(ours, "predicted_s"),
    }


def gain_map(frame: "DataFrame", column: str, what: str) -> FloatArray:
    """[levels of the column, skews] of one of the gains."""
    levels = chosen(frame, policy=OURS)[column].unique()
    skews = np.unique(frame["s"].to_numpy(np.float64))
    return np.array([[gains(frame, column, level, skew)[what] for skew in skews] for level in levels])


def draw_map(ax: "Axes", frame: "DataFrame", column: str, what: str) -> None:
    """Steps of colour between labelled contours; the claim's in red, dashed what less traffic alone would give."""
    levels = chosen(frame, policy=OURS)[column].unique()
    skews = np.unique(frame["s"].to_numpy(np.float64))
    heights = [(lookups if column == "length" else budget)(str(level)) for level in levels]
    found = gain_map(frame, column, what)
    steps = CUTS if what == "cut" else SPEEDUPS
    ax.contourf(skews, heights, found, steps, colors=_shades(len(steps) - 1))
    lines = ax.contour(skews, heights, found, steps[1:-1], colors=BLACK, linewidths=0.5)
    form = (lambda value: f"{100 * value:.0f} %") if what == "cut" else (lambda value: f"{value:g}x")
    ax.clabel(lines, fmt=form, fontsize=6.5)
    if found.max() > CLAIMED[what]:
        ax.contour(skews, heights, found, [CLAIMED[what]], colors=VERMILLION, linewidths=2)
    if what == "speedup" and (alone := gain_map(frame, column, "balanced")).max() > CLAIMED[what]:
        ax.contour(
            skews, heights, alone, [CLAIMED[what]], colors=VERMILLION, linewidths=1.2, linestyles="dashed"
        )
    ax.set(yscale="log", xlabel="skew s")
    ax.tick_params(which="both", length=2)


def _shades(count: int) -> list[Any]:
    """From white to a blue on which black still reads."""
    import matplotlib

    return [matplotlib.colormaps["Blues"](share) for share in np.linspace(0, DARKEST, count)]


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    axes = figure.subplots(2, 2, sharex=True, sharey="row")
    for row, column, dataset in zip(
        axes, ("length", "budget"), ("where_lookups", "where_memory"), strict=True
    ):
        for ax, what in zip(row, ("cut", "speedup"), strict=True):
            draw_map(ax, frames[dataset], column, what)
            ax.axvline(PRODUCTION_S, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    axes[0, 0].set_title("cut of global all-to-all bytes", size=SMALL, loc="left")
    axes[0, 1].set_title("speed-up", size=SMALL, loc="left")
    axes[0, 0].set_ylabel("lookups a rank and table")
    axes[1, 0].set_ylabel("memory beyond row-wise's")
    axes[1, 0].set_yticks([NO_BUDGET, 1, 10, 100], ["none", "1 %", "10 %", "100 %"])
    axes[0, 0].set_yticks([1e3, 1e4, 1e5], ["1,000", "10,000", "100,000"])
    for ax in axes[0]:
        ax.set_xlabel("")
        ax.plot(HEADLINE_S, HEADLINE_LOOKUPS, marker="*", ms=9, color=BLACK, mec="white", mew=0.6)


FIGURE = PaperFigure(
    number=7,
    name="where",
    question="Where do 85 % and 6x hold?",
    assumptions=(
        "Ours, not the paper's: 40 tables of 1e6 rows, 16 islands of 8, 300 and 25 GB/s, serial, synchronisation "
        "counted, port bound, two seeds. Star: the headline. Dotted: skew of production-like histograms. Red: 85 % and "
        "6x; dashed: 6x by less traffic alone, ranks balanced. Above: no more memory than row-wise, 60 % of rows "
        "reclaimed. Below: no row reclaimed, 25,600 lookups."
    ),
    datasets=(
        Dataset("where_lookups", metrics, {"workload.tables.*.length.value": "length"}),
        Dataset("where_memory", metrics),
    ),
    height_in=5.6,
    draw=draw,
)
