"""An explanation in sentences, the same on a terminal and on a page."""

from collections.abc import Sequence

from simulator.anatomy.anatomy import Anatomy
from simulator.anatomy.elasticity import Elasticities, Elasticity
from simulator.anatomy.parts import NONE
from simulator.report.scales import MISSING, share_text, time_text

NO_EFFECT = 0.005  # an elasticity below which a knob is not worth a line
NEGLIGIBLE = 1e-6  # of the communication time
PARTS = {
    "even_s": "evenly spread bytes",
    "imbalance_s": "imbalance",
    "pair_cap_s": "pair cap",
    "contention_s": "contention",
    "startup_s": "start-up",
    "latency_s": "latency",
    "waiting_s": "waiting",
}
WITHIN_BOUND = ("imbalance_s", "pair_cap_s")
BEYOND_BOUND = ("contention_s", "startup_s", "latency_s", "waiting_s")
WORKLOAD_KNOBS = ("batch a rank", "skew (Zipf's s)")


def summary(own: Anatomy) -> str:
    """The communication time and what it is made of, in a sentence."""
    if not own.communication_s:
        return f"{time_text(own.iteration_s)} an iteration, no communication."
    bound = f"the port bound {time_text(own.communication.bound_s)}"
    if within := named_parts(own, WITHIN_BOUND):
        bound += f" (with {within})"
    beyond = named_parts(own, BEYOND_BOUND)
    overlap = (
        f", less {time_text(own.overlap_s)} of overlap"
        if own.overlap_s > NEGLIGIBLE * own.communication_s
        else ""
    )
    return (
        f"{time_text(own.iteration_s)} an iteration, {time_text(own.communication_s)} of communication on rank "
        f"{own.slowest_rank}: {bound}{', ' if beyond else ''}{beyond}{overlap}."
    )


def named_parts(own: Anatomy, names: Sequence[str]) -> str:
    """The parts that are worth naming: 'start-up 382 µs, waiting 171 µs'."""
    worth = {name: getattr(own.communication, name) for name in names}
    return ", ".join(
        f"{PARTS[name]} {time_text(value)}"
        for name, value in worth.items()
        if value > NEGLIGIBLE * own.communication_s
    )


def lead_sentence(own: Anatomy) -> str:
    """What limits the longest phase, and what would next; empty without a phase that is limited."""
    limited = [phase for phase in own.phases if phase.lead.bottleneck != NONE]
    if not limited:
        return ""
    longest = max(limited, key=lambda phase: phase.transfer_s)
    lead, share = longest.lead, longest.transfer_s / own.communication_s
    said = f"Its longest phase is {longest.name}, {share_text(share)} of the communication; {lead.bottleneck} limits it"
    if lead.next_s > 0:
        said += f": {times_as_long(lead.time_s, lead.next_s)} as long busy as the next, {lead.next}"
    if lead.next_kind_s > 0:
        longer = times_as_long(lead.time_s, lead.next_kind_s)
        said += f"; {longer} as long as {lead.next_kind}, the first of another kind"
    return f"{said}."


def times_as_long(first_s: float, next_s: float) -> str:
    """How many times as long: '2.10x'."""
    if next_s <= 0:
        return MISSING
    lead = first_s / next_s
    return f"{lead:,.0f}x" if lead >= 10 else f"{lead:.2f}x"


def path_summary(own: Anatomy) -> str:
    """What the critical path is made of."""
    moving = own.path_parts.total_s
    late = f", {time_text(own.path.late_s)} before a late rank began" if own.path.late_s else ""
    return f"{time_text(moving)} of collectives, {time_text(own.path_compute_s)} of compute{late}"


def by_effect(found: Sequence[Elasticity]) -> list[Elasticity]:
    """Those with an effect, the largest first."""
    worth = [each for each in found if each.value is not None and abs(each.value) >= NO_EFFECT]
    return sorted(worth, key=lambda each: -abs(each.value or 0.0))


def help_lines(elasticities: Elasticities) -> list[str]:
    """What helps most, what makes no difference, and what could not be tried."""
    found = elasticities.of
    lines = []
    helpful = [each for each in by_effect(found) if each.knob not in WORKLOAD_KNOBS]
    if helpful:
        best = helpful[0]
        more = "more" if (best.value or 0.0) < 0 else "less"
        lines.append(f"Most would help: {more} {best.knob} (elasticity {best.value:+.2f}).")
    idle = [each.knob for each in found if each not in by_effect(found)]
    if idle:
        lines.append(f"No difference: {', '.join(idle)}.")
    return lines + [f"Not turned: {knob}: {why}" for knob, why in elasticities.refused]
