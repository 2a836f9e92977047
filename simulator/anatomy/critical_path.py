"""The critical path of an iteration: the chain of operations, each waiting for the one before, that ends last.

Theory of operation. The path is walked backwards from the operation and rank that end last. A compute began when
the rank came to it. A collective began when its last rank came, so the path goes on at that rank: the others waited
for it. A rank comes to an operation when the operation before it in its queue, and those named in `after`, have
ended on it: the path goes on at the one that ended last (of equals the later in the program). It ends at t = 0, or
at the time at which a late rank began. Its steps fill the time from there to the end without a gap.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from simulator.engine.program import Compute, Program
from simulator.engine.replay import needs_of
from simulator.engine.timeline import Timeline


@dataclass(frozen=True)
class Step:
    """One operation of the path, on the rank on which the next step waited for it."""

    operation: int
    name: str
    rank: int
    begin_s: float
    end_s: float
    last_to_come: int  # the rank that it began with
    mean_wait_s: float  # of all its ranks for the last to come; 0 for a compute
    max_wait_s: float

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True)
class CriticalPath:
    """`steps` in order of time; before the first, `late_s` of a rank that began late."""

    steps: tuple[Step, ...]
    late_s: float

    @property
    def end_s(self) -> float:
        return self.steps[-1].end_s if self.steps else 0.0


def critical_path(timeline: Timeline) -> CriticalPath:
    """The path of a replayed iteration."""
    if not np.isfinite(timeline.end_s).any():
        return CriticalPath((), 0.0)
    walk = _Walk(timeline)
    ends = np.where(np.isnan(timeline.end_s), -np.inf, timeline.end_s)
    operation, rank = (int(index) for index in np.unravel_index(int(np.argmax(ends)), ends.shape))
    steps: list[Step] = []
    at: tuple[int, int] | None = (operation, rank)
    came = rank
    while at is not None:
        step = walk.step(*at)
        steps.append(step)
        came = step.last_to_come
        at = walk.cause(step.operation, came)
    late_s = float(timeline.enter_s[steps[-1].operation, came])
    return CriticalPath(tuple(reversed(steps)), late_s)


class _Walk:
    """Looks from an operation to what held it up."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.before = queue_before(timeline.program)
        self.needs = needs_of(timeline.program)

    def step(self, operation: int, rank: int) -> Step:
        """The operation as `rank` had it, and who came last to it."""
        made = self.timeline.program.operations[operation]
        last, mean_wait_s, max_wait_s = rank, 0.0, 0.0
        if not isinstance(made, Compute):
            wait_s = self.timeline.wait_s[operation]
            mean_wait_s, max_wait_s = float(np.nanmean(wait_s)), float(np.nanmax(wait_s))
            last = rank if wait_s[rank] == 0 else int(np.nanargmin(wait_s))
        return Step(
            operation=operation,
            name=made.name,
            rank=rank,
            begin_s=float(self.timeline.start_s[operation, rank]),
            end_s=float(self.timeline.end_s[operation, rank]),
            last_to_come=last,
            mean_wait_s=mean_wait_s,
            max_wait_s=max_wait_s,
        )

    def cause(self, operation: int, rank: int) -> tuple[int, int] | None:
        """The operation whose end on `rank` let it come; None at the beginning."""
        held = [*self.needs.get((operation, rank), ())]
        if (operation, rank) in self.before:
            held.append(self.before[operation, rank])
        if not held:
            return None
        return max(held, key=lambda earlier: (self.timeline.end_s[earlier, rank], earlier)), rank


def queue_before(program: Program) -> dict[tuple[int, int], int]:
    """For (operation, rank): the operation before it in the rank's queue."""
    return {
        (after, rank): before
        for (rank, _), queue in program.all_queues().items()
        for before, after in pairwise(queue)
    }
