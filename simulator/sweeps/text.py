"""A sweep in a few lines for a terminal: how many points, and each policy's best."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from simulator.report.scales import MISSING, bytes_text, time_scale
from simulator.report.table import plain_text
from simulator.sweeps.names import short_names
from simulator.sweeps.rows import ERROR, FIXED, MEMORY, Row, number

if TYPE_CHECKING:
    from rich.table import Table

METRIC = "communication_s"
ERRORS_SHOWN = 3


def sweep_text(rows: Sequence[Row], *, width: int) -> str:
    """A table with a line for each policy and engine, then the errors met most often."""
    from rich.text import Text

    counted = f"{len(rows):,} points, {sum(bool(row.get(ERROR)) for row in rows):,} failed\n"
    errors = "".join(plain_text(Text(line), width=width) for line in error_lines(rows))
    return counted + plain_text(best_table(rows), width=width) + errors


def best_table(rows: Sequence[Row]) -> "Table":
    """Each policy's quickest point, by engine."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("policy", "engine"):
        made.add_column(name)
    for name in ("points", "least\ncommunication", "memory\na GPU"):
        made.add_column(name, justify="right")
    made.add_column("at")
    names = short_names(list(dict.fromkeys(key for row in rows for key in row if key not in FIXED)))
    best = best_rows(rows)
    scale = time_scale([number(row, METRIC) for row in best.values()])
    for (policy, engine), row in best.items():
        count = sum((other["policy"], other["engine"]) == (policy, engine) for other in rows)
        memory = bytes_text(number(row, MEMORY))
        figures = (f"{count:,}", scale.with_unit(number(row, METRIC)), memory, at_text(row, names))
        made.add_row(*(Text(cell) for cell in (policy, engine, *figures)))
    return made


def best_rows(rows: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """The quickest answered row of each policy and engine; ties go to the earlier."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if not row.get(ERROR):
            key = (row["policy"], row["engine"])
            if key not in best or (number(row, METRIC) or 0.0) < (number(best[key], METRIC) or 0.0):
                best[key] = row
    return best


def at_text(row: Row, names: Mapping[str, str]) -> str:
    """'nic_bandwidth=400 Gbit/s, s=0.9'."""
    return ", ".join(f"{name}={row[key]}" for key, name in names.items() if key in row) or MISSING


def error_lines(rows: Sequence[Row]) -> list[str]:
    """The errors met most often, with how often."""
    errors = [row[ERROR] for row in rows if row.get(ERROR)]
    kinds = sorted(dict.fromkeys(errors), key=lambda error: -errors.count(error))
    lines = [f"{errors.count(error):,} failed: {error}" for error in kinds[:ERRORS_SHOWN]]
    return (
        [*lines, f"... and {len(kinds) - ERRORS_SHOWN} other errors"] if len(kinds) > ERRORS_SHOWN else lines
    )
