"""Rows of a sweep's CSV: what a point was made from, what came of it, and its key, all as text.

    varied keys | policy topology workload world_size engine iterations seed | figures | error key

A number is written once, to 12 digits, and what is decided from it later (which points are looked at again) is
decided from that text, so that a sweep that was killed goes on exactly as if it had not been.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.metrics.records import METRIC_NAMES
from simulator.sweeps.bench import Result
from simulator.sweeps.point import Point, Refused
from simulator.sweeps.vary import WHOLE_KEYS

Row = dict[str, str]  # by column; absent is empty

DIGITS = 12
MOST_WHOLE = 1e15  # floats that are whole are written so up to here
INPUTS = ("policy", "topology", "workload", "world_size", "engine", "iterations", "seed")
MEMORY = "memory_bytes_per_rank_max"
FIGURES = (*METRIC_NAMES, MEMORY, "bottleneck")
ERROR, KEY = "error", "key"
OUTCOME = (*FIGURES, ERROR)
FIXED = {*INPUTS, *OUTCOME, KEY}


def columns(varied: Iterable[str]) -> list[str]:
    """All columns in order; a whole file or the seed that varies has a column anyway."""
    return [*(key for key in varied if key not in WHOLE_KEYS), *INPUTS, *OUTCOME, KEY]


def varied_columns(names: Sequence[str]) -> list[str]:
    """Those of a file's columns that are varied keys."""
    return [name for name in names if name not in FIXED]


def input_row(point: Point | Refused) -> Row:
    """The inputs and the key."""
    row = {key: cell(value) for key, value in point.values.items() if key not in WHOLE_KEYS}
    row |= {"policy": point.label, "engine": point.engine, KEY: point.key}
    if isinstance(point, Refused):
        return row | {key: cell(point.values[key]) for key in WHOLE_KEYS if key in point.values}
    return row | {
        "topology": point.topology.name,
        "workload": point.workload.name,
        "world_size": cell(sum(point.topology.island_sizes)),
        "iterations": cell(point.iterations),
        "seed": cell(point.seed),
    }


def outcome(result: Result) -> Row:
    """Figures, or the error; what is not there is left out."""
    cells = {name: cell(value) for name, value in result.figures.items()} | {ERROR: cell(result.error)}
    return {name: text for name, text in cells.items() if text}


def cell(value: Any) -> str:
    """One value as text without line ends; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < MOST_WHOLE else f"{value:.{DIGITS}g}"
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, default=str)
    return " ".join(str(value).split())


def number(row: Row, column: str) -> float | None:
    """A figure of a row; None where there is none."""
    text = row.get(column, "")
    return float(text) if text else None
