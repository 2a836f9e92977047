"""A re-planning study for a person, within 80 columns: hit rates by tier, then what each interval costs and gains."""

from typing import TYPE_CHECKING

from simulator.report.scales import byte_scale, share_text, time_scale
from simulator.report.table import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from simulator.replanning.renewals import Renewal, Replanning

BEST_MARK = "*"
NEVER = "never"


def replan_text(study: "Replanning", *, width: int) -> str:
    """Both tables, then how to read them."""
    from rich.console import Group
    from rich.text import Text

    title = f"{study.plan.policy}: share of the lookups that each tier takes"
    tables = (Text(title), rates_table(study), Text("Time and bytes"), price_table(study))
    return plain_text(Group(*tables, *map(Text, remarks(study))), width=width)


def rates_table(study: "Replanning") -> "Table":
    """A line for what was planned, and one for each interval."""
    made = _table(("a new plan",), [rate.tier for rate in study.never.hit_rates])
    made.add_row("as planned", *(share_text(rate.planned_share) for rate in study.never.hit_rates))
    for renewal in study.all:
        made.add_row(name(study, renewal), *(share_text(rate.achieved_share) for rate in renewal.hit_rates))
    return made


def price_table(study: "Replanning") -> "Table":
    """What a re-plan moves, and the means of an iteration: communication, moving, both, and the gain."""
    size = byte_scale(None if each.move is None else each.move.bytes for each in study.all)
    time = time_scale(each.net_s for each in study.all)
    pause = time_scale(_move_s(each) for each in study.all)
    spread = byte_scale(each.moved_bytes_per_iteration for each in study.all)
    made = _table(
        ("", "", "a new plan"),
        [
            f"moved\nby one\n{size.unit}",
            f"in\n\n{pause.unit}",
            f"moved an\niteration\n{spread.unit}",
            f"moving\n\n{time.unit}",
            f"communi-\ncation\n{time.unit}",
            f"\nboth\n{time.unit}",
            f"\ngain\n{time.unit}",
        ],
    )
    for each in study.all:
        made.add_row(
            name(study, each),
            size.text(None if each.move is None else each.move.bytes),
            pause.text(_move_s(each)),
            spread.text(each.moved_bytes_per_iteration),
            time.text(each.move_s_per_iteration),
            time.text(each.communication_s),
            time.text(each.net_s),
            time.text(study.gain_s(each)),
        )
    return made


def remarks(study: "Replanning") -> "Sequence[str]":
    """What the mark means, and what the figures rest on."""
    lines = [
        f"{BEST_MARK} best. Means of an iteration; gain is against a plan that is never renewed in "
        f"{study.horizon:,} iterations. The workload's declared changes take {study.over:,} iterations."
    ]
    if not any(each.move and each.move.changes_plan for each in study.renewals):
        lines.append(
            f"{study.plan.policy} places all rows as before, however popularity moves: planning anew changes nothing."
        )
    for each in study.renewals[-1:]:
        if each.move is not None and each.move.initialised_rows >= 1.0:
            lines.append(
                f"Every {each.every:,}, {each.move.initialised_rows:,.0f} rows that had no memory come freshly "
                "initialised, and travel from nowhere."
            )
    return lines


def name(study: "Replanning", renewal: "Renewal") -> str:
    mark = f" {BEST_MARK}" if renewal is study.best else ""
    return (NEVER if renewal.every is None else f"every {renewal.every:,}") + mark


def _move_s(renewal: "Renewal") -> float | None:
    return None if renewal.move is None else renewal.move.transfer_s + renewal.move.pause_s


def _table(first: "Sequence[str]", headings: "Sequence[str]") -> "Table":
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("\n".join(first), no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made
