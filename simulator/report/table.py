"""The comparison for a terminal: two tables that fit into 80 columns, traffic and memory first, then time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from simulator.report.columns import POLICY, TIME, TRAFFIC, Column, Units

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

TEXT_WIDTH = 80
BASELINE_MARK = "*"
LEFT_TO_HTML = ("bound_s", "imbalance")  # for which 80 columns have no room
TRAFFIC_TITLE = "Bytes an iteration, all ranks together, and memory of the fullest GPU"
TIME_TITLE = "Time an iteration"
FOOTNOTE = f"{BASELINE_MARK} baseline of cut and speed-up. Figures are means over the iterations."


def comparison_table(summary: Mapping[str, Any]) -> "Group":
    """Both tables, ready for `console.print`; `summary` is the content of `summary.json`."""
    from rich.console import Group
    from rich.text import Text

    traffic = table(summary, TRAFFIC)
    time = table(summary, [column for column in TIME if column.key not in LEFT_TO_HTML])
    return Group(Text(TRAFFIC_TITLE), traffic, Text(TIME_TITLE), time, Text(FOOTNOTE))


def comparison_text(summary: Mapping[str, Any], *, width: int = TEXT_WIDTH) -> str:
    """Both tables as plain text of at most `width` columns, without colour and without trailing blanks."""
    import io

    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width, color_system=None, legacy_windows=False).print(comparison_table(summary))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def table(summary: Mapping[str, Any], columns: Sequence[Column]) -> "Table":
    """One row a policy. Names fold where room is short; figures and bottlenecks stay whole."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = summary["policies"]
    units = Units(rows)
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in (POLICY, *columns):
        heading = Text("\n".join((*column.heading, units.unit(column))))
        side: Literal["left", "right"] = "left" if column.kind == "text" else "right"
        made.add_column(heading, justify=side, no_wrap=column is not POLICY, overflow="fold")
    for row in rows:
        mark = f" {BASELINE_MARK}" if row["policy"] == summary["baseline"] else ""
        cells = [units.text(column, row) for column in columns]
        made.add_row(*(Text(cell) for cell in (row["policy"] + mark, *cells)))
    return made
