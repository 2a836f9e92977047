"""The byte matrix of the forward embeddings: who sends to whom, on a log colour scale with island borders."""

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.report.folder import Results
from simulator.report.plots.interactive import axis, short
from simulator.report.plots.plot import InteractiveFigure, Plot, View
from simulator.report.plots.style import BLACK, GREY, PALE, new_figure, shortened, title
from simulator.report.scales import bytes_text, factor_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

QUESTION = "Who sends embeddings to whom?"
STEP = "embeddings"
MOST_CELLS = 128  # a side; more are averaged in blocks
INTERACTIVE_CELLS = 64  # of the interactive figure, whose numbers are in the page
FEW_RANKS = 16  # up to which an axis names each
FEW_BORDERS, MOST_BORDERS = 8, 40  # thinner lines from there, none beyond
NAME_CHARACTERS = {1: 50, 2: 30}  # by columns of panels
PANEL_HEIGHT_IN = {1: 3.2, 2: 2.45}


def embedding_matrix(results: Results, policy: str) -> IntArray:
    """[world_size, world_size] bytes of all tiers' embeddings of the first iteration, the free diagonal left out."""
    phases = results.phases
    names = phases.loc[(phases["policy"] == policy) & (phases["step"] == STEP), "phase"].unique()
    world_size = sum(results.island_sizes)
    total = np.zeros((world_size, world_size), dtype=np.int64)
    for name in names:
        matrix = results.matrix(policy, str(name))
        if matrix is not None:
            total += matrix
    np.fill_diagonal(total, 0)
    return total


