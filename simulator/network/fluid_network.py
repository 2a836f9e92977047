"""`FluidNetwork`: transmissions that share the ports max-min fairly, in SimPy's time.

Theory of operation. One alarm stands for whatever happens next in the network: the end of a plan of the flow
state, the arrival of a rank's last byte, or a change of a capacity. What is sent is taken in at once; when all
else at that instant is done, the sharing is solved for all of it together. A transmission that comes in the
middle of a plan cuts it.
"""

import heapq
from collections.abc import Iterator

import numpy as np
from simpy import Environment

from simulator.arrays import IndexArray, IntArray
from simulator.network.alarm import Alarm
from simulator.network.capacities import Capacities
from simulator.network.errors import stalled_error
from simulator.network.flows import Flows
from simulator.network.load import payload_bytes, volume_bytes
from simulator.network.state import Finished, FlowState, Plan
from simulator.network.transmission import Arrivals, Tally, Transmission
from simulator.topology.topology import Topology

_Served = tuple[float, int, int, Transmission]  # when, number of its first flow, rank, transmission


class FluidNetwork:
    """See `Network`. `tolerance` is the step as a share of the port bound of what is in flight; None is exact.

    Sending and replaying raise StalledError when flows cross a resource that has failed and never returns.
    """

    def __init__(self, env: Environment, topology: Topology, *, tolerance: float | None) -> None:
        self.events = 0
        self.resource_bytes: IntArray = np.zeros(len(topology.resources.names), np.int64)
        self._env = env
        self._topology = topology
        self._capacities = Capacities(topology)
        self._state = FlowState(self._capacities.now_bytes_per_s, tolerance=tolerance or 0.0)
        self._alarm = Alarm(env, self._ring)
        self._tallies: dict[int, Tally] = {}  # by the number of the first flow, ascending
        self._plan: Plan | None = None
        self._expected: list[_Served] = []  # by the plan; a heap
        self._in_the_air: list[_Served] = []  # through, but for the latency; a heap

    @property
    def solves(self) -> int:
        return self._state.solves

    def send(
        self, flows: Flows, *, ranks: tuple[int, ...], latency_steps: int = 1, name: str = ""
    ) -> Transmission:
        """See `Network.send`."""
        transmission = Transmission.begin(self._env, flows, ranks, name)
        if len(flows):
            self._advance(self._env.now)
            routes = self._topology.routes(flows.sources, flows.destinations)
            self.resource_bytes += payload_bytes(routes, flows.bytes, len(self.resource_bytes))
            first = self._state.add(routes, volume_bytes(routes, flows.bytes, messages=latency_steps))
            latency_s = routes.latency_s * latency_steps
            self._tallies[first] = Tally(transmission, latency_s, self._topology.world_size)
            self._alarm.set(self._env.now)
        return transmission

    def _ring(self, time_s: float) -> None:
        """Something is due: see to it, and plan ahead once nobody at this instant can send any more."""
        self.events += 1
        if self._plan is not None and time_s >= self._plan.end_s:
            self._advance(time_s)
        if self._let_ranks_go(time_s):
            self._alarm.set(time_s)
        else:
            self._plan_ahead()

    def _advance(self, time_s: float) -> None:
        """Bring all flows and capacities to `time_s`; the plan is used up."""
        for first, finished in self._by_transmission(self._state.advance(time_s)):
            tally = self._tallies[first]
            self._push(self._in_the_air, first, tally.finish(finished))
            if tally.is_through:
                del self._tallies[first]
        self._plan, self._expected = None, []
        for change in self._capacities.take_changes(time_s):
            self._state.set_capacity(change.resource, self._capacities.now_bytes_per_s[change.resource])

    def _let_ranks_go(self, time_s: float) -> bool:
        """Whether any rank was served by now."""
        served = False
        for waiting in (self._in_the_air, self._expected):
            while waiting and waiting[0][0] <= time_s:
                _, _, rank, transmission = heapq.heappop(waiting)
                served |= transmission.rank_is_done(rank)
        return served

    def _plan_ahead(self) -> None:
        self._check_stalled()
        due_s = [waiting[0][0] for waiting in (self._in_the_air, self._expected) if waiting]
        if self._state.live_flows:
            plan = self._state.plan(self._capacities.next_change_s)
            if plan is not self._plan:
                self._plan = plan
                if plan.stepped:
                    self._expect(plan.finishing)
            due_s = [
                plan.end_s,
                *(waiting[0][0] for waiting in (self._in_the_air, self._expected) if waiting),
            ]
        if due_s:
            self._alarm.set(min(due_s))

    def _expect(self, finishing: Finished) -> None:
        """Ranks are served before the step ends."""
        for first, flows in self._by_transmission(finishing):
            self._push(self._expected, first, self._tallies[first].expected(flows))

    def _push(self, waiting: list[_Served], first: int, arrivals: Arrivals) -> None:
        transmission = self._tallies[first].transmission
        for rank, time_s in zip(arrivals.ranks.tolist(), arrivals.time_s.tolist(), strict=True):
            heapq.heappush(waiting, (time_s, first, rank, transmission))

    def _by_transmission(self, finished: Finished) -> Iterator[tuple[int, Finished]]:
        """Cut up by transmission, named by its first flow; flows renumbered from 0 in each."""
        firsts = list(self._tallies)
        owner = np.searchsorted(firsts, finished.flows, side="right") - 1
        for index in np.flatnonzero(np.bincount(owner)).tolist():
            own = owner == index
            yield firsts[index], Finished(finished.flows[own] - firsts[index], finished.finish_s[own])

    def _check_stalled(self) -> None:
        for resource, failed_s in self._capacities.failed_s.items():
            flows = self._state.crossing(resource)
            waiting = list(self._by_transmission(Finished(flows, np.full(len(flows), np.inf))))
            if waiting:
                names = [self._tallies[first].transmission.name for first, _ in waiting]
                ranks = sorted(set().union(*(self._ranks_of(first, part.flows) for first, part in waiting)))
                name = self._topology.resources.names[resource]
                raise stalled_error(name, failed_s, ranks, ", ".join(filter(None, names)))

    def _ranks_of(self, first: int, flows: IndexArray) -> set[int]:
        sent = self._tallies[first].transmission.flows
        return {*sent.sources[flows].tolist(), *sent.destinations[flows].tolist()}
