"""Bars in groups as a value, drawn alike as a still picture and as an interactive figure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.report.plots.interactive import label_text, short
from simulator.report.plots.plot import InteractiveFigure
from simulator.report.plots.style import (
    BLACK,
    GREY,
    HALO,
    VERMILLION,
    bar_end,
    legend_above,
    new_figure,
    plain_bars,
    shortened,
    title,
)
from simulator.report.scales import Scale
from simulator.sums import added

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR_STEP, GROUP_STEP, BAR_HEIGHT = 0.85, 1.2, 0.7
ROW_IN, FRAME_IN = 0.21, 1.15  # still: height of a row; of axis, legend and title
ROW_PX, FRAME_PX = 24, 110  # interactive
HATCH = "/////"


@dataclass(frozen=True)
class Part:
    """A stretch of a bar; `hatched` is time without work."""

    name: str  # in the legend
    size: float  # SI
    colour: str
    hover: str = ""  # what it is, where the name does not say all
    hatched: bool = False


@dataclass(frozen=True)
class Bar:
    """Parts end to end, and a text at their end."""

    label: str
    parts: tuple[Part, ...]
    end: str


@dataclass(frozen=True)
class Group:
    """Bars under a common name."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class BarChart:
    """Groups of bars over one axis."""

    groups: tuple[Group, ...]
    scale: Scale
    label: str  # of the axis
    order: tuple[str, ...]  # of the legend
    columns: int = 3  # of the legend
    line: tuple[str, float] | None = None  # an upright line: its name and place

    def rows(self) -> Iterator[tuple[float, Group | Bar, Group]]:
        """Groups' names and bars from the top, each with its height on the axis and its group."""
        y = 0.0
        for group in self.groups:
            yield y, group, group
            for bar in group.bars:
                y += BAR_STEP
                yield y, bar, group
            y += GROUP_STEP

    @property
    def bottom(self) -> float:
        """The height below the last row."""
        return max(y for y, _, _ in self.rows()) + 0.6

    @property
    def longest(self) -> float:
        """Of the bars, in units of the axis."""
        sizes = [added(part.size for part in bar.parts) for group in self.groups for bar in group.bars]
        return max(sizes, default=0.0) / self.scale.size

    def legend(self) -> dict[str, Part]:
        """A part for each name that occurs, in order."""
        found = {part.name: part for group in self.groups for bar in group.bars for part in bar.parts}
        return {name: found[name] for name in self.order if name in found}


def bar_chart_picture(chart: BarChart, question: str) -> "Figure":
    """The chart as a still picture under its question."""
    figure = new_figure(FRAME_IN + ROW_IN * chart.bottom)
    draw_bars(figure.subplots(), chart)
    title(figure, question)
    return figure


def draw_bars(ax: "Axes", chart: BarChart) -> None:
    """Each group's name above its bars."""
    ticks = []
    for y, row, _ in chart.rows():
        if isinstance(row, Group):
            ax.text(0, y, shortened(row.name), va="center", color=BLACK, weight="bold", bbox=HALO)
            continue
        left = 0.0
        for part in row.parts:
            size = part.size / chart.scale.size
            ax.barh(y, size, left=left, height=BAR_HEIGHT, **look(part))
            left += size
        bar_end(ax, left, y, row.end)
        if row.label:
            ticks.append((y, row.label))
    ax.set_yticks([y for y, _ in ticks], [label for _, label in ticks])
    if chart.line is not None:
        place = chart.line[1] / chart.scale.size
        ax.axvline(place, color=VERMILLION, linewidth=1.2, linestyle=(0, (4, 2)))
    plain_bars(ax, rows=chart.bottom, longest=chart.longest, label=chart.label)
    draw_legend(ax, chart)


