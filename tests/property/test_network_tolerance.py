"""What a tolerance may and may not do: near exact, never faster than the ports, the same every time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from network_cases import starts, topologies, traffic

from simulator.arrays import BoolArray, FloatArray
from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.network.simulate import simulate_flows
from simulator.topology.topology import Topology

ROUNDING = 1e-12


def without_latency(topology: Topology, flows: Flows, finish_s: FloatArray) -> FloatArray:
    return finish_s - topology.routes(flows.sources, flows.destinations).latency_s


def crossing(topology: Topology, flows: Flows) -> BoolArray:
    """Which flow crosses which resource [flows, resources]."""
    hops = topology.routes(flows.sources, flows.destinations).resources
    return (hops[:, :, None] == np.arange(len(topology.resources.names))).any(axis=1)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_the_makespan_is_within_half_a_percent_of_exact(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    exact = simulate_flows(topology, flows, tolerance=None)
    near = simulate_flows(topology, flows, tolerance=0.01)

    assert abs(near.time_s - exact.time_s) <= 0.005 * exact.time_s
    assert near.solves <= max(exact.solves, 1) * 1.5 + 110


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_neither_is_below_the_port_bound(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    bound = port_bound(topology, flows)
    for tolerance in (None, 0.01, 0.3):
        result = simulate_flows(topology, flows, tolerance=tolerance)
        moved_s = without_latency(topology, flows, result.finish_s).max(initial=0.0)
        assert moved_s >= bound.time_s * (1 - ROUNDING)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_what_has_finished_by_any_time_fits_the_capacities(data: st.DataObject) -> None:
    """Stronger than the bound: at the finish of every flow, for every resource and whatever starts when."""
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    start_s = data.draw(starts(len(flows)))
    result = simulate_flows(
        topology, flows, tolerance=data.draw(st.sampled_from([0.01, 0.2])), start_s=start_s
    )
    through_s = without_latency(topology, flows, result.finish_s)
    crosses = crossing(topology, flows)

    for time_s in through_s:
        done_bytes = (flows.bytes * (through_s <= time_s)) @ crosses
        room_bytes = topology.resources.capacity_bytes_per_s * (time_s - start_s.min(initial=time_s))
        assert (done_bytes <= room_bytes * (1 + 1e-9) + 1e-6).all()


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_single_flows_err_by_less_than_the_step(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    bound = port_bound(topology, flows)
    exact = simulate_flows(topology, flows, tolerance=None)
    near = simulate_flows(topology, flows, tolerance=0.01)

    assert (np.abs(near.finish_s - exact.finish_s) <= 0.03 * bound.time_s).all()


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_the_same_input_gives_the_same_bytes(data: st.DataObject) -> None:
    topology = data.draw(topologies(perturbed=True))
    flows = data.draw(traffic(topology))
    for tolerance in (None, 0.01):
        first, second = (simulate_flows(topology, flows, tolerance=tolerance) for _ in range(2))
        assert first.finish_s.tobytes() == second.finish_s.tobytes()
        assert first.solves == second.solves


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_even_traffic_is_exact_with_any_tolerance_and_needs_few_solutions(data: st.DataObject) -> None:
    """All flows of one kind finish at one instant, so nothing is left to approximate."""
    topology = data.draw(topologies())
    size = topology.world_size
    flows = Flows.from_matrix(np.full((size, size), 10_000, np.int64))
    exact = simulate_flows(topology, flows, tolerance=None)
    near = simulate_flows(topology, flows, tolerance=1e-9)

    np.testing.assert_allclose(near.finish_s, exact.finish_s, rtol=1e-9)
    assert near.solves <= len(np.unique(np.round(exact.finish_s, 12))) + 2
