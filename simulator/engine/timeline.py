"""A `Timeline`: when each rank came to each operation, when it began, and when it ended.

Waiting and moving are told apart: a rank waits from `enter_s` to `start_s` for the others of a collective or
for the other end of a transfer, and moves or works from `start_s` to `end_s` (a collective's start-up
included). Time that a rank spends before it comes to an operation, on `after` or on its stream, belongs to
no operation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.engine.program import Compute, Program, Transfer


@dataclass(frozen=True)
class Slice:
    """One rank's part in one operation."""

    operation: int
    name: str
    kind: str  # "compute", "transfer" or "collective"
    rank: int
    stream: str
    enter_s: float
    start_s: float
    end_s: float


@dataclass(frozen=True, eq=False)
class Timeline:
    """All of [operations, world_size], NaN where a rank has no part. enter <= start <= end."""

    program: Program
    enter_s: FloatArray
    start_s: FloatArray
    end_s: FloatArray
    resource_bytes: IntArray  # [resources] bytes that passed each resource
    events: int  # that SimPy handled, the network's own among them
    solves: int  # of the network's sharing

    @property
    def wait_s(self) -> FloatArray:
        """[operations, world_size] time that each rank waited for the others."""
        return self.start_s - self.enter_s

    @property
    def transfer_s(self) -> FloatArray:
        """[operations, world_size] time from the start to each rank's end; of a Compute its duration."""
        return self.end_s - self.start_s

    @property
    def iteration_s(self) -> float:
        """When the last rank ended its last operation; 0 for an empty program."""
        return float(np.nanmax(self.end_s)) if np.isfinite(self.end_s).any() else 0.0

    def operations_named(self, name: str) -> tuple[int, ...]:
        """Indices of the operations called `name`: one for each group of a phase."""
        return tuple(k for k, operation in enumerate(self.program.operations) if operation.name == name)

    def busy_s(self, operations: Sequence[int]) -> FloatArray:
        """[world_size] time in which each rank is in at least one of `operations`: see `communication_s`.

        The union of the intervals from coming to a collective to leaving it, so that what overlaps counts
        once. A transfer counts from its start, since a receiver may post itself long before.
        """
        chosen = np.array(operations, dtype=np.int64)
        begin_s = self.enter_s[chosen].copy()
        for row, index in enumerate(chosen):
            if isinstance(self.program.operations[index], Transfer):
                begin_s[row] = self.start_s[index]
        return union_s(begin_s, self.end_s[chosen])

    def communication_s(self, operations: Sequence[int] | None = None) -> float:
        """Time in which the slowest rank has a collective or a transfer in flight, waiting included.

        `operations` limits it to some; by default all collectives and transfers.
        """
        if operations is None:
            operations = [
                k for k, operation in enumerate(self.program.operations) if not isinstance(operation, Compute)
            ]
        return float(self.busy_s(operations).max(initial=0.0))

    def slices(self) -> Iterator[Slice]:
        """Every rank's part in every operation, by operation and rank; what was skipped is left out."""
        for index, operation in enumerate(self.program.operations):
            for rank in operation.ranks:
                if not np.isnan(self.end_s[index, rank]):
                    yield Slice(
                        operation=index,
                        name=operation.name,
                        kind=type(operation).__name__.lower(),
                        rank=rank,
                        stream=operation.stream,
                        enter_s=float(self.enter_s[index, rank]),
                        start_s=float(self.start_s[index, rank]),
                        end_s=float(self.end_s[index, rank]),
                    )


def union_s(begin_s: FloatArray, end_s: FloatArray) -> FloatArray:
    """[columns] length of the union of each column of [intervals, columns]; NaN is no interval."""
    if not len(begin_s):
        return np.zeros(begin_s.shape[1])
    absent = np.isnan(end_s)
    begin_s, end_s = np.where(absent, 0.0, begin_s), np.where(absent, 0.0, end_s)
    order = np.argsort(begin_s, axis=0, kind="stable")
    begin_s, end_s = np.take_along_axis(begin_s, order, axis=0), np.take_along_axis(end_s, order, axis=0)
    covered_to_s = np.maximum.accumulate(end_s, axis=0)
    covered_to_s = np.vstack([np.zeros_like(covered_to_s[:1]), covered_to_s[:-1]])
    return np.asarray(
        np.maximum(end_s - np.maximum(begin_s, covered_to_s), 0.0).sum(axis=0), dtype=np.float64
    )
