"""Figures for plotly.js, as plain data: what is drawn and how axes read. How all of them look is the page's script's.

plotly.js takes texts for a little HTML of its own, so whatever a user named passes `label_text`. Numbers have six
significant digits: more than a picture can show, and pages stay small.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from simulator.report.plots.style import shortened

DIGITS = 6
LABEL_CHARACTERS = 40


def label_text(text: str, characters: int = LABEL_CHARACTERS) -> str:
    """A name that plotly.js shows as it is, cut in its middle when it is long."""
    return escape(shortened(text, characters), quote=False)


def short(value: float, digits: int = DIGITS) -> float:
    """A number with few digits."""
    return float(f"{value:.{digits}g}")


def shorts(values: Iterable[float], digits: int = DIGITS) -> list[float]:
    """Numbers with few digits."""
    return [short(value, digits) for value in values]


def line_trace(name: str, x: Iterable[float], y: Iterable[float], colour: str, **more: Any) -> dict[str, Any]:
    """A line; `more` are keys of plotly.js."""
    trace = {"type": "scatter", "mode": "lines", "name": label_text(name), "x": shorts(x), "y": shorts(y)}
    return {**trace, "line": {"color": colour, "width": 2}, **more}


def axis(title: str, **more: Any) -> Mapping[str, Any]:
    """An axis with its title."""
    return {"title": {"text": label_text(title, 80)}, **more}
