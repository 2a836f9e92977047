"""One benchmark: what it does, how often, and what must come out of it every time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Figures = dict[str, float]


@dataclass(frozen=True)
class Case:
    """`prepare` makes the input, outside the clock; `run` is timed and returns figures to print.

    `counts` are exact: a run that gives others has changed what is computed, and the benchmark fails.
    """

    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], Figures]
    target: str = ""
    rounds: int = 3
    counts: Mapping[str, int] = field(default_factory=dict)
    large: bool = False  # takes minutes or gigabytes
