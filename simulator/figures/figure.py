"""What a figure is: datasets, each made from an experiment file, and a function that draws them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Measure = Callable[[Bench, Point], list[dict[str, Any]]]  # a point's rows, by column


@dataclass(frozen=True)
class Dataset:
    """`NAME.yaml` says which points there are, `NAME.csv` holds what was measured at them."""

    name: str
    measure: Measure
    columns: Mapping[str, str] = field(
        default_factory=dict
    )  # of varied keys, where their last part says too little


@dataclass(frozen=True)
class PaperFigure:
    """One of the figures. `draw` fills a canvas that has the question and the assumptions already.

    It is given a frame for each dataset, by name.
    """

    number: int
    name: str
    question: str
    assumptions: str  # in small print, for a figure that travels alone
    datasets: tuple[Dataset, ...]
    height_in: float
    draw: Callable[["Figure", Mapping[str, "DataFrame"]], None]
