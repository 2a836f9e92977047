"""`BoundNetwork`: every transmission takes its port bound, as if it were alone on the network.

Theory of operation. All ranks that send or receive leave together, at the end of the bound plus the longest
latency. Capacities that change on the way are followed. Transmissions that overlap do not slow each other down,
so this is quick and optimistic: for sweeps that look for the points worth a closer look.
"""

import numpy as np
from simpy import Environment, Event

from simulator.arrays import IntArray
from simulator.network.bound import Bound, port_bound
from simulator.network.capacities import Capacities
from simulator.network.errors import StalledError, stalled_error
from simulator.network.flows import Flows
from simulator.network.transmission import Transmission
from simulator.topology.topology import Topology


class BoundNetwork:
    """See `Network`. Sending raises StalledError when flows cross a resource that fails for good meanwhile."""

    solves = 0  # nothing is shared

    def __init__(self, env: Environment, topology: Topology) -> None:
        self.events = 0
        self.resource_bytes: IntArray = np.zeros(len(topology.resources.names), np.int64)
        self._env = env
        self._topology = topology
        self._capacities = Capacities(topology)

    def send(
        self, flows: Flows, *, ranks: tuple[int, ...], latency_steps: int = 1, name: str = ""
    ) -> Transmission:
        """See `Network.send`."""
        arrived = self._env.event()
        transmission = Transmission.begin(self._env, flows, ranks, name, arrived=arrived)
        if len(flows):
            bound = port_bound(self._topology, flows, latency_steps=latency_steps)
            self.resource_bytes += bound.resource_bytes
            end_s = self._end_s(bound, transmission) + bound.latency_s
            due = self._env.timeout(end_s - self._env.now)
            due.callbacks.append(lambda _: self._let_ranks_go(transmission, arrived))
        return transmission

    def _end_s(self, bound: Bound, transmission: Transmission) -> float:
        start_s = self._env.now
        busy_until_s = self._capacities.busy_until_s(start_s, bound.resource_s)
        last = int(np.argmax(busy_until_s))
        if np.isinf(busy_until_s[last]):
            raise self._stalled(last, transmission)
        return max(float(busy_until_s[last]), start_s + bound.pair_s)

    def _stalled(self, resource: int, transmission: Transmission) -> StalledError:
        flows = transmission.flows
        crosses = (self._topology.routes(flows.sources, flows.destinations).resources == resource).any(axis=1)
        ranks = np.union1d(flows.sources[crosses], flows.destinations[crosses]).tolist()
        name = self._topology.resources.names[resource]
        return stalled_error(name, self._capacities.fails_for_good_s(resource), ranks, transmission.name)

    def _let_ranks_go(self, transmission: Transmission, arrived: Event) -> None:
        self.events += 1
        transmission.finish_s[:] = self._env.now
        arrived.succeed()
