"""Figures for plotly.js, as plain data: what is drawn and how axes read. How all of them look is the page's script's.

plotly.js takes texts for a little HTML of its own, so whatever a user named passes `label_text`. Numbers have six
significant digits: more than a picture can show, and pages stay small.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from simulator.report.plots.plot import InteractiveFigure
from simulator.report.plots.style import shortened
from simulator.report.scales import Scale

DIGITS = 6
LABEL_CHARACTERS = 40
BAR_WIDTH = 0.74
ROW_PX, FRAME_PX = 22, 130  # height of a bar with its gap; of axis, legend and margins


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
    """Parts end to end, with a text at the end."""

    label: str
    parts: tuple[Part, ...]
    end: str


@dataclass(frozen=True)
class Group:
    """Bars under a common name."""

    name: str
    bars: tuple[Bar, ...]


def label_text(text: str, characters: int = LABEL_CHARACTERS) -> str:
    """A name that plotly.js shows as it is, cut in its middle when it is long."""
    return escape(shortened(text, characters), quote=False)


def short(value: float, digits: int = DIGITS) -> float:
    """A number with few digits."""
    return float(f"{value:.{digits}g}")


def shorts(values: Iterable[float], digits: int = DIGITS) -> list[float]:
    """Numbers with few digits."""
    return [short(value, digits) for value in values]


def bar_figure(
    groups: Sequence[Group], *, scale: Scale, label: str, line_at: float | None = None
) -> InteractiveFigure:
    """Horizontal bars, each group's name above its own; a part's name and colour make one entry of the legend."""
    traces: dict[tuple[str, str, bool], dict[str, Any]] = {}
    notes, ticks, row, longest = [], [], 0.0, 0.0
    for group in groups:
        notes.append(_note(0.0, row, f"<b>{label_text(group.name)}</b>"))
        for bar in group.bars:
            row, left = row + 1.0, 0.0
            for part in bar.parts:
                size = part.size / scale.size
                what = f"{label_text(group.name)}<br>{label_text(part.hover or part.name)}"
                hover = f"{what}: <b>{scale.with_unit(part.size)}</b>"
                _add(traces, part, left, size, row, hover)
                left += size
            longest = max(longest, left)
            notes.append(_note(left, row, label_text(bar.end)))
            ticks.append((row, label_text(bar.label)))
        row += 1.2
    return {
        "data": list(traces.values()),
        "layout": {
            "height": FRAME_PX + round(ROW_PX * row),
            "barmode": "overlay",
            "annotations": notes,
            "shapes": [] if line_at is None else [_line(line_at / scale.size)],
            "xaxis": {"title": {"text": label}, "range": [0, short(1.22 * longest) or 1]},
            "yaxis": bar_axis(ticks, row),
        },
    }


def bar_axis(ticks: Sequence[tuple[float, str]], rows: float) -> dict[str, Any]:
    """An upright axis of named rows, the first on top, that does not zoom."""
    return {
        "tickvals": [y for y, _ in ticks],
        "ticktext": [text for _, text in ticks],
        "range": [short(rows - 0.4), -0.6],
        "fixedrange": True,
        "showgrid": False,
    }


def _add(
    traces: dict[tuple[str, str, bool], dict[str, Any]],
    part: Part,
    left: float,
    size: float,
    row: float,
    hover: str,
) -> None:
    """Put a part into the trace of its name and colour."""
    first = not any(name == part.name for name, _, _ in traces)
    trace = traces.setdefault(
        (part.name, part.colour, part.hatched),
        {
            **{
                "type": "bar",
                "orientation": "h",
                "width": BAR_WIDTH,
                "name": label_text(part.name),
                "legendgroup": part.name,
            },
            **{"showlegend": first, "x": [], "base": [], "y": [], "customdata": []},
            **{"hovertemplate": "%{customdata}<extra></extra>", "marker": marker(part.colour, part.hatched)},
        },
    )
    trace["x"].append(short(size))
    trace["base"].append(short(left))
    trace["y"].append(short(row))
    trace["customdata"].append(hover)


def marker(colour: str, hatched: bool) -> dict[str, Any]:
    """A filled bar, or a hatched one with its outline."""
    if not hatched:
        return {"color": colour}
    pattern = {"shape": "/", "fgcolor": colour, "bgcolor": "rgba(0,0,0,0)", "size": 6, "solidity": 0.25}
    return {"color": "rgba(0,0,0,0)", "pattern": pattern, "line": {"color": colour, "width": 1}}


def _note(x: float, y: float, text: str) -> dict[str, Any]:
    return {"x": short(x), "y": short(y), "text": text, "xanchor": "left", "showarrow": False}


def _line(x: float) -> dict[str, Any]:
    place = {"x0": short(x), "x1": short(x), "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **place, "line": {"color": "#D55E00", "width": 1.5, "dash": "dash"}}


def line_trace(name: str, x: Iterable[float], y: Iterable[float], colour: str, **more: Any) -> dict[str, Any]:
    """A line; `more` are keys of plotly.js."""
    trace = {"type": "scatter", "mode": "lines", "name": label_text(name), "x": shorts(x), "y": shorts(y)}
    return {**trace, "line": {"color": colour, "width": 2}, **more}


def axis(title: str, **more: Any) -> Mapping[str, Any]:
    """An axis with its title."""
    return {"title": {"text": label_text(title, 80)}, **more}
