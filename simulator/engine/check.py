"""`check_program`: what must hold of a `Program` before the clock starts.

`after` may name earlier operations only, so that dependencies alone can never wait in a circle. What `queues`
may still do, run into a wait without end, shows in the replay.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from simulator.arrays import BoolArray
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.errors import UserError


class ProgramError(UserError):
    """A program that can't be run. One line for each problem."""


def check_program(program: Program) -> None:
    """Raise ProgramError with every problem of `program`.

    World size at least 1; ranks inside it and named once; durations finite and not negative, one a rank;
    flows among the ranks of their collective; `after` names earlier operations that share a rank; queues
    hold, once, operations of their own rank and stream.
    """
    if program.world_size < 1:
        raise ProgramError(f"world_size: {program.world_size}, at least 1 is needed")
    problems = [*operation_problems(program), *queue_problems(program)]
    if problems:
        raise ProgramError("\n".join(problems))


def operation_problems(program: Program) -> Iterator[str]:
    """One line for each thing wrong with a single operation."""
    members: list[frozenset[int]] = []
    for index, operation in enumerate(program.operations):
        members.append(frozenset(operation.ranks))
        problems = [
            *rank_problems(operation, program.world_size),
            *after_problems(index, operation, members),
        ]
        if not problems:
            problems = list(content_problems(operation, program.world_size))
        for problem in problems:
            yield f"operation {index} {operation.name!r}: {problem}"


def rank_problems(operation: Operation, world_size: int) -> Iterator[str]:
    """Ranks that don't exist or are named twice."""
    if isinstance(operation, Transfer) and operation.source == operation.destination:
        yield f"source and destination are both rank {operation.source}"
        return
    if not operation.ranks:
        yield "has no ranks"
    for rank, count in Counter(operation.ranks).items():
        if not 0 <= rank < world_size:
            yield f"rank {rank} does not exist, allowed: 0 to {world_size - 1}"
        if count > 1:
            yield f"rank {rank} is named {count} times"


def after_problems(index: int, operation: Operation, members: list[frozenset[int]]) -> Iterator[str]:
    """Names in `after` that are not earlier operations, or hold up no rank."""
    for earlier in operation.after:
        if not 0 <= earlier < index:
            yield f"after: {earlier} is no earlier operation, allowed: indices below {index}"
        elif members[earlier].isdisjoint(members[index]):
            yield f"after: operation {earlier} shares no rank with it and would hold nothing up"


def content_problems(operation: Operation, world_size: int) -> Iterator[str]:
    """Durations, bytes and flows that make no sense."""
    if isinstance(operation, Compute):
        yield from duration_problems(operation)
    elif isinstance(operation, Transfer):
        if operation.bytes < 0:
            yield f"bytes: {operation.bytes}, at least 0 is needed"
    else:
        yield from collective_problems(operation, world_size)


def duration_problems(operation: Compute) -> Iterator[str]:
    """Durations of the wrong shape, negative, or not finite."""
    duration_s = np.asarray(operation.duration_s)
    if duration_s.shape != (len(operation.ranks),):
        yield f"duration_s has shape {duration_s.shape} for {len(operation.ranks)} ranks"
        return
    for position in np.flatnonzero(~(np.isfinite(duration_s) & (duration_s >= 0))):
        rank, value = operation.ranks[position], duration_s[position]
        yield f"duration_s of rank {rank} is {value}, allowed: finite and not negative"


def collective_problems(operation: Collective, world_size: int) -> Iterator[str]:
    """Start-up, steps and flows that no network could carry out."""
    if not (math.isfinite(operation.startup_s) and operation.startup_s >= 0):
        yield f"startup_s is {operation.startup_s}, allowed: finite and not negative"
    member: BoolArray = np.zeros(world_size, dtype=np.bool_)
    member[list(operation.ranks)] = True
    for number, stage in enumerate(operation.stages):
        if stage.latency_steps < 0:
            yield f"stage {number}: latency_steps is {stage.latency_steps}, at least 0 is needed"
        ends = np.concatenate([stage.flows.sources, stage.flows.destinations])
        outside = ends[(ends < 0) | (ends >= world_size)]
        if not len(outside):
            outside = ends[~member[ends]]
        if len(outside):
            yield f"stage {number}: a flow touches rank {outside[0]}, which is not in the collective"


def queue_problems(program: Program) -> Iterator[str]:
    """One line for each thing wrong with an explicit queue."""
    for (rank, stream), queue in (program.queues or {}).items():
        where = f"queue of rank {rank}, stream {stream!r}"
        if not 0 <= rank < program.world_size:
            yield f"{where}: the rank does not exist, allowed: 0 to {program.world_size - 1}"
            continue
        for index, count in Counter(queue).items():
            if not 0 <= index < len(program.operations):
                yield f"{where}: operation {index} does not exist"
                continue
            operation = program.operations[index]
            if operation.stream != stream or rank not in operation.ranks:
                yield f"{where}: operation {index} {operation.name!r} is not of this rank and stream"
            if count > 1:
                yield f"{where}: operation {index} {operation.name!r} stands {count} times"
