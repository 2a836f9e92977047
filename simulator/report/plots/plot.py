"""A `Plot`: what the report needs to know of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.report.folder import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

InteractiveFigure = dict[str, Any]  # `data` and `layout` as plotly.js takes them; see `interactive`


@dataclass(frozen=True)
class View:
    """One of the interactive figures of a picture, which a list chooses from by its label."""

    label: str
    figure: InteractiveFigure


@dataclass(frozen=True)
class Plot:
    """A question and the picture that answers it, still and interactive."""

    name: str  # of its files
    question: str
    draw: Callable[[Results], "Figure"]
    views: Callable[[Results], tuple[View, ...]]  # the same data; none where there is nothing to draw
    finding: Callable[[Results], str]  # the answer in a sentence; also the picture's alternative text
    reading: str  # how to read the picture
    choice: str = "policy"  # what the views differ in
    subject: Callable[[Results], str] | None = (
        None  # the label of the view that the finding speaks of; else the first
    )
    needs_first_iteration: bool = False  # drawn from the timeline or the explanation
