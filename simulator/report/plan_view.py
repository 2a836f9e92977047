"""A plan for a person: each table's runs of rows and why they end where they do, within 80 columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.report.scales import bytes_text, share_text
from simulator.report.table import plain_text

if TYPE_CHECKING:
    from rich.table import Table

    from simulator.sharding.explain import Margin, RunExplanation
    from simulator.sharding.plan import ShardingPlan

NEARLY_EQUAL = 1e-3  # relative; cuts are placed between blocks of rows
MOST_TABLES = 12  # kinds of tables shown at once; all are in the saved plan


def plan_text(plan: "ShardingPlan", runs: Sequence["RunExplanation"], *, width: int) -> str:
    """The table of runs, the inequality at each end, and what the planner has to say."""
    from rich.console import Group
    from rich.text import Text

    kinds = alike(runs)
    shown = [run for kind in kinds[:MOST_TABLES] for run in kind]
    parts: list[Table | Text | str] = [runs_table(shown)]
    if len(kinds) > MOST_TABLES:
        parts.append(Text(f"... and {len(kinds) - MOST_TABLES} more; --save writes all tables"))
    reasons = [f"{run.table}, {run.tier}: {reason(run, margin)}" for run in shown for margin in run.margins]
    parts += [Text(line) for line in reasons]
    parts += [Text(f"Note: {note}") for note in plan.notes]
    return plain_text(Group(*parts), width=width)


def reason(run: "RunExplanation", margin: "Margin") -> str:
    """The inequality at a row. One that stays though it costs more than it saves takes load off its owner, or a
    collective out of the iteration."""
    kept = margin.row < run.stop and margin.saves_s < margin.costs_s * (1 - NEARLY_EQUAL)
    return f"{margin}{', kept for balance' if kept else ''}"


def alike(runs: Sequence["RunExplanation"]) -> list[list["RunExplanation"]]:
    """The runs of one table for each group of tables cut alike, which carry the first one's name and the number."""
    tables: dict[str, list[RunExplanation]] = {}
    for run in runs:
        tables.setdefault(run.table, []).append(run)
    kinds: dict[tuple[RunExplanation, ...], list[str]] = {}
    for name, own in tables.items():
        kinds.setdefault(tuple(replace(run, table="") for run in own), []).append(name)
    return [
        [
            replace(run, table=names[0] + (f" + {len(names) - 1} alike" if len(names) > 1 else ""))
            for run in kind
        ]
        for kind, names in kinds.items()
    ]


def runs_table(runs: Sequence["RunExplanation"]) -> "Table":
    """A line a run of rows, the last one left out; bytes are those that all ranks ask for in one iteration, what
    a rank asks of itself included; memory is that of the fullest GPU."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("table", overflow="fold")
    table.add_column("tier", no_wrap=True)
    for heading in ("to row", "lookups", "asked for", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        table.add_row(
            run.table if run.start == 0 else "",
            run.tier,
            f"{run.stop:,}",
            share_text(run.lookup_share),
            bytes_text(run.all_to_all_bytes),
            bytes_text(run.memory_bytes),
        )
    return table
