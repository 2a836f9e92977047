"""A `Timeline`: when each rank came to each operation, when it began, and when it ended."""

from dataclasses import dataclass

from simulator.arrays import FloatArray, IntArray
from simulator.engine.program import Program


@dataclass(frozen=True, eq=False)
class Timeline:
    """All of [operations, world_size], NaN where a rank has no part. enter <= start <= end.

    A rank waits from `enter_s` to `start_s` (for the others) and moves or works from `start_s` to `end_s`.
    """

    program: Program
    enter_s: FloatArray
    start_s: FloatArray
    end_s: FloatArray
    resource_bytes: IntArray  # [resources] bytes that passed each resource
    events: int
    solves: int
