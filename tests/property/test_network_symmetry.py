"""Classes of equal flows against the flows one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from network_cases import topologies, traffic

from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.network.simulate import simulate_flows
from simulator.network.symmetric import simulate_kinds
from simulator.network.symmetry import find_kinds, uniform_rows
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def even_flows(topology: Topology, inside_bytes: int, between_bytes: int) -> Flows:
    inside = topology.island_of[:, None] == topology.island_of
    return Flows.from_matrix(np.where(inside, inside_bytes, between_bytes))


def check_against_single_flows(topology: Topology, inside_bytes: int, between_bytes: int) -> int:
    """The number of kinds."""
    flows = even_flows(topology, inside_bytes, between_bytes)
    rows = uniform_rows(topology, inside_bytes=inside_bytes, between_bytes=between_bytes)
    kinds = find_kinds(topology, rows, most_kinds=len(flows) + 1)
    assert kinds is not None
    result = simulate_kinds(kinds)
    single = simulate_flows(topology, flows, tolerance=None)

    assert kinds.flows.sum() == len(flows)
    np.testing.assert_allclose(
        np.sort(np.repeat(result.finish_s, kinds.flows)), np.sort(single.finish_s), rtol=1e-9
    )
    rank_finish_s = np.zeros(topology.world_size)
    np.maximum.at(rank_finish_s, flows.sources, single.finish_s)
    np.maximum.at(rank_finish_s, flows.destinations, single.finish_s)
    np.testing.assert_allclose(result.rank_finish_s, rank_finish_s, rtol=1e-9)
    assert result.time_s == pytest.approx(single.time_s, rel=1e-9)
    assert result.bound_s == pytest.approx(port_bound(topology, flows).time_s, rel=1e-12)
    return len(kinds.flows)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_even_traffic_on_any_cluster_is_carried_as_if_flow_by_flow(data: st.DataObject) -> None:
    """Unequal islands and shared NICs included: less symmetry gives more kinds, never another answer."""
    topology = data.draw(topologies())
    sizes = st.sampled_from([0, 1000, 50_000])
    check_against_single_flows(topology, data.draw(sizes), data.draw(sizes))


def test_uniform_traffic_has_two_kinds_whatever_the_size() -> None:
    for islands in (2, 5, 16):
        topology = uniform_topology(
            islands=islands, gpus_per_island=4, scale_up_bytes_per_s=4e9, nic_bytes_per_s=1e9
        )
        assert check_against_single_flows(topology, 10_000, 10_000) == 2


@pytest.mark.parametrize(
    ("fabric", "most"),
    [
        ({"kind": "rail_only"}, 3),  # inside, along a rail, across rails
        (
            {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": "4:1"},
            3,
        ),  # inside, same leaf, far
        ({"kind": "torus", "dims": [8], "link_bandwidth": "2 GB/s"}, 9),  # inside, and by hops either way
    ],
)
def test_regular_fabrics_have_few_kinds(fabric: dict[str, object], most: int) -> None:
    spec = {
        "name": "regular",
        "islands": 8,
        "gpus_per_island": 4,
        "scale_up": {"bandwidth": "4 GB/s"},
        "scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric},
    }
    assert (
        check_against_single_flows(build_topology(TopologySpec.model_validate(spec)), 10_000, 10_000) <= most
    )


def test_one_slower_nic_is_a_colour_of_its_own() -> None:
    spec = {
        "name": "one_slow",
        "islands": 4,
        "gpus_per_island": 2,
        "scale_up": {"bandwidth": "4 GB/s"},
        "scale_out": {"nic_bandwidth": "1 GB/s"},
        "overrides": [{"target": "nic/3", "bandwidth": "0.5 GB/s"}],
    }
    assert check_against_single_flows(build_topology(TopologySpec.model_validate(spec)), 10_000, 10_000) > 2


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_traffic_without_symmetry_is_refused_not_approximated(data: st.DataObject) -> None:
    topology = data.draw(topologies())
    flows = data.draw(traffic(topology))
    distinct = len(np.unique(flows.bytes))

    def rows(start: int, stop: int) -> Flows:
        own = (flows.sources >= start) & (flows.sources < stop)
        return Flows(flows.sources[own], flows.destinations[own], flows.bytes[own])

    kinds = find_kinds(topology, rows, most_kinds=3)
    assert kinds is None or distinct <= 3


def test_capacities_that_change_in_time_have_no_lasting_kinds() -> None:
    spec = {
        "name": "changing",
        "islands": [1, 1],
        "scale_out": {"nic_bandwidth": "1 GB/s"},
        "perturb": [{"target": "nic/0", "from": "1 s", "until": "2 s", "factor": 0.5}],
    }
    topology = build_topology(TopologySpec.model_validate(spec))
    assert find_kinds(topology, uniform_rows(topology, inside_bytes=1, between_bytes=1)) is None


def test_2048_ranks_keep_no_flow() -> None:
    """4,192,256 flows as two kinds: (W - 8) MB over 25 GB/s."""
    topology = uniform_topology(
        islands=256, gpus_per_island=8, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9
    )
    kinds = find_kinds(topology, uniform_rows(topology, inside_bytes=10**6, between_bytes=10**6))
    assert kinds is not None
    result = simulate_kinds(kinds)
    assert kinds.flows.tolist() == [2048 * 7, 2048 * 2040]
    assert result.time_s == pytest.approx(2040e6 / 25e9, rel=1e-12)
    assert result.solves == 2
