"""Axes of a sweep's pictures: logarithmic where values span decades, fitted to the values or from zero where not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_FROM = 20.0  # the ratio of the largest to the smallest value from which an axis is logarithmic
MARGIN = 0.06  # of what is shown, so that no dot is cut


def logarithmic(values: Sequence[float]) -> bool:
    """Whether values have logarithms and span so much that they need them."""
    return min(values) > 0 and max(values) >= LOG_FROM * min(values)


def set_logarithmic(ax: "Axes", which: str) -> None:
    """Axis `x` or `y`, its ticks in plain digits: text is not read as a formula."""
    from matplotlib.ticker import LogFormatter

    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter())


def fit(ax: "Axes", which: str, values: Sequence[float], *, from_zero: bool) -> None:
    """Show all values of axis `x` or `y` with room for their dots."""
    low, high = min(values), max(values)
    if logarithmic(values):
        set_logarithmic(ax, which)
        room = (high / low) ** MARGIN
        ends = (low / room, high * room)
    elif from_zero:
        ends = (0.0, (1 + MARGIN) * high or 1.0)
    else:
        room = MARGIN * (high - low) or MARGIN * abs(high) or 1.0
        ends = (low - room, high + room)
    ax.set(**{f"{which}lim": ends})
