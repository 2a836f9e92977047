"""A `Journal`: what the replay writes down as it goes, and who waits for an end.

Arrays are [operations, world_size] seconds, NaN until it happens. Waiters of ranks that end together are called by
one event, so that an end costs SimPy the same for one rank and for a thousand, and nothing where nobody waits.
"""

import math
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from simpy import Environment, Event

from simulator.engine.program import Program

W = TypeVar("W")


class Journal(Generic[W]):
    """Comings, starts and ends of a running program. `call` is given those whose wait is over, in order."""

    def __init__(self, env: Environment, program: Program, call: Callable[[list[W]], None]) -> None:
        shape = (len(program.operations), program.world_size)
        self.env = env
        self.enter_s = np.full(shape, np.nan)
        self.start_s = np.full(shape, np.nan)
        self.end_s = np.full(shape, np.nan)
        self._call = call
        self._waiting: dict[int, dict[int, list[W]]] = {}  # by operation and rank

    def enter(self, index: int, rank: int) -> None:
        """`rank` has come to the operation."""
        self.enter_s[index, rank] = self.env.now

    def start(self, index: int, ranks: int | Sequence[int]) -> None:
        """The operation begins for `ranks`."""
        self.start_s[index, ranks] = self.env.now

    def end(self, index: int, ranks: Sequence[int]) -> None:
        """The operation is over for `ranks`: whoever waits for that is called."""
        self.end_s[index, ranks] = self.env.now
        waiting = self._waiting.get(index)
        if not waiting:
            return
        over = [waiter for rank in ranks for waiter in waiting.pop(rank, ())]
        if over:
            at_once(self.env, over, self._call)

    def has_ended(self, index: int, rank: int) -> bool:
        return not math.isnan(self.end_s[index, rank])

    def wait(self, index: int, rank: int, waiter: W) -> None:
        """Have `waiter` called when the operation ends on `rank`; it must not have ended yet."""
        self._waiting.setdefault(index, {}).setdefault(rank, []).append(waiter)


def at_once(env: Environment, values: list[W], call: Callable[[list[W]], None]) -> None:
    """An event of this instant, behind those that are scheduled, that calls with `values`."""
    event = Event(env)
    event.callbacks.append(lambda _: call(values))
    event.succeed()
