"""A `Transmission`: flows sent together, and the moment at which each rank has all that it sends and receives."""

from dataclasses import dataclass

import numpy as np
from simpy import Environment, Event

from simulator.arrays import BoolArray, FloatArray, IndexArray, IntArray
from simulator.network.flows import Flows
from simulator.network.state import Finished


@dataclass(frozen=True, eq=False)
class Transmission:
    """`rank_done[rank]` succeeds when all that the rank sends and receives has arrived, latency included."""

    name: str
    flows: Flows
    rank_done: dict[int, Event]
    finish_s: FloatArray  # [flows] when each arrives; NaN until it is through

    @classmethod
    def begin(cls, env: Environment, flows: Flows, ranks: tuple[int, ...], name: str) -> "Transmission":
        """Ranks without flows are done at once."""
        busy = _busy_ranks(flows, ranks)
        rank_done = {rank: env.event() for rank in ranks}
        for rank, event in rank_done.items():
            if not busy[rank]:
                event.succeed()
        return cls(name, flows, rank_done, np.full(len(flows), np.nan))

    def rank_is_done(self, rank: int) -> bool:
        """Let `rank_done` succeed; False when it had before."""
        event = self.rank_done[rank]
        if event.triggered:
            return False
        event.succeed()
        return True


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Ranks for which the last flow is through, and when it arrives."""

    ranks: IndexArray
    time_s: FloatArray


class Tally:
    """How many flows each rank of a transmission still waits for, and when the latest so far arrives."""

    def __init__(self, transmission: Transmission, latency_s: FloatArray, world_size: int) -> None:
        self.transmission = transmission
        flows = transmission.flows
        self._latency_s = latency_s
        self._waits: IntArray = np.bincount(flows.sources, minlength=world_size) + np.bincount(
            flows.destinations, minlength=world_size
        )
        self._arrival_s: FloatArray = np.full(world_size, -np.inf)

    @property
    def is_through(self) -> bool:
        """All flows are; the last may still be in the air."""
        return not self._waits.any()

    def expected(self, finished: Finished) -> Arrivals:
        """Whom the end of these flows, numbered within the transmission, would serve."""
        return _newly_served(self._waits, *self._after(finished))

    def finish(self, finished: Finished) -> Arrivals:
        """These flows are through; whom that serves."""
        before = self._waits
        self._waits, self._arrival_s = self._after(finished)
        self.transmission.finish_s[finished.flows] = finished.finish_s + self._latency_s[finished.flows]
        return _newly_served(before, self._waits, self._arrival_s)

    def _after(self, finished: Finished) -> tuple[IntArray, FloatArray]:
        arrival_s = finished.finish_s + self._latency_s[finished.flows]
        waits, latest_s = self._waits.copy(), self._arrival_s.copy()
        for ends in (self.transmission.flows.sources, self.transmission.flows.destinations):
            ranks = ends[finished.flows]
            waits -= np.bincount(ranks, minlength=len(waits))
            np.maximum.at(latest_s, ranks, arrival_s)
        return waits, latest_s


def _newly_served(waited: IntArray, waits: IntArray, arrival_s: FloatArray) -> Arrivals:
    ranks = np.flatnonzero((waits == 0) & (waited > 0)).astype(np.int32)
    return Arrivals(ranks, arrival_s[ranks])


def _busy_ranks(flows: Flows, ranks: tuple[int, ...]) -> BoolArray:
    """Which ranks send or receive. Raises ValueError for one that has no part in the transmission."""
    last = max(
        max(ranks, default=0), int(flows.sources.max(initial=0)), int(flows.destinations.max(initial=0))
    )
    busy = np.zeros(last + 1, np.bool_)
    busy[flows.sources] = True
    busy[flows.destinations] = True
    strangers = busy.copy()
    strangers[list(ranks)] = False
    if strangers.any():
        raise ValueError(f"rank {int(strangers.argmax())} has flows but is not among the ranks {ranks}")
    return busy