def draw_legend(ax: "Axes", chart: BarChart) -> None:
    """What occurs; hatching in grey, since it has the colour of what it belongs to."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    plain = {name: part.colour for name, part in chart.legend().items() if not part.hatched}
    extra: list[Any] = [
        Patch(facecolor="white", edgecolor=GREY, hatch=HATCH, label=name)
        for name, part in chart.legend().items()
        if part.hatched
    ]
    if chart.line is not None:
        name = chart.line[0]
        extra.append(Line2D([], [], label=name, color=VERMILLION, linewidth=1.2, linestyle=(0, (4, 2))))
    legend_above(ax, plain, extra=extra, columns=chart.columns)


def look(part: Part) -> dict[str, Any]:
    """Filled, or hatched with an outline."""
    if not part.hatched:
        return {"color": part.colour}
    return {"facecolor": "white", "edgecolor": part.colour, "hatch": HATCH, "linewidth": 0.6}


def bar_figure(chart: BarChart) -> InteractiveFigure:
    """The chart for plotly.js: a trace for each name and colour of the parts."""
    traces: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in chart.legend()}
    notes, ticks = [], []
    for y, row, group in chart.rows():
        if isinstance(row, Group):
            notes.append(_note(0.0, y, f"<b>{label_text(row.name)}</b>"))
            continue
        left = 0.0
        for part in row.parts:
            trace = traces[part.name].setdefault(part.colour, _trace(part, first=not traces[part.name]))
            values = (part.size / chart.scale.size, left / chart.scale.size, y)
            for key, value in zip(("x", "base", "y"), values, strict=True):
                trace[key].append(short(value))
            trace["customdata"].append(hover_text(group, part, chart.scale))
            left += part.size
        notes.append(_note(left / chart.scale.size, y, label_text(row.end)))
        ticks.append((y, label_text(row.label)))
    return {
        "data": [trace for by_colour in traces.values() for trace in by_colour.values()],
        "layout": {
            "height": FRAME_PX + round(ROW_PX * chart.bottom),
            "barmode": "overlay",
            "annotations": notes,
            "shapes": [] if chart.line is None else [_line(chart.line[1] / chart.scale.size)],
            "xaxis": {"title": {"text": chart.label}, "range": [0, short(room(chart) * chart.longest) or 1]},
            "yaxis": upright_axis(ticks, chart.bottom),
        },
    }


def room(chart: BarChart) -> float:
    """How much longer than the longest bar the axis is, so that texts at the ends fit on a telephone."""
    return 1.1 + 0.024 * max((len(bar.end) for group in chart.groups for bar in group.bars), default=0)


def hover_text(group: Group, part: Part, scale: Scale) -> str:
    """Whose it is, what it is, and its size with unit."""
    return f"{label_text(group.name)}<br>{label_text(part.hover or part.name)}: <b>{scale.with_unit(part.size)}</b>"


def upright_axis(ticks: list[tuple[float, str]], bottom: float) -> dict[str, Any]:
    """An axis of named rows, the first on top, that does not zoom."""
    return {
        "tickvals": [short(y) for y, _ in ticks],
        "ticktext": [text for _, text in ticks],
        "range": [short(bottom), -0.6],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }


def _trace(part: Part, *, first: bool) -> dict[str, Any]:
    return {
        **{"type": "bar", "orientation": "h", "width": BAR_HEIGHT, "name": label_text(part.name)},
        **{"legendgroup": part.name, "showlegend": first, "marker": marker(part.colour, part.hatched)},
        **{"hovertemplate": "%{customdata}<extra></extra>", "x": [], "base": [], "y": [], "customdata": []},
    }


def marker(colour: str, hatched: bool) -> dict[str, Any]:
    """Filled, or hatched with an outline."""
    if not hatched:
        return {"color": colour}
    pattern = {"shape": "/", "fgcolor": colour, "bgcolor": "rgba(0,0,0,0)", "size": 6, "solidity": 0.25}
    return {"color": "rgba(0,0,0,0)", "pattern": pattern, "line": {"color": colour, "width": 1}}


def _note(x: float, y: float, text: str) -> dict[str, Any]:
    return {"x": short(x), "y": short(y), "text": text, "xanchor": "left", "showarrow": False}


def _line(x: float) -> dict[str, Any]:
    place = {"x0": short(x), "x1": short(x), "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **place, "line": {"color": VERMILLION, "width": 1.5, "dash": "dash"}}
