"""The port bound: no schedule whatever moves the flows faster.

Theory of operation. A resource needs at least the bytes that cross it over its bandwidth, and a pair at least
its bytes over its cap. The longest of these is the bound; max-min fair sharing of one all-to-all nearly always
reaches it. Message gaps count, as the bytes their port could have moved meanwhile. Latency and start-up do not.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.network.flows import Flows
from simulator.network.load import gap_bytes, payload_bytes, volume_bytes
from simulator.topology.topology import Routes, Topology

_CHUNK_FLOWS = 1 << 18


@dataclass(frozen=True, eq=False)
class Bound:
    """`bottleneck` and `runner_up` name a resource, a pair ("pair 3->5"), or "none" where nothing moves."""

    time_s: float
    bottleneck: str
    runner_up: str
    runner_up_s: float
    resource_bytes: IntArray  # [resources] payload across each
    resource_s: FloatArray  # [resources] time each needs for it, message gaps included
    pair_s: float  # the longest that any pair needs by its cap; 0 without caps
    latency_s: float  # the longest of any flow; no part of `time_s`


def port_bound(topology: Topology, flows: Flows, *, latency_steps: int = 1) -> Bound:
    """The bound of flows that start together on a quiet cluster, at its capacities as if they never changed.

    `latency_steps` is the number of messages that each flow sends one after another. Memory beyond the flows
    does not grow with their number. The answer is kept as long as the flows are: who measures a collective that
    was sent over `BoundNetwork` asks for the bound that it took.
    """
    known = _known.setdefault(flows, {})
    if (topology, latency_steps) not in known:
        known[topology, latency_steps] = _bound(topology, flows, latency_steps)
    return known[topology, latency_steps]


_known: WeakKeyDictionary[Flows, dict[tuple[Topology, int], Bound]] = WeakKeyDictionary()


def _bound(topology: Topology, flows: Flows, latency_steps: int) -> Bound:
    load = _Load.none(len(topology.resources.names))
    for start in range(0, len(flows), _CHUNK_FLOWS):
        chunk = slice(start, start + _CHUNK_FLOWS)
        part = Flows(flows.sources[chunk], flows.destinations[chunk], flows.bytes[chunk])
        load.add(part, topology.routes(part.sources, part.destinations), latency_steps)
    resource_s = (load.payload_bytes + load.gap_bytes) / topology.resources.capacity_bytes_per_s
    longest = np.argsort(-resource_s, kind="stable")[:2]
    candidates = [(float(resource_s[r]), topology.resources.names[r]) for r in longest]
    candidates = sorted([*candidates, (load.pair_s, load.pair)], key=lambda candidate: -candidate[0])
    moving = [candidate for candidate in candidates if candidate[0] > 0]
    (time_s, bottleneck), (runner_up_s, runner_up) = [*moving, (0.0, "none"), (0.0, "none")][:2]
    return Bound(
        time_s,
        bottleneck,
        runner_up,
        runner_up_s,
        load.payload_bytes,
        resource_s,
        load.pair_s,
        load.latency_s,
    )


@dataclass
class _Load:
    """What has been added up so far."""

    payload_bytes: IntArray
    gap_bytes: FloatArray
    pair_s: float = 0.0
    pair: str = "none"
    latency_s: float = 0.0

    @classmethod
    def none(cls, resources: int) -> "_Load":
        return cls(np.zeros(resources, np.int64), np.zeros(resources))

    def add(self, flows: Flows, routes: Routes, messages: int) -> None:
        """Add a part of the flows, each sent as `messages` messages."""
        self.payload_bytes += payload_bytes(routes, flows.bytes, len(self.payload_bytes))
        self.gap_bytes += gap_bytes(routes, len(self.gap_bytes), messages=messages)
        self.latency_s = max(self.latency_s, messages * float(routes.latency_s.max()))
        needed_s = volume_bytes(routes, flows.bytes, messages=messages) / routes.cap_bytes_per_s
        slowest = int(np.argmax(needed_s))
        if needed_s[slowest] > self.pair_s:
            self.pair_s = float(needed_s[slowest])
            self.pair = f"pair {flows.sources[slowest]}->{flows.destinations[slowest]}"
