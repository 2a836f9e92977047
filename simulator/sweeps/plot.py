"""A sweep as a picture: a metric over one varied key, a line a policy through the medians of its points."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from simulator.errors import UserError
from simulator.report.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    house_style,
    new_figure,
    save,
    shortened,
    title,
)
from simulator.report.scales import Scale, byte_scale, time_scale
from simulator.sweeps.names import as_numbers, short_names
from simulator.sweeps.rows import ERROR, FIGURES, FIXED, Row, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY)
HEIGHT_IN = 3.4
IN_TURN = "in turn"
LOG_FROM = 20.0  # the ratio of the largest to the smallest value from which an axis is logarithmic
NAME_CHARACTERS = 40


def plot_sweep(rows: Sequence[Row], stem: Path, *, x: str | None = None, y: str = "communication_s") -> None:
    """Write `<stem>.png` and `<stem>.svg`. Raises UserError for a key or a metric that no row has."""
    shown = [row for row in rows if not row.get(ERROR)]
    keys = list(dict.fromkeys(key for row in shown for key in row if key not in FIXED))
    chosen = x or most_varied(shown, keys)
    if y not in FIGURES or y == "bottleneck":
        raise UserError(f"sweep: {y!r} is no figure to draw, allowed: {', '.join(FIGURES[:-1])}")
    if chosen not in keys:
        raise UserError(f"sweep: {chosen!r} was not varied, allowed: {', '.join(keys) or 'nothing was'}")
    with house_style():
        figure = new_figure(HEIGHT_IN)
        draw_sweep(figure.subplots(), [row for row in shown if chosen in row], chosen, y)
        title(figure, f"{y.removesuffix('_s').replace('_', ' ')} over {short_names(keys)[chosen]}")
        save(figure, stem)


def most_varied(rows: Sequence[Row], keys: Sequence[str]) -> str:
    """The key with most values that are numbers; the first key if none has."""

    def values(key: str) -> int:
        texts = list(dict.fromkeys(row[key] for row in rows if key in row))
        return len(texts) if as_numbers(texts) else 0

    return max(keys, key=values, default="")


def draw_sweep(ax: "Axes", rows: Sequence[Row], x: str, y: str) -> None:
    """Points, and a line through their medians, of every policy; a dashed line for a second engine."""
    places, label = places_of([row[x] for row in rows])
    scale = _scale(y, rows)
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    for policy, engine in dict.fromkeys((row["policy"], row["engine"]) for row in rows):
        own = [row for row in rows if (row["policy"], row["engine"]) == (policy, engine)]
        colour = COLOURS[policies.index(policy) % len(COLOURS)]
        heights = [(number(row, y) or 0.0) / scale.size for row in own]
        ax.plot([places[row[x]] for row in own], heights, ".", color=colour, alpha=0.35, markersize=4)
        line = medians([places[row[x]] for row in own], heights)
        name = shortened(policy, NAME_CHARACTERS) + (f", {engine}" if len(engines) > 1 else "")
        style = "-" if engine == engines[0] else "--"
        ax.plot(list(line), list(line.values()), style, color=colour, linewidth=1.4, label=name)
    values = [(number(row, y) or 0.0) / scale.size for row in rows]
    if min(values) > 0 and max(values) >= LOG_FROM * min(values):
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.05 * max(values) or 1.0)
    x_axis(ax, places, label)
    ax.set_ylabel(f"{y.removesuffix('_s').replace('_', ' ')}, {scale.unit}")
    ax.legend()


def medians(places: Sequence[float], heights: Sequence[float]) -> dict[float, float]:
    """The median height at each place, ascending."""
    return {
        place: median(height for other, height in zip(places, heights, strict=True) if other == place)
        for place in sorted(set(places))
    }


def places_of(texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Where each value of a key stands on the axis, and the values' unit; what is no number stands in turn."""
    distinct = list(dict.fromkeys(texts))
    numbers = as_numbers(distinct)
    if numbers is None:
        return {text: float(index) for index, text in enumerate(distinct)}, IN_TURN
    return dict(zip(distinct, numbers[0], strict=True)), numbers[1]


def _scale(y: str, rows: Sequence[Row]) -> Scale:
    values = [number(row, y) for row in rows]
    if y.endswith("_s"):
        return time_scale(values)
    return byte_scale(values) if "bytes" in y else Scale("max over mean", 1.0, 2)


def x_axis(ax: "Axes", places: Mapping[str, float], label: str) -> None:
    """Logarithmic where values span decades; values that are no numbers by name."""
    ends = sorted(places.values())
    if label == IN_TURN:
        ax.set_xticks(list(places.values()), list(places), rotation=20)
        return
    if ends[0] > 0 and ends[-1] >= LOG_FROM * ends[0]:
        ax.set_xscale("log")
    ax.set_xlabel(label)
