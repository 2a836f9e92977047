"""Explanations for a terminal, within 80 columns."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from simulator.anatomy.anatomy import PhaseAnatomy
from simulator.anatomy.elasticity import Elasticity
from simulator.explanation.explanation import PolicyExplanation
from simulator.report.explanation_words import (
    NEGLIGIBLE,
    by_effect,
    help_lines,
    path_summary,
    summary,
    times_as_long,
)
from simulator.report.scales import Scale, share_text, time_scale
from simulator.report.table import plain_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

HEADINGS = {
    "even_s": "even",
    "imbalance_s": "imba-\nlance",
    "pair_cap_s": "pair\ncap",
    "contention_s": "con-\ntention",
    "startup_s": "start-\nup",
    "latency_s": "la-\ntency",
}


def explanation_text(explanations: Sequence[PolicyExplanation], *, width: int) -> str:
    """All policies, one after another."""
    from rich.console import Group

    return "\n".join(plain_text(Group(*_lines(own)), width=width) for own in explanations)


def _lines(own: PolicyExplanation) -> "Iterable[RenderableType]":
    from rich.text import Text

    yield Text(f"{own.policy}: {summary(own)}")
    yield phase_table(own.phases)
    yield Text("What limits each phase")
    yield lead_table(own.phases)
    yield Text(f"Critical path: {path_summary(own)}")
    yield path_table(own)
    yield Text("What communication follows: its elasticity, each knob turned alone")
    yield knob_table(own.elasticities.of)
    yield from map(Text, help_lines(own.elasticities))


def phase_table(phases: Sequence[PhaseAnatomy]) -> "Table":
    """Each phase's time by part; parts that no phase has are left out."""
    scale = time_scale([phase.transfer_s for phase in phases])
    least = NEGLIGIBLE * max((phase.transfer_s for phase in phases), default=0.0)
    shown = [name for name in HEADINGS if any(getattr(phase.parts, name) > least for phase in phases)]
    made = _table(f"phase\n({scale.unit})", *(HEADINGS[name] for name in shown), "trans-\nfer", "mean\nwait")
    for phase in phases:
        cells = [*(getattr(phase.parts, name) for name in shown), phase.transfer_s, phase.mean_wait_s]
        made.add_row(phase.name, *(_short(scale, value) for value in cells))
    return made


def _short(scale: Scale, value: float) -> str:
    """Nothing where there is nothing worth a digit."""
    text = scale.text(value)
    return "" if value == 0 or text.startswith("<") else text


def lead_table(phases: Sequence[PhaseAnatomy]) -> "Table":
    """The bottleneck, and by how much it leads the next port or link, and the first of another kind."""
    made = _table("phase", "bottleneck", "leads\nnext", "leads\nother", "other kind", text=(1, 4))
    for phase in phases:
        lead = phase.lead
        leads = (times_as_long(lead.time_s, lead.next_s), times_as_long(lead.time_s, lead.next_kind_s))
        made.add_row(phase.name, lead.bottleneck, *leads, lead.next_kind)
    return made


def path_table(own: PolicyExplanation) -> "Table":
    """Step by step: on which rank, and who waited for whom to begin."""
    scale = time_scale([step.duration_s for step in own.path.steps])
    heads = ("takes", "of all", "until\nrank", "all waited\nfor rank", "at\nmost")
    made = _table(f"at\n({scale.unit})", "step", *heads, text=(1,))
    for step in own.path.steps:
        waited = step.max_wait_s > 0
        share = share_text(step.duration_s / own.iteration_s if own.iteration_s else 0.0)
        cells = (scale.text(step.begin_s), step.name, scale.text(step.duration_s), share, str(step.rank))
        whom = str(step.last_to_come) if waited else ""
        made.add_row(*cells, whom, scale.text(step.max_wait_s) if waited else "")
    return made


def knob_table(found: Sequence[Elasticity]) -> "Table":
    """The knobs that matter, most first."""
    made = _table("knob", "turned", "elasticity", "communication", "change")
    scale = time_scale([each.changed_s for each in found])
    for each in by_effect(found):
        value = each.value or 0.0
        change = share_text(each.changed_s / each.base_s - 1 if each.base_s else 0.0)
        made.add_row(
            each.knob, f"x {each.factor:.3g}", f"{value:+.2f}", scale.with_unit(each.changed_s), change
        )
    return made


def _table(first: str, *others: str, text: tuple[int, ...] = ()) -> "Table":
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for index, name in enumerate((first, *others)):
        is_text = index == 0 or index in text
        made.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    return made
