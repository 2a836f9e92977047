"""The SimPy network against flows run without an engine: same flows, same starts, same finishes."""

from collections.abc import Generator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from network_cases import starts, topologies, traffic
from simpy import Environment, Event

from simulator.arrays import FloatArray
from simulator.network.flows import Flows
from simulator.network.network import FluidNetwork, Transmission
from simulator.network.reference import finish_times
from simulator.network.simulate import simulate_flows
from simulator.topology.topology import Topology


def part_of(flows: Flows, which: FloatArray) -> Flows:
    return Flows(flows.sources[which], flows.destinations[which], flows.bytes[which])


class Senders:
    """Sends the flows of each start time as one transmission, and notes when ranks were done."""

    def __init__(
        self, topology: Topology, flows: Flows, start_s: FloatArray, tolerance: float | None
    ) -> None:
        self.env = Environment()
        self.network = FluidNetwork(self.env, topology, tolerance=tolerance)
        self.ranks = tuple(range(topology.world_size))
        self.groups = [np.flatnonzero(start_s == time) for time in np.unique(start_s)]
        self.sent: list[Transmission] = []
        self.done_s: list[dict[int, float]] = []
        for group in self.groups:
            if len(group):
                self.env.process(self._send(part_of(flows, group), float(start_s[group[0]])))
        self.env.run()

    def _send(self, flows: Flows, start_s: float) -> Generator[Event, None, None]:
        yield self.env.timeout(start_s)
        transmission = self.network.send(flows, ranks=self.ranks)
        done_s: dict[int, float] = {}
        self.sent.append(transmission)
        self.done_s.append(done_s)
        for rank, event in transmission.rank_done.items():
            event.callbacks.append(lambda _, rank=rank: done_s.setdefault(rank, self.env.now))

    def finish_s(self) -> FloatArray:
        """Of all flows, in the order in which they were given."""
        finish_s = np.empty(sum(map(len, self.groups)))
        for group, transmission in zip(self.groups, self.sent, strict=True):
            finish_s[group] = transmission.finish_s
        return finish_s


def check_ranks_are_done_with_their_last_flow(senders: Senders) -> None:
    for transmission, done_s in zip(senders.sent, senders.done_s, strict=True):
        assert set(done_s) == set(senders.ranks)
        for rank, time_s in done_s.items():
            own = (transmission.flows.sources == rank) | (transmission.flows.destinations == rank)
            if own.any():
                np.testing.assert_allclose(time_s, transmission.finish_s[own].max(), rtol=1e-12)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_exact_transmissions_finish_like_the_reference_s(data: st.DataObject) -> None:
    topology = data.draw(topologies(perturbed=True, most_ranks_of_island=3))
    flows = data.draw(traffic(topology))
    start_s = data.draw(starts(len(flows)))

    senders = Senders(topology, flows, start_s, None)

    np.testing.assert_allclose(senders.finish_s(), finish_times(topology, flows, start_s=start_s), rtol=1e-9)
    check_ranks_are_done_with_their_last_flow(senders)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_with_a_tolerance_they_stay_near_and_within_the_capacities(data: st.DataObject) -> None:
    topology = data.draw(topologies(most_ranks_of_island=3))
    flows = data.draw(traffic(topology))
    start_s = data.draw(starts(len(flows)))
    exact = simulate_flows(topology, flows, tolerance=None, start_s=start_s)

    senders = Senders(topology, flows, start_s, 0.01)

    finish_s = senders.finish_s()
    assert np.abs(finish_s - exact.finish_s).max(initial=0.0) <= 0.03 * exact.time_s
    check_ranks_are_done_with_their_last_flow(senders)
    hops = topology.routes(flows.sources, flows.destinations)
    crosses = (hops.resources[:, :, None] == np.arange(len(topology.resources.names))).any(axis=1)
    through_s = finish_s - hops.latency_s
    for time_s in through_s:
        done_bytes = (flows.bytes * (through_s <= time_s)) @ crosses
        room_bytes = topology.resources.capacity_bytes_per_s * (time_s - start_s.min(initial=time_s))
        assert (done_bytes <= room_bytes * (1 + 1e-9) + 1e-6).all()


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_payload_is_counted_exactly_on_every_resource(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    start_s = data.draw(starts(len(flows)))

    counted = Senders(topology, flows, start_s, 0.01).network.resource_bytes

    expected = np.zeros(len(topology.resources.names), np.int64)
    routes = topology.routes(flows.sources, flows.destinations).resources
    for hops, flow_bytes in zip(routes.tolist(), flows.bytes.tolist(), strict=True):
        for resource in hops:
            if resource >= 0:
                expected[resource] += flow_bytes
    assert counted.dtype == np.int64
    assert counted.tolist() == expected.tolist()
