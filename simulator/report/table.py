"""Tables for a terminal that fit into 80 columns: the comparison (traffic and memory, then time), and policies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from simulator.report.columns import POLICY, TIME, TRAFFIC, Column, Units
from simulator.report.headline import INTRODUCTION, headline
from simulator.report.remarks import remarks

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

    from simulator.sharding.registry import Policy

TEXT_WIDTH = 80
BASELINE_MARK = "*"
LEFT_TO_HTML = ("bound_s", "imbalance")  # for which 80 columns have no room
TRAFFIC_TITLE = "Bytes an iteration, all ranks together, and memory of the fullest GPU"
TIME_TITLE = "Time an iteration"


def comparison_table(summary: Mapping[str, Any]) -> "Group":
    """Both tables, ready for `console.print`; `summary` is the content of `summary.json`."""
    from rich.console import Group
    from rich.text import Text

    traffic = table(summary, TRAFFIC)
    time = table(summary, [column for column in TIME if column.key not in LEFT_TO_HTML])
    below = [Text(line) for line in (footnote(summary), *remarks(summary))]
    return Group(Text(TRAFFIC_TITLE), traffic, Text(TIME_TITLE), time, *below)


def footnote(summary: Mapping[str, Any]) -> str:
    """What the mark means, and over how many iterations the means are taken."""
    counts = sorted({row["iterations"] for row in summary["policies"]})
    over = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    noun = "iteration" if counts[-1] == 1 else "iterations"
    return f"{BASELINE_MARK} baseline of cut and speed-up. Figures are means over {over} {noun}."


def comparison_text(summary: Mapping[str, Any], *, width: int = TEXT_WIDTH) -> str:
    """Both tables as plain text of at most `width` columns, without colour and without trailing blanks."""
    return plain_text(comparison_table(summary), width=width)


def print_comparison(figures: Mapping[str, Any]) -> None:
    """Print the comparison, then its headline with the assumptions; `figures` also has `assumptions`."""
    from rich.console import Console, Group
    from rich.table import Table
    from rich.text import Text

    claim = headline(figures, figures["assumptions"])
    assumptions = Table.grid(padding=(0, 1))
    for assumption in claim.assumptions:
        assumptions.add_row("-", Text(assumption))
    parts = (comparison_table(figures), "", Text(claim.sentence), INTRODUCTION, assumptions)
    print(plain_text(Group(*parts), width=Console().width), end="")


def print_policies(policies: "Sequence[Policy]") -> None:
    """Print each policy's name, what it does, and its options."""
    from rich.console import Console, Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for policy in policies:
        parts.append(Text(f"{policy.name}: {policy.summary}"))
        options = Table.grid(padding=(0, 2))
        for key, field in policy.options.model_fields.items():
            options.add_row(Text(key), Text(field.description or ""))
        if options.row_count:
            parts.append(Padding(options, (0, 0, 0, 4)))
    print(plain_text(Group(*parts), width=Console().width), end="")


def plain_text(renderable: "RenderableType", *, width: int) -> str:
    """What rich would draw at `width` columns, without colour and without trailing blanks."""
    import io

    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width, color_system=None, legacy_windows=False).print(renderable)
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
