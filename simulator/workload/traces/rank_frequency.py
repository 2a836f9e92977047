"""Rank-frequency files: CSV with the columns rank,frequency, the hottest row first.

Ranks begin at 1 and ascend. A line speaks for its rank and for those up to the next line's, so that a file may
thin out the tail; the last line's rank is the number of touched rows.
"""

import csv
import math
from io import StringIO
from pathlib import Path

import numpy as np

from simulator.errors import UserError
from simulator.workload.popularity.runs import Runs
from simulator.workload.shuffle import MAX_ROWS
from simulator.workload.traces.files import read_small_text

COLUMNS = ["rank", "frequency"]


def read_rank_frequency(path: Path) -> Runs:
    """The file's popularity; UserError with the line of what is not in the format."""
    edges: list[int] = []
    frequencies: list[float] = []
    reader = csv.reader(StringIO(read_small_text(path), newline=""))
    try:
        if next(reader, None) != COLUMNS:
            raise UserError(f"{path}:1: the first line must be rank,frequency")
        for fields in reader:
            rank, frequency = _entry(f"{path}:{reader.line_num}", fields, edges, frequencies)
            edges.append(rank - 1)
            frequencies.append(frequency)
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: not CSV: {error}") from error
    if not edges:
        raise UserError(f"{path}: there is no line after the first")
    widths = np.diff(np.array([*edges, edges[-1] + 1], np.int64))
    weights = np.array(frequencies) * widths
    return Runs(np.array([*edges, edges[-1] + 1], np.int64), weights / weights.sum())


def _entry(place: str, fields: list[str], edges: list[int], frequencies: list[float]) -> tuple[int, float]:
    """One line's rank and frequency, after those before it."""
    if len(fields) != len(COLUMNS):
        raise UserError(f"{place}: {len(fields)} columns, rank,frequency has 2")
    rank = int(fields[0]) if fields[0].isascii() and fields[0].isdigit() and len(fields[0]) < 20 else 0
    least, most_rank = (edges[-1] + 2, MAX_ROWS) if edges else (1, 1)
    if not least <= rank <= most_rank:
        allowed = f"{least} or more" if edges else "1"
        raise UserError(f"{place}: rank is {fields[0][:40]!r}, must be {allowed}")
    try:
        frequency = float(fields[1])
    except ValueError:
        frequency = math.nan
    most = frequencies[-1] if frequencies else math.inf
    if not 0 < frequency <= most or math.isinf(frequency):
        raise UserError(
            f"{place}: frequency is {fields[1][:40]!r}, must be above 0 and at most the line before's"
        )
    return rank, frequency