def averaged(matrix: IntArray, cells: int = MOST_CELLS) -> FloatArray:
    """At most `cells` a side: means over square blocks of ranks (the last block may be smaller)."""
    block = -(-len(matrix) // cells)
    starts = np.arange(0, len(matrix), block)
    widths = np.diff(np.append(starts, len(matrix)))
    sums = np.add.reduceat(np.add.reduceat(matrix.astype(np.float64), starts, axis=0), starts, axis=1)
    means: FloatArray = sums / np.outer(widths, widths)
    return means


def common_norm(matrices: list[FloatArray]) -> "LogNorm | None":
    """One colour scale for all; None when no byte travels."""
    from matplotlib.colors import LogNorm

    positive = np.concatenate([matrix[matrix > 0] for matrix in matrices])
    if positive.size == 0:
        return None
    low, high = float(positive.min()), float(positive.max())
    return LogNorm(min(low, high / 10), high)


def draw_matrix(
    ax: "Axes", cells: FloatArray, island_sizes: tuple[int, ...], norm: "LogNorm | None"
) -> "AxesImage":
    """Rows send, columns receive; pairs without a byte stay blank."""
    import matplotlib

    world_size = sum(island_sizes)
    colours = matplotlib.colormaps["viridis_r"].with_extremes(bad="white")
    image = ax.imshow(
        np.ma.masked_less_equal(cells, 0.0),
        norm=norm,
        cmap=colours,
        interpolation="none",
        extent=(-0.5, world_size - 0.5, world_size - 0.5, -0.5),
    )
    borders = np.cumsum(island_sizes)[:-1] - 0.5
    if len(borders) <= MOST_BORDERS:
        width = 0.6 if len(borders) < FEW_BORDERS else 0.25
        for border in borders:
            ax.axhline(border, color=BLACK, linewidth=width)
            ax.axvline(border, color=BLACK, linewidth=width)
    ax.set_xticks([0, world_size - 1] if world_size > 1 else [0])
    ax.set_yticks([0, world_size - 1] if world_size > 1 else [0])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(PALE if len(borders) > MOST_BORDERS else GREY)
    return image


def draw(results: Results) -> "Figure":
    """Draw the plot of a results folder."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    cells = [averaged(embedding_matrix(results, policy)) for policy in results.policies]
    norm = common_norm(cells)
    columns = min(len(cells), max(PANEL_HEIGHT_IN))
    rows = -(-len(cells) // columns)
    figure = new_figure(0.9 + rows * PANEL_HEIGHT_IN[columns])
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(cells) :]:
        ax.set_axis_off()
    used = axes.flat[: len(cells)]
    for ax, policy, matrix in zip(used, results.policies, cells, strict=True):
        image = draw_matrix(ax, matrix, results.island_sizes, norm)
        ax.set_title(shortened(policy, NAME_CHARACTERS[columns]), size=8)
    axes[0, 0].set_ylabel("sending rank")
    axes[rows - 1, 0].set_xlabel("receiving rank")
    if norm is not None:
        bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40)
        bar.ax.xaxis.set_major_locator(LogLocator(numticks=6))
        bar.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(value)))
        bar.ax.minorticks_off()
        bar.set_label("from one rank to another in the first iteration")
    title(figure, QUESTION)
    return figure


def views(results: Results) -> tuple[View, ...]:
    """A view a policy, colours in common."""
    cells = {
        policy: averaged(embedding_matrix(results, policy), INTERACTIVE_CELLS) for policy in results.policies
    }
    positive = np.concatenate([matrix[matrix > 0] for matrix in cells.values()])
    if not positive.size:
        return ()
    ends = (float(positive.min()), float(positive.max()))
    return tuple(View(policy, matrix_figure(results, matrix, ends)) for policy, matrix in cells.items())


def matrix_figure(results: Results, cells: FloatArray, ends: tuple[float, float]) -> InteractiveFigure:
    """Rows send, columns receive. The script colours by the logarithm (`logColours`) and shows the bytes."""
    world_size = sum(results.island_sizes)
    block = -(-world_size // INTERACTIVE_CELLS)
    low, high = min(ends[0], ends[1] / 10), ends[1]
    marks = [10.0**power for power in range(int(np.ceil(np.log10(low))), int(np.log10(high)) + 1)]
    bar = {"tickvals": [np.log10(mark) for mark in marks], "ticktext": [bytes_text(mark) for mark in marks]}
    mean = " (mean of a block)" if block > 1 else ""
    trace = {
        **{"type": "heatmap", "logColours": True, "x0": (block - 1) / 2, "dx": block},
        **{"y0": (block - 1) / 2, "dy": block, "colorscale": "Viridis", "reversescale": True},
        **{"zmin": short(float(np.log10(low))), "zmax": short(float(np.log10(high)))},
        "z": [[short(value, 3) if value > 0 else None for value in row] for row in cells.tolist()],
        "colorbar": {**bar, "thickness": 12, "orientation": "h", "y": -0.2, "yanchor": "top"},
        "hovertemplate": f"from rank %{{y}} to %{{x}}{mean}: <b>%{{customdata:.3s}}B</b><extra></extra>",
    }
    ends_at = [-0.5, world_size - 0.5]
    whole = {"dtick": 1} if world_size <= FEW_RANKS else {}
    side = {**whole, "constrain": "domain", "showgrid": False, "zeroline": False}
    borders = np.cumsum(results.island_sizes)[:-1] - 0.5
    return {
        "data": [trace],
        "layout": {
            "height": 520,
            "xaxis": axis("receiving rank", range=ends_at, **side),
            "yaxis": axis("sending rank", range=ends_at[::-1], scaleanchor="x", **side),
            "shapes": [line for border in borders for line in border_lines(float(border), world_size)]
            if len(borders) <= MOST_BORDERS
            else [],
        },
    }


def border_lines(place: float, world_size: int) -> list[dict[str, Any]]:
    """Where an island ends, across and upright."""
    ends, line = (-0.5, world_size - 0.5), {"color": GREY, "width": 1}
    across = {"x0": ends[0], "x1": ends[1], "y0": place, "y1": place}
    upright = {"x0": place, "x1": place, "y0": ends[0], "y1": ends[1]}
    return [{"type": "line", "line": line, **each} for each in (across, upright)]


def unevenness(results: Results) -> dict[str, float]:
    """How many times the mean the busiest rank sends, by policy that sends."""
    uneven = {}
    for policy in results.policies:
        sent = embedding_matrix(results, policy).sum(axis=1)
        if sent.sum():
            uneven[policy] = float(sent.max() / sent.mean())
    return uneven


def subject(results: Results) -> str:
    """The policy under which the busiest rank is nearest to the mean."""
    uneven = unevenness(results)
    return min(uneven, key=lambda policy: uneven[policy])


def finding(results: Results) -> str:
    """How uneven the busiest sender is under each of the two most different policies."""
    uneven = unevenness(results)
    if not uneven:
        return "No embeddings travel between ranks."
    most = max(uneven, key=lambda policy: uneven[policy])
    least = subject(results)
    if most == least:
        return f"Under {most} the busiest rank sends {factor_text(uneven[most])} the mean."
    return (
        f"Under {least} the busiest rank sends {factor_text(uneven[least])} the mean, "
        f"under {most} {factor_text(uneven[most])}."
    )


PLOT = Plot(
    "matrix",
    QUESTION,
    draw,
    views,
    finding,
    f"Bytes of the forward embeddings by pair of ranks; blank pairs send nothing; lines part islands, of up to "
    f"{MOST_BORDERS + 1}. With more than {MOST_CELLS} ranks ({INTERACTIVE_CELLS} in the interactive figure), cells "
    "are means over blocks of ranks.",
    subject=subject,
)
