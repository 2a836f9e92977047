"""The comparison for a terminal: two tables that fit into 80 columns, traffic and memory first, then time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.report.columns import POLICY, TIME, TRAFFIC, Column, Units

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

TEXT_WIDTH = 80
BASELINE_MARK = "*"
WIDEST_BOTTLENECK = len("scale_up/1023/ingress")
LEFT_TO_HTML = ("bound_s", "imbalance")  # for which 80 columns have no room


def comparison_table(summary: Mapping[str, Any]) -> "Group":
    """Both tables, ready for `console.print`; `summary` is the content of `summary.json`."""
    from rich.console import Group

    return Group(traffic_table(summary), "", time_table(summary))


def comparison_text(summary: Mapping[str, Any], *, width: int = TEXT_WIDTH) -> str:
    """Both tables as plain text of at most `width` columns, without colour and without trailing blanks."""
    import io

    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width, color_system=None, legacy_windows=False).print(comparison_table(summary))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def traffic_table(summary: Mapping[str, Any]) -> "Table":
    """Bytes of an iteration by where they travel, and memory."""
    return _table(summary, "Bytes an iteration, all ranks together, and memory of the fullest GPU", TRAFFIC)


def time_table(summary: Mapping[str, Any]) -> "Table":
    """Times of an iteration and what limits it."""
    columns = [column for column in TIME if column.key not in LEFT_TO_HTML]
    table = _table(summary, "Time an iteration", columns)
    table.caption = f"{BASELINE_MARK} baseline of cut and speed-up. Figures are means over the iterations."
    return table


def _table(summary: Mapping[str, Any], title: str, columns: Sequence[Column]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = summary["policies"]
    units = Units(rows)
    table = Table(
        title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for column in (POLICY, *columns):
        words = column.kind == "text"
        heading = Text("\n".join((*column.heading, units.unit(column))))
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    if columns[-1].key == "bottleneck":
        longest = max(len(units.text(columns[-1], row)) for row in rows)
        table.columns[-1].min_width = min(longest, WIDEST_BOTTLENECK) + 1
    for row in rows:
        mark = f" {BASELINE_MARK}" if row["policy"] == summary["baseline"] else ""
        cells = [units.text(column, row) for column in columns]
        table.add_row(*(Text(cell) for cell in (row["policy"] + mark, *cells)))
    return table
