"""What must hold of every replayed iteration, whatever the input. Checked on every run.

A violation is a bug of the simulator, never the user's mistake, so it is no UserError: it carries what is needed
to make it again.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from simulator.arrays import FloatArray
from simulator.engine.iteration import IDS
from simulator.engine.program import Collective, Operation
from simulator.engine.timeline import Timeline, union_s
from simulator.errors import BugError
from simulator.metrics.bounds import CollectiveBound
from simulator.metrics.records import IterationRecord
from simulator.sharding.memory import MemoryUse
from simulator.sharding.plan import ShardingPlan
from simulator.topology.topology import Topology
from simulator.traffic.traffic import Traffic
from simulator.workload.workload import Batch, Statistics

SLACK = 1e-9  # relative, for sums of floats
REPORT = (
    "this is a bug of the simulator: the same command on the same files shows it again, please report it with this "
    "line and those files"
)


class InvariantError(BugError):
    """What does not hold, of which iteration."""


def check_iteration(
    timeline: Timeline,
    traffic: Traffic,
    record: IterationRecord,
    bounds: Mapping[int, CollectiveBound],
    topology: Topology,
    batch: Batch,
    *,
    contends: bool = True,
) -> None:
    """Raise InvariantError with all that does not hold.

    `contends` says whether collectives that overlap share ports in time; under the port bound alone they do not.
    """
    problems = [
        *lookup_problems(traffic, batch),
        *matrix_problems(traffic),
        *phase_problems(timeline, traffic, bounds),
        *byte_problems(timeline, bounds, topology),
        *(capacity_problems(timeline, bounds, topology) if contends else ()),
        *order_problems(timeline),
        *bound_problems(timeline, bounds),
        *whole_bound_problems(timeline, bounds, record),
        *number_problems(record),
    ]
    if problems:
        where = f"policy {record.policy!r}, iteration {record.iteration}, seed {batch.seed}, topology {topology.name!r}"
        raise InvariantError(f"{where}: {'; '.join(problems)} ({REPORT})")


def check_memory(memory: MemoryUse, plan: ShardingPlan, statistics: Statistics) -> None:
    """Raise InvariantError unless the ranks together keep every copy of every planned row once."""
    rows_bytes = dict.fromkeys(memory.weights_bytes_by_tier, 0)
    for table, table_plan in zip(statistics.tables, plan.tables, strict=True):
        for segment in table_plan.segments:
            if segment.memory == "hbm":
                rows = (segment.stop - segment.start) * len(segment.layout.copies)
                rows_bytes[segment.layout.tier] += rows * table.row_bytes
    for tier, kept in memory.weights_bytes_by_tier.items():
        kept_bytes = sum(kept.tolist())
        if kept_bytes != rows_bytes[tier]:
            found = f"rows of tier {tier} are {rows_bytes[tier]} B, ranks keep {kept_bytes} B"
            raise InvariantError(f"policy {plan.policy!r}: {found} ({REPORT})")


def lookup_problems(traffic: Traffic, batch: Batch) -> Iterator[str]:
    """Every lookup was answered once, from the tier of its row."""
    drawn, answered = int(batch.lookups.sum()), sum(traffic.lookups_by_tier.values())
    if drawn != answered:
        yield f"{drawn} lookups were drawn and {answered} answered"
    hits = sum(traffic.hits_by_tier.values())
    if drawn != hits:
        yield f"{drawn} lookups were drawn and {hits} counted by the tier of their row"
    for tier, count in traffic.hits_by_tier.items():
        if traffic.lookups_by_tier.get(tier, 0) > count:
            yield f"tier {tier}: more lookups answered remotely than there were"


def matrix_problems(traffic: Traffic) -> Iterator[str]:
    """Bytes are counts, and stay inside the phase's groups."""
    for phase in traffic.phases:
        group_of = np.full(len(phase.matrix), -1)
        for number, group in enumerate(phase.groups):
            group_of[list(group)] = number
        outside = (group_of[:, None] != group_of) | (group_of[:, None] < 0)
        if (phase.matrix < 0).any():
            yield f"{phase.name}: negative bytes"
        if phase.matrix[outside].any():
            yield f"{phase.name}: bytes outside its groups"


