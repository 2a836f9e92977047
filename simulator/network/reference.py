"""The same network written once more, to be read rather than to be fast. Tests hold `simulate_flows` against it.

Progressive filling by its definition, event by event, in any kind of number: `Fraction` gives exact times. Every
event looks at every flow and every resource, so a few hundred flows are its limit. It shares no code with the
fast one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf

from simulator.arrays import FloatArray
from simulator.network.flows import Flows
from simulator.topology.topology import Topology

Number = float | Fraction


def max_min_rates(
    routes: Sequence[Sequence[int]], capacities: Sequence[Number], caps: Sequence[Number]
) -> list[Number]:
    """The rate of each flow, whose route is a list of resources and which goes no faster than its cap (or inf)."""
    rates: list[Number] = [0] * len(routes)
    left, rising = list(capacities), set(range(len(routes)))
    while rising:
        still = Counter(resource for flow in rising for resource in routes[flow])
        shares = {resource: left[resource] / count for resource, count in still.items()}
        level = min([*shares.values(), *(caps[flow] for flow in rising)])
        full = {resource for resource, share in shares.items() if share == level}
        stopping = {flow for flow in rising if caps[flow] == level or full.intersection(routes[flow])}
        for flow in stopping:
            rates[flow] = level
            for resource in routes[flow]:
                left[resource] -= level
        rising -= stopping
    return rates


def finish_times(
    topology: Topology,
    flows: Flows,
    *,
    start_s: FloatArray | None = None,
    number: Callable[[float], Number] = float,
) -> list[Number]:
    """When each flow arrives. `number` is float, or Fraction for exact arithmetic."""
    return _Reference(topology, flows, start_s, number).run()


class _Reference:
    """One run; lists have an entry a flow unless they are about resources."""

    def __init__(
        self, topology: Topology, flows: Flows, start_s: FloatArray | None, number: Callable[[float], Number]
    ) -> None:
        pairs = topology.routes(flows.sources, flows.destinations)
        gaps = pairs.overhead_bytes.tolist()
        self.routes = [[int(resource) for resource in hops if resource >= 0] for hops in pairs.resources]
        self.caps = [cap if cap == inf else number(cap) for cap in pairs.cap_bytes_per_s.tolist()]
        self.left = [number(own) + number(gap) for own, gap in zip(flows.bytes.tolist(), gaps, strict=True)]
        self.latency = [number(latency) for latency in pairs.latency_s.tolist()]
        self.starts = [number(0.0 if start_s is None else float(start_s[flow])) for flow in range(len(flows))]
        self.full = [number(capacity) for capacity in topology.resources.capacity_bytes_per_s.tolist()]
        self.changes = [
            (number(change.time_s), change.resource, number(change.factor))
            for change in topology.capacity_changes
        ]
        self.now = number(0.0)
        self.done: dict[int, Number] = {}

    def run(self) -> list[Number]:
        while len(self.done) < len(self.left):
            self._to_next_event()
        return [self.done[flow] + self.latency[flow] for flow in range(len(self.left))]

    def _to_next_event(self) -> None:
        """Raises ValueError when none will ever come."""
        rates = self._rates()
        ends = {flow: self.now + self.left[flow] / rate for flow, rate in rates.items() if rate > 0}
        outside = [time for time in (*self.starts, *(time for time, _, _ in self.changes)) if time > self.now]
        if not ends and not outside:
            raise ValueError("flows wait for ever")
        then = min([*ends.values(), *outside])
        for flow, rate in rates.items():
            self.left[flow] -= rate * (then - self.now)
            if ends.get(flow) == then:
                self.done[flow] = then
        self.now = then

    def _rates(self) -> dict[int, Number]:
        """Of the flows that have started and are not through."""
        capacities = list(self.full)
        for time, resource, factor in self.changes:
            if time <= self.now:
                capacities[resource] = self.full[resource] * factor
        active = [
            flow for flow, start in enumerate(self.starts) if start <= self.now and flow not in self.done
        ]
        routes, caps = [self.routes[flow] for flow in active], [self.caps[flow] for flow in active]
        return dict(zip(active, max_min_rates(routes, capacities, caps), strict=True))
