"""A `Measurement`: how long one collective took on some hardware."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from simulator.errors import UserError

Operation = Literal["all_to_all", "all_reduce", "all_gather", "reduce_scatter"]

MOST_DIGITS = 18  # of a count
LONGEST_SHOWN = 40

OPERATIONS: Mapping[str, Operation] = {
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
}
"""Names as nccl-tests and tables write them."""


@dataclass(frozen=True)
class Measurement:
    """`bytes` is the size column of nccl-tests: what a rank sends in an all-to-all, its own share included, and
    the whole vector in the others. Ranks are spread evenly over `nodes`, each an island."""

    device: str
    operation: Operation
    nodes: int
    ranks: int
    bytes: int
    time_s: float


def parse_size(text: str, where: str) -> int:
    """A whole number of bytes. UserError that begins with `where`."""
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        raise UserError(f"{where}: {shown(text)} is not a whole number of bytes")
    return int(text)


def parse_time_s(text: str, where: str) -> float:
    """Seconds of a number of microseconds. UserError that begins with `where`."""
    try:
        time_us = float(text)
    except ValueError:
        time_us = math.nan
    if not 0 < time_us < math.inf:
        raise UserError(f"{where}: {shown(text)} is not a time in microseconds above 0")
    return time_us * 1e-6


def shown(text: str) -> str:
    """A cell as an error tells it, cut where it is long."""
    return repr(text) if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]!r}..."
