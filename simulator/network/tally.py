"""A `Tally`: which ranks of a transmission still wait for flows, and when those that don't are served."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.network.plan import Finished
from simulator.network.transmission import Transmission

_Served = tuple[float, int]  # when, rank


class Tally:
    """Flows are numbered from 0 within the transmission."""

    def __init__(self, transmission: Transmission, latency_s: FloatArray, world_size: int) -> None:
        self.transmission = transmission
        flows = transmission.flows
        self._latency_s = latency_s
        self._waits: IntArray = np.bincount(flows.sources, minlength=world_size) + np.bincount(
            flows.destinations, minlength=world_size
        )
        self._arrival_s: FloatArray = np.full(world_size, -np.inf)  # [world_size] of the latest flow so far
        self._open_flows = len(flows)
        self._in_the_air: list[_Served] = []  # all flows are through, the last has not arrived; a heap
        self._expected: list[_Served] = []  # if the present plans hold; a heap

    @property
    def next_s(self) -> float:
        """When the next rank is served, as far as that can be told; inf if it can't."""
        return min(
            (waiting[0][0] for waiting in (self._in_the_air, self._expected) if waiting), default=np.inf
        )

    @property
    def is_over(self) -> bool:
        """All has arrived."""
        return not self._open_flows and not self._in_the_air

    def finish(self, finished: Finished) -> None:
        """These flows are through."""
        self.transmission.finish_s[finished.flows] = finished.finish_s + self._latency_s[finished.flows]
        self._open_flows -= len(finished.flows)
        before = self._waits
        self._waits, self._arrival_s = self._after(finished)
        for served in _served(before, self._waits, self._arrival_s):
            heappush(self._in_the_air, served)

    def expect(self, planned: Sequence[Finished]) -> None:
        """These flows are going to be through before their plans end. Takes the place of what was expected."""
        flows = np.concatenate([np.empty(0, np.int32), *(some.flows for some in planned)])
        finish_s = np.concatenate([np.empty(0), *(some.finish_s for some in planned)])
        self._expected = _served(self._waits, *self._after(Finished(flows, finish_s)))
        heapify(self._expected)

    def let_ranks_go(self, time_s: float) -> int:
        """Let those be done that are served by now; how many there were."""
        count = 0
        for waiting in (self._in_the_air, self._expected):
            while waiting and waiting[0][0] <= time_s:
                count += self.transmission.rank_is_done(heappop(waiting)[1])
        return count

    def _after(self, finished: Finished) -> tuple[IntArray, FloatArray]:
        arrival_s = finished.finish_s + self._latency_s[finished.flows]
        waits, latest_s = self._waits.copy(), self._arrival_s.copy()
        for ends in (self.transmission.flows.sources, self.transmission.flows.destinations):
            ranks = ends[finished.flows]
            waits -= np.bincount(ranks, minlength=len(waits))
            np.maximum.at(latest_s, ranks, arrival_s)
        return waits, latest_s


def _served(waited: IntArray, waits: IntArray, arrival_s: FloatArray) -> list[_Served]:
    """The ranks that waited and wait no more."""
    ranks = np.flatnonzero((waits == 0) & (waited > 0))
    return list(zip(arrival_s[ranks].tolist(), ranks.tolist(), strict=True))
