"""`FluidNetwork`: transmissions that share the ports max-min fairly, in SimPy's time.

Theory of operation. One alarm stands for whatever happens next in the network: the end of a plan of some flows in
flight, the arrival of a rank's last byte, or a change of a capacity. What is sent is taken in at once; when all
else at that instant is done, the sharing is solved for all of it together. A transmission that comes in the middle
of a plan cuts it, and only where it shares resources with the flows of that plan.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from simpy import Environment

from simulator.arrays import IntArray
from simulator.network.alarm import Alarm
from simulator.network.capacities import Capacities
from simulator.network.errors import stalled_error
from simulator.network.flows import Flows
from simulator.network.in_flight import InFlight
from simulator.network.load import payload_bytes, volume_bytes
from simulator.network.plan import Finished, Plan
from simulator.network.tally import Tally
from simulator.network.transmission import Transmission
from simulator.topology.topology import Topology


class FluidNetwork:
    """See `Network`. `tolerance` is the step as a share of the port bound of what is in flight; None is exact.

    Sending and running raise StalledError when flows cross a resource that has failed and never returns.
    """

    def __init__(self, env: Environment, topology: Topology, *, tolerance: float | None) -> None:
        self.events = 0
        self.resource_bytes: IntArray = np.zeros(len(topology.resources.names), np.int64)
        self._env = env
        self._topology = topology
        self._capacities = Capacities(topology)
        self._in_flight = InFlight(self._capacities.now_bytes_per_s, tolerance=tolerance or 0.0)
        self._alarm = Alarm(env, self._ring)
        self._tallies: dict[int, Tally] = {}  # by the number of the first flow, ascending
        self._early: dict[Plan, dict[int, Finished]] = {}  # plans in which flows finish before the end
        self._concerned: set[int] = set()  # transmissions of which flows finished, or are going to otherwise

    @property
    def solves(self) -> int:
        return self._in_flight.solves

    def send(
        self, flows: Flows, *, ranks: tuple[int, ...], latency_steps: int = 1, name: str = ""
    ) -> Transmission:
        """See `Network.send`."""
        transmission = Transmission.begin(self._env, flows, ranks, name)
        if len(flows):
            self._catch_up(self._env.now)
            routes = self._topology.routes(flows.sources, flows.destinations)
            self.resource_bytes += payload_bytes(routes, flows.bytes, len(self.resource_bytes))
            volume = volume_bytes(routes, flows.bytes, messages=latency_steps)
            first, finished = self._in_flight.add(routes, volume, self._env.now)
            self._finish(finished)
            self._tallies[first] = Tally(
                transmission, routes.latency_s * latency_steps, self._topology.world_size
            )
            self._alarm.set(self._env.now)
        return transmission

    def _ring(self, time_s: float) -> None:
        """Something is due: see to it, and plan ahead once nobody at this instant can send any more."""
        self.events += 1
        self._catch_up(time_s)
        if sum(tally.let_ranks_go(time_s) for tally in self._tallies.values()):
            self._alarm.set(time_s)
        else:
            self._plan_ahead()

    def _catch_up(self, time_s: float) -> None:
        """Plans end and capacities change that are due."""
        self._finish(self._in_flight.complete(time_s))
        for change in self._capacities.take_changes(time_s):
            self._in_flight.set_capacity(change.resource, self._capacities.now_bytes_per_s[change.resource])

    def _plan_ahead(self) -> None:
        self._check_stalled()
        self._tallies = {first: tally for first, tally in self._tallies.items() if not tally.is_over}
        end_s = self._in_flight.plan(self._capacities.next_change_s)
        self._expect()
        due_s = min((end_s, *(tally.next_s for tally in self._tallies.values())))
        if due_s < np.inf:
            self._alarm.set(due_s)

    def _finish(self, finished: Iterable[Finished]) -> None:
        for some in finished:
            for first, own in self._by_transmission(some):
                self._tallies[first].finish(own)
                self._concerned.add(first)

    def _expect(self) -> None:
        """Tell the transmissions concerned who finishes within the present plans, before these end."""
        before, self._early = self._early, {}
        for plan in self._in_flight.early_plans():
            self._early[plan] = before.get(plan) or dict(self._by_transmission(plan.finishing))
        for plan, finishing in (*before.items(), *self._early.items()):
            if plan not in before or plan not in self._early:
                self._concerned.update(finishing)
        for first in sorted(self._concerned & self._tallies.keys()):
            planned = [finishing[first] for finishing in self._early.values() if first in finishing]
            self._tallies[first].expect(planned)
        self._concerned.clear()

    def _by_transmission(self, finished: Finished) -> Iterator[tuple[int, Finished]]:
        """Cut up by transmission, named by its first flow; flows renumbered from 0 in each."""
        if len(self._tallies) == 1:
            first = next(iter(self._tallies))
            yield first, Finished(finished.flows - first, finished.finish_s)
            return
        firsts = list(self._tallies)
        owner = np.searchsorted(firsts, finished.flows, side="right") - 1
        for index in np.flatnonzero(np.bincount(owner)).tolist():
            own = finished.pick(owner == index)
            yield firsts[index], Finished(own.flows - firsts[index], own.finish_s)

    def _check_stalled(self) -> None:
        for resource, failed_s in self._capacities.failed_s.items():
            flows = self._in_flight.crossing(resource)
            ranks: set[int] = set()
            names = []
            for first, own in self._by_transmission(Finished(flows, np.full(len(flows), np.inf))):
                sent = self._tallies[first].transmission
                ranks.update(
                    sent.flows.sources[own.flows].tolist(), sent.flows.destinations[own.flows].tolist()
                )
                names.append(sent.name)
            if ranks:
                name = self._topology.resources.names[resource]
                raise stalled_error(name, failed_s, sorted(ranks), ", ".join(filter(None, names)))