def phase_problems(
    timeline: Timeline, traffic: Traffic, bounds: Mapping[int, CollectiveBound]
) -> Iterator[str]:
    """Each byte of a matrix, its diagonal aside, is handed to the network: once by all-to-alls of one stage, at
    least once by those that forward. Pipelined ids travelled an iteration before and have no collective."""
    operations = timeline.program.operations
    for phase in traffic.phases:
        own = [index for index in timeline.operations_named(phase.name) if index in bounds]
        if phase.step in IDS and not own:
            continue
        wanted = int(phase.matrix.sum() - np.trace(phase.matrix))
        handed = sum(bounds[index].bytes for index in own)
        forwards = any(len(collective_of(operations[index]).stages) > 1 for index in own)
        if handed < wanted or (handed > wanted and not forwards):
            yield f"{phase.name}: {wanted} B in its matrix, {handed} B handed to the network"


def collective_of(operation: Operation) -> Collective:
    """An operation that has a bound."""
    assert isinstance(operation, Collective)
    return operation


def byte_problems(
    timeline: Timeline, bounds: Mapping[int, CollectiveBound], topology: Topology
) -> Iterator[str]:
    """What was asked for passed each port."""
    zero = np.zeros(len(topology.resources.names), dtype=np.int64)
    asked = sum((bound.resource_bytes for bound in bounds.values()), zero)
    for resource in np.flatnonzero(asked != timeline.resource_bytes):
        passed = timeline.resource_bytes[resource]
        yield f"{topology.resources.names[resource]}: {asked[resource]} B asked for, {passed} B passed"


def capacity_problems(
    timeline: Timeline, bounds: Mapping[int, CollectiveBound], topology: Topology
) -> Iterator[str]:
    """No port was above its capacity while any collective was under way."""
    own = list(bounds)
    begin_s = np.nanmin(timeline.start_s[own], axis=1, keepdims=True, initial=np.inf)
    end_s = np.nanmax(timeline.end_s[own], axis=1, keepdims=True, initial=0.0)
    moving_s = float(union_s(begin_s, end_s)[0])
    moving_s = moving_s * (1 + SLACK) + rounding_s(timeline, own)
    for resource in np.flatnonzero(
        timeline.resource_bytes > topology.resources.capacity_bytes_per_s * moving_s + 1
    ):
        yield f"{topology.resources.names[resource]}: above its capacity"


def order_problems(timeline: Timeline) -> Iterator[str]:
    """No effect before its cause: enter <= start <= end, and nothing before what it waits for."""
    if before(timeline.start_s, timeline.enter_s) or before(timeline.end_s, timeline.start_s):
        yield "an operation ends before it starts, or starts before it is entered"
    for index, operation in enumerate(timeline.program.operations):
        for cause in operation.after:
            if before(timeline.enter_s[index], timeline.end_s[cause]):
                yield f"{operation.name} is entered before {timeline.program.operations[cause].name} ends"


def before(later_s: FloatArray, earlier_s: FloatArray) -> bool:
    """Whether anything in `later_s` lies before its partner; NaN is no part."""
    return bool((later_s < earlier_s - SLACK * np.abs(earlier_s)).any())


def bound_problems(timeline: Timeline, bounds: Mapping[int, CollectiveBound]) -> Iterator[str]:
    """No collective is faster than the port bound, as far as the clock can tell: each stage rounds to its ticks."""
    transfer_s = timeline.transfer_s
    for index, bound in bounds.items():
        took_s = float(np.nanmax(transfer_s[index]))
        if took_s + rounding_s(timeline, [index]) < bound.time_s * (1 - SLACK):
            name = timeline.program.operations[index].name
            yield f"{name}: {took_s} s, below its port bound of {bound.time_s} s"


def whole_bound_problems(
    timeline: Timeline, bounds: Mapping[int, CollectiveBound], record: IterationRecord
) -> Iterator[str]:
    """Nor is the communication of an iteration."""
    took_s, bound_s = record.metrics.communication_s, record.metrics.bound_s
    if took_s + rounding_s(timeline, bounds) < bound_s * (1 - SLACK):
        yield f"communication takes {took_s} s, below its bound of {bound_s} s"


def rounding_s(timeline: Timeline, operations: Iterable[int]) -> float:
    """By how much the clock may have rounded the times of some collectives: a tick a stage, start and end."""
    stages = sum(len(collective_of(timeline.program.operations[index]).stages) + 2 for index in operations)
    return stages * float(np.spacing(timeline.iteration_s))


def number_problems(record: IterationRecord) -> Iterator[str]:
    """NaN and infinity nowhere, and nothing below nought."""
    for owner, figures in [("", record.metrics), *((f"{each.phase}: ", each) for each in record.phases)]:
        for name, value in vars(figures).items():
            if isinstance(value, (int, float)) and not 0 <= value < np.inf:
                yield f"{owner}{name} is {value}"
