"""Why an iteration takes so long, for a page: the words of `shardsim explain`, and its tables."""

from simulator.anatomy.anatomy import Anatomy, PhaseAnatomy
from simulator.anatomy.elasticity import Elasticities
from simulator.report.explanation_words import (
    PARTS,
    help_lines,
    lead_sentence,
    path_summary,
    summary,
    times_as_long,
)
from simulator.report.folder import Explanation, Results
from simulator.report.page.content import Block, Cell, Fold, Heading, Points, Prose, Table
from simulator.report.scales import factor_text, share_text, time_scale

NOT_COMPUTED = (
    "What would help most is not computed yet: shardsim explain, given this folder, runs the iteration again with each "
    "bandwidth, latency and size turned up, and adds it here."
)


def explanation_folds(results: Results) -> tuple[Fold, ...]:
    """A fold a policy, that of the one which communicates least open."""
    found = {policy: results.explanation(policy) for policy in results.policies}
    least = min(found, key=lambda policy: found[policy].anatomy.communication_s)
    return tuple(Fold(policy, blocks(own), open=policy == least) for policy, own in found.items())


def blocks(own: Explanation) -> tuple[Block, ...]:
    """Words first, then what they are taken from."""
    anatomy = own.anatomy
    said = (summary(anatomy), lead_sentence(anatomy), f"Critical path: {path_summary(anatomy)}.")
    tables = (parts_table(anatomy), lead_table(anatomy), path_table(anatomy))
    shown = tuple(table for table in tables if table.rows)
    return (Prose(tuple(filter(None, said))), *shown, *elasticity_blocks(own.elasticities))


def elasticity_blocks(found: Elasticities | None) -> tuple[Block, ...]:
    """What helps most, if it has been computed."""
    if found is None:
        return (Prose((NOT_COMPUTED,)),)
    return (Points(tuple(help_lines(found))), elasticity_table(found))


def parts_table(own: Anatomy) -> Table:
    """Each phase's time by part, and the distance from its bound."""
    scale = time_scale([phase.transfer_s for phase in own.phases])

    def row(phase: PhaseAnatomy) -> tuple[Cell, ...]:
        parts = [getattr(phase.parts, name) for name in PARTS if name != "waiting_s"]
        times = [*parts, phase.transfer_s, phase.bound_s]
        over = phase.transfer_s / phase.bound_s if phase.bound_s else None
        waits = [phase.mean_wait_s, phase.max_wait_s]
        return (
            text_cell(phase.name),
            *(Cell(scale.text(value), value) for value in times),
            Cell(factor_text(over), over),
            *(Cell(scale.text(value), value) for value in waits),
        )

    parts = [name for key, name in PARTS.items() if key != "waiting_s"]
    return Table(
        caption="Each phase's time by part, of the rank that leaves last, and its distance from the port bound",
        headings=(
            Heading("phase", numeric=False),
            *(Heading(name, scale.unit) for name in (*parts, "transfer", "port bound")),
            Heading("transfer over bound"),
            *(Heading(name, scale.unit) for name in ("wait, mean", "wait, longest")),
        ),
        rows=tuple(row(phase) for phase in own.phases),
    )


def lead_table(own: Anatomy) -> Table:
    """What limits each phase, and by how much it leads."""

    def row(phase: PhaseAnatomy) -> tuple[Cell, ...]:
        lead = phase.lead
        return (
            text_cell(phase.name),
            text_cell(lead.bottleneck),
            lead_cell(lead.time_s, lead.next_s),
            text_cell(lead.next),
            lead_cell(lead.time_s, lead.next_kind_s),
            text_cell(lead.next_kind),
        )

    texts = {"phase", "bottleneck", "the next", "first of another kind"}
    names = (
        "phase",
        "bottleneck",
        "leads the next",
        "the next",
        "leads another kind",
        "first of another kind",
    )
    return Table(
        caption="What limits each phase: how many times as long as the next it needs for its bytes",
        headings=tuple(Heading(name, numeric=name not in texts) for name in names),
        rows=tuple(row(phase) for phase in own.phases),
    )


def lead_cell(first_s: float, next_s: float) -> Cell:
    return Cell(times_as_long(first_s, next_s), first_s / next_s if next_s > 0 else None)


def path_table(own: Anatomy) -> Table:
    """The critical path step by step."""
    scale = time_scale([step.duration_s for step in own.path.steps])
    rows = []
    for step in own.path.steps:
        waited = step.max_wait_s > 0
        share = step.duration_s / own.iteration_s if own.iteration_s else 0.0
        rows.append(
            (
                text_cell(step.name),
                Cell(scale.text(step.begin_s), step.begin_s),
                Cell(scale.text(step.duration_s), step.duration_s),
                Cell(share_text(share), share),
                Cell(str(step.rank), step.rank),
                Cell(str(step.last_to_come), step.last_to_come) if waited else Cell("", None),
                Cell(scale.text(step.max_wait_s), step.max_wait_s) if waited else Cell("", None),
            )
        )
    numbers = (
        *(Heading(name, scale.unit) for name in ("at", "takes")),
        *(Heading(name) for name in ("of all", "until rank", "all waited for rank")),
        Heading("at most", scale.unit),
    )
    return Table(
        caption="The critical path: the chain of operations, each waiting for the one before, that ends last",
        headings=(Heading("step", numeric=False), *numbers),
        rows=tuple(rows),
    )


def elasticity_table(found: Elasticities) -> Table:
    """Every knob that was turned, the most effective first."""
    scale = time_scale([each.changed_s for each in found.of])
    rows = tuple(
        (
            text_cell(each.knob),
            Cell(f"x {each.factor:.3g}", each.factor),
            Cell(f"{(each.value or 0.0) + 0.0:+.2f}", each.value),
            Cell(scale.text(each.changed_s), each.changed_s),
        )
        for each in sorted(found.of, key=lambda each: -abs(each.value or 0.0))
    )
    return Table(
        caption="What communication follows: each knob turned alone, and the iteration run again",
        headings=(
            Heading("knob", numeric=False),
            Heading("turned"),
            Heading(
                "elasticity",
                meaning="-1: inverse to it, as to the bandwidth that binds a run; 0: no effect.",
            ),
            Heading("communication", scale.unit),
        ),
        rows=rows,
    )


def text_cell(text: str) -> Cell:
    return Cell(text, text)
