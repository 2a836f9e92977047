"""A `Plot`: what the report needs to know of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.report.folder import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plot:
    """A question and the picture that answers it."""

    name: str  # of its files
    question: str
    draw: Callable[[Results], "Figure"]
    finding: Callable[[Results], str]  # the answer in a sentence; also the picture's alternative text
    reading: str  # how to read the picture
