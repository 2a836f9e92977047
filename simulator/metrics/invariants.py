"""What must hold of every replayed iteration, whatever the input. Checked on every run.

A violation is a bug of the simulator, never the user's mistake, so it is no UserError: it carries what is needed
to make it again.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from simulator.arrays import FloatArray
from simulator.engine.program import Collective
from simulator.engine.timeline import Timeline
from simulator.metrics.bounds import CollectiveBound
from simulator.metrics.records import IterationRecord
from simulator.topology.topology import Topology
from simulator.traffic.traffic import Traffic
from simulator.workload.workload import Batch

SLACK = 1e-9  # relative, for sums of floats


class InvariantError(AssertionError):
    """Please report it, with its text."""


def check_iteration(
    timeline: Timeline,
    traffic: Traffic,
    record: IterationRecord,
    bounds: Mapping[int, CollectiveBound],
    topology: Topology,
    batch: Batch,
) -> None:
    """Raise InvariantError with all that does not hold."""
    problems = [
        *lookup_problems(traffic, batch),
        *matrix_problems(traffic),
        *byte_problems(timeline, bounds, topology),
        *order_problems(timeline),
        *bound_problems(timeline, bounds),
        *number_problems(record),
    ]
    if problems:
        where = f"policy {record.policy!r}, iteration {record.iteration}, seed {batch.seed}, topology {topology.name!r}"
        raise InvariantError(f"{where}: " + "; ".join(problems))


def lookup_problems(traffic: Traffic, batch: Batch) -> Iterator[str]:
    """Every lookup was answered once."""
    drawn, answered = int(batch.lookups.sum()), sum(traffic.lookups_by_tier.values())
    if drawn != answered:
        yield f"{drawn} lookups were drawn and {answered} answered"


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


def byte_problems(
    timeline: Timeline, bounds: Mapping[int, CollectiveBound], topology: Topology
) -> Iterator[str]:
    """What was asked for passed each port, and no port was above its capacity."""
    zero = np.zeros(len(topology.resources.names), dtype=np.int64)
    asked = sum((bound.resource_bytes for bound in bounds.values()), zero)
    for resource in np.flatnonzero(asked != timeline.resource_bytes):
        passed = timeline.resource_bytes[resource]
        yield f"{topology.resources.names[resource]}: {asked[resource]} B asked for, {passed} B passed"
    most = topology.resources.capacity_bytes_per_s * timeline.iteration_s * (1 + SLACK)
    for resource in np.flatnonzero(timeline.resource_bytes > most + 1):
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
    """No collective is faster than the port bound."""
    transfer_s = timeline.transfer_s
    for index, bound in bounds.items():
        operation = timeline.program.operations[index]
        took_s = float(np.nanmax(transfer_s[index]))
        if isinstance(operation, Collective) and took_s < bound.time_s * (1 - SLACK):
            yield f"{operation.name}: {took_s} s, below its port bound of {bound.time_s} s"


def number_problems(record: IterationRecord) -> Iterator[str]:
    """NaN and infinity nowhere."""
    for name, value in vars(record.metrics).items():
        if value is not None and not np.isfinite(value):
            yield f"{name} is {value}"
