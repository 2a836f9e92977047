"""A sweep as a picture: a metric over one varied key, a line a policy through the medians of its points.

Lines go through settings alone that all values share (`shared.py`).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from simulator.errors import UserError
from simulator.report.plots.style import GREY, house_style, new_figure, policy_colours, save, shortened, title
from simulator.report.scales import Scale, byte_scale, time_scale
from simulator.sweeps.axes import fit, logarithmic, set_logarithmic
from simulator.sweeps.names import as_numbers, short_names
from simulator.sweeps.rows import ERROR, FIGURES, FIXED, MEMORY, Row, number
from simulator.sweeps.shared import shared_note, shared_rows
from simulator.sweeps.vary import WHOLE_KEYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_IN = 3.4
CHOICES = {  # figures that people compare, by their names
    "communication_s": "communication",
    "iteration_s": "iteration",
    "inter_island_bytes": "bytes on NICs",
    MEMORY: "memory of the fullest GPU",
}
MOST_DOTS = 1_000  # of a picture, evenly from all points; lines are of all
MOST_PLACES = 48  # of a line
IN_TURN = "in turn"
NAME_CHARACTERS = 40


def plot_sweep(rows: Sequence[Row], stem: Path, *, x: str | None = None, y: str = "communication_s") -> None:
    """Write `<stem>.png` and `<stem>.svg`. Raises UserError for a key or a metric that no answered row has."""
    shown = [row for row in rows if not row.get(ERROR)]
    if not shown:
        raise UserError("sweep: no point has an answer, there is nothing to draw")
    with house_style():
        save(sweep_picture(shown, x or most_varied(shown, varied_keys(shown)), y), stem)


def sweep_picture(rows: Sequence[Row], x: str, y: str) -> "Figure":
    """Answered rows over a varied key. Raises UserError for a key or a metric that no row has."""
    keys = varied_keys(rows)
    if y not in FIGURES or y == "bottleneck":
        raise UserError(f"sweep: {y!r} is no figure to draw, allowed: {', '.join(FIGURES[:-1])}")
    if x not in keys:
        raise UserError(f"sweep: {x!r} was not varied, allowed: {', '.join(keys) or 'nothing was'}")
    figure = new_figure(HEIGHT_IN)
    colours = policy_colours(row["policy"] for row in rows)
    own = [row for row in rows if x in row]
    draw_sweep(figure.subplots(), own, x, y, colours)
    title(figure, f"{y.removesuffix('_s').replace('_', ' ')} over {short_names(keys)[x]}")
    if note := shared_note(own, x, keys):
        figure.supxlabel(note, x=0.01, ha="left", size=8, color=GREY)
    return figure


def varied_keys(rows: Sequence[Row]) -> list[str]:
    """Keys that have columns of their own, then whole files and seeds if there are several."""
    keys = dict.fromkeys(key for row in rows for key in row if key not in FIXED)
    whole = (key for key in WHOLE_KEYS if len({row.get(key) for row in rows}) > 1)
    return [*keys, *whole]


def most_varied(rows: Sequence[Row], keys: Sequence[str]) -> str:
    """The key with most values that are numbers; the first key if none has."""

    def values(key: str) -> int:
        texts = list(dict.fromkeys(row[key] for row in rows if key in row))
        return len(texts) if as_numbers(texts) else 0

    return max(keys, key=values, default="")


def draw_sweep(ax: "Axes", rows: Sequence[Row], x: str, y: str, colours: Mapping[str, str]) -> None:
    """Points, and a line through their medians, of every policy; a dashed line for a second engine."""
    lined = {id(row) for row in shared_rows(rows, x, varied_keys(rows))}
    places, label = places_of([row[x] for row in rows])
    scale = scale_of(y, rows)
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    for policy, engine in dict.fromkeys((row["policy"], row["engine"]) for row in rows):
        own = [row for row in rows if (row["policy"], row["engine"]) == (policy, engine)]
        colour = colours[policy]
        heights = [(number(row, y) or 0.0) / scale.size for row in own]
        across = [places[row[x]] for row in own]
        dots = evenly(len(own), -(-MOST_DOTS * len(own) // len(rows)))
        ax.plot(
            [across[dot] for dot in dots],
            [heights[dot] for dot in dots],
            ".",
            color=colour,
            alpha=0.35,
            markersize=4,
        )
        kept = [index for index, row in enumerate(own) if id(row) in lined]
        line = medians([across[index] for index in kept], [heights[index] for index in kept])
        name = shortened(policy, NAME_CHARACTERS) + (f", {engine}" if len(engines) > 1 else "")
        style = "-" if engine == engines[0] else "--"
        ax.plot(list(line), list(line.values()), style, color=colour, linewidth=1.4, label=name)
    values = [(number(row, y) or 0.0) / scale.size for row in rows]
    fit(ax, "y", values, from_zero=True)
    x_axis(ax, places, label)
    ax.set_ylabel(f"{y.removesuffix('_s').replace('_', ' ')}, {scale.unit}")
    ax.legend()


def figure_name(y: str) -> str:
    """A figure's column as people call it."""
    return CHOICES.get(y, y.removesuffix("_s").replace("_", " "))


def medians(places: Sequence[float], heights: Sequence[float]) -> dict[float, float]:
    """The median height at each place, ascending; of more than `MOST_PLACES`, those of as many neighbourhoods."""
    at: dict[float, list[float]] = {}
    for place, height in zip(places, heights, strict=True):
        at.setdefault(place, []).append(height)
    if len(at) <= MOST_PLACES:
        return {place: median(at[place]) for place in sorted(at)}
    order = sorted(zip(places, heights, strict=True))
    cuts = [len(order) * cut // MOST_PLACES for cut in range(MOST_PLACES + 1)]
    near = [order[first:last] for first, last in pairwise(cuts)]
    return {median(place for place, _ in part): median(height for _, height in part) for part in near}


def evenly(count: int, most: int = MOST_DOTS) -> range:
    """Indices of at most `most` of so many points, at even steps."""
    return range(0, count, -(-count // most) or 1)


def places_of(texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Where each value of a key stands on the axis, and the values' unit; what is no number stands in turn."""
    distinct = list(dict.fromkeys(texts))
    numbers = as_numbers(distinct)
    if numbers is None:
        return {text: float(index) for index, text in enumerate(distinct)}, IN_TURN
    return dict(zip(distinct, numbers[0], strict=True)), numbers[1]


def scale_of(y: str, rows: Sequence[Row]) -> Scale:
    """The unit of a figure."""
    values = [number(row, y) for row in rows]
    if y.endswith("_s"):
        return time_scale(values)
    return byte_scale(values) if "bytes" in y else Scale("max over mean", 1.0, 2)


def x_axis(ax: "Axes", places: Mapping[str, float], label: str) -> None:
    """Logarithmic where values span decades; values that are no numbers by name."""
    if label == IN_TURN:
        ax.set_xticks(list(places.values()), list(places), rotation=20)
        return
    if logarithmic(list(places.values())):
        set_logarithmic(ax, "x")
    ax.set_xlabel(label)
