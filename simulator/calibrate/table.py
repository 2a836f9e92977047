"""Reads a CSV of measurements.

The first line names the columns, in any order: `op`, `ngpus`, `bytes` and `time_us` are needed; `device` (one
fit for each) and `nodes` (1 when left out) are understood; others, such as nccl-tests' bandwidths, are passed
over. Lines that begin with '#' are comments.
"""

import csv
from pathlib import Path

from simulator.calibrate.measurement import (
    MOST_DIGITS,
    OPERATIONS,
    Measurement,
    Operation,
    parse_size,
    parse_time_s,
    shown,
)
from simulator.errors import UserError

_NEEDED = ("op", "ngpus", "bytes", "time_us")


def parse_table(text: str, path: Path) -> list[Measurement]:
    """The measurements of a CSV. UserError with file and line for what can't be read."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if _is_data(line)]
    rows = [(number, next(csv.reader([line]))) for number, line in lines]
    if len(rows) < 2:
        raise UserError(f"{path}: no rows, a line of column names and one or more of values are needed")
    (header_number, header), *values = rows
    header = [name.strip() for name in header]
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise UserError(f"{path}:{header_number}: no column {', '.join(missing)}; found {', '.join(header)}")
    return [_measurement(header, row, f"{path}:{number}") for number, row in values]


def _is_data(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _measurement(header: list[str], row: list[str], where: str) -> Measurement:
    if len(row) != len(header):
        raise UserError(f"{where}: {len(row)} values, {len(header)} columns")
    cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    nodes, ranks = _count(cells.get("nodes", "1"), where), _count(cells["ngpus"], where)
    if ranks < 2 or ranks % nodes:
        raise UserError(
            f"{where}: {ranks} GPUs on {nodes} nodes, at least 2 are needed, and the same number on each"
        )
    return Measurement(
        device=cells.get("device", ""),
        operation=_operation(cells["op"], where),
        nodes=nodes,
        ranks=ranks,
        bytes=parse_size(cells["bytes"], where),
        time_s=parse_time_s(cells["time_us"], where),
    )


def _operation(text: str, where: str) -> Operation:
    operation = OPERATIONS.get(text.removesuffix("_perf"))
    if operation is None:
        raise UserError(f"{where}: op {text!r} is not one of {', '.join(OPERATIONS)}")
    return operation


def _count(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0):
        raise UserError(f"{where}: {shown(text)} is not a count of at least 1")
    return int(text)
