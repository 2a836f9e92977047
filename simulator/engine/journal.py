"""A `Journal`: what the replay writes down as it goes, and events for those who wait for an end.

Arrays are [operations, world_size] seconds, NaN until it happens. An event for an end exists only when a
process waits for it, so that most ends cost SimPy nothing.
"""

import math

import numpy as np
from simpy import Environment, Event

from simulator.engine.program import Program


class Journal:
    """Comings, starts and ends of a running program."""

    def __init__(self, env: Environment, program: Program) -> None:
        shape = (len(program.operations), program.world_size)
        self.env = env
        self.enter_s = np.full(shape, np.nan)
        self.start_s = np.full(shape, np.nan)
        self.end_s = np.full(shape, np.nan)
        self._ends: dict[tuple[int, int], Event] = {}

    def enter(self, index: int, rank: int) -> None:
        """`rank` has come to the operation."""
        self.enter_s[index, rank] = self.env.now

    def start(self, index: int, ranks: int | tuple[int, ...]) -> None:
        """The operation begins for `ranks`."""
        self.start_s[index, ranks] = self.env.now

    def end(self, index: int, rank: int) -> None:
        """The operation is over for `rank`: whoever waits for that goes on."""
        self.end_s[index, rank] = self.env.now
        waiting = self._ends.pop((index, rank), None)
        if waiting is not None:
            waiting.succeed()

    def has_ended(self, index: int, rank: int) -> bool:
        return not math.isnan(self.end_s[index, rank])

    def end_of(self, index: int, rank: int) -> Event:
        """An event at the end of the operation on `rank`; it must not have ended yet."""
        return self._ends.setdefault((index, rank), self.env.event())
