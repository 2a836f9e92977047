"""The fast network against the readable one, each flow's finish, on random clusters."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from network_cases import starts, topologies, traffic

from simulator.network.reference import finish_times
from simulator.network.simulate import simulate_flows

CLOSE = 1e-9  # relative; the project asks for 1e-6


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_every_flow_finishes_when_the_reference_says(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))

    fast = simulate_flows(topology, flows, tolerance=None)

    np.testing.assert_allclose(fast.finish_s, finish_times(topology, flows), rtol=CLOSE)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_so_do_flows_that_start_at_different_times_while_capacities_change(data: st.DataObject) -> None:
    topology = data.draw(topologies(perturbed=True, most_ranks_of_island=3))
    flows = data.draw(traffic(topology))
    start_s = data.draw(starts(len(flows)))

    fast = simulate_flows(topology, flows, tolerance=None, start_s=start_s)

    np.testing.assert_allclose(fast.finish_s, finish_times(topology, flows, start_s=start_s), rtol=CLOSE)
    assert (fast.finish_s > start_s).all()


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_and_exact_arithmetic_says_the_same(data: st.DataObject) -> None:
    topology = data.draw(topologies(most_ranks_of_island=2))
    flows = data.draw(traffic(topology, most_bytes=1000))

    exact = finish_times(topology, flows, number=Fraction)

    assert all(isinstance(time, Fraction) for time in exact)
    fast = simulate_flows(topology, flows, tolerance=None)
    np.testing.assert_allclose(fast.finish_s, [float(time) for time in exact], rtol=CLOSE)


def test_32_ranks_of_skewed_traffic() -> None:
    """992 flows, as many completions: what rounding adds up to."""
    from simulator.network.flows import Flows
    from simulator.topology.build import uniform_topology

    topology = uniform_topology(
        islands=4, gpus_per_island=8, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9, nics_per_island=4
    )
    matrix = (1e6 * np.random.default_rng(7).lognormal(0, 1, (32, 32))).astype(np.int64)
    flows = Flows.from_matrix(matrix)

    fast = simulate_flows(topology, flows, tolerance=None)

    np.testing.assert_allclose(fast.finish_s, finish_times(topology, flows), rtol=CLOSE)
    assert fast.solves == len(flows)
