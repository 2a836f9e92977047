"""Whatever the matrix, the islands and the algorithm: what a rank is to receive arrives, and crosses once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.arrays import IntArray
from simulator.collectives.all_to_all import AllToAllAlgorithm, all_to_all
from simulator.collectives.stage import Stage
from simulator.topology.build import build_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Topology


@st.composite
def traffic(draw: st.DrawFn) -> tuple[Topology, IntArray]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    topology = build_topology(
        TopologySpec(
            name="drawn",
            islands=sizes,
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    matrix = generator.integers(0, draw(st.sampled_from([2, 1000, 2**40])), (sum(sizes), sum(sizes)))
    matrix[generator.random(sum(sizes)) < draw(st.sampled_from([0.0, 0.5]))] = 0
    return topology, matrix


def move(stage: Stage, held: IntArray) -> IntArray:
    """What ranks hold after a stage; nobody sends what it does not hold."""
    flows = stage.flows
    left = held.copy()
    np.subtract.at(left, flows.sources, flows.bytes)
    assert (left >= 0).all()
    np.add.at(left, flows.destinations, flows.bytes)
    return left


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
@settings(deadline=None, max_examples=100)
@given(drawn=traffic())
def test_bytes_are_conserved(algorithm: AllToAllAlgorithm, drawn: tuple[Topology, IntArray]) -> None:
    topology, matrix = drawn
    held = matrix.sum(axis=1)
    for stage in all_to_all(topology, matrix, algorithm=algorithm):
        held = move(stage, held)
    assert held.tolist() == matrix.sum(axis=0).tolist()


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
@settings(deadline=None, max_examples=100)
@given(drawn=traffic())
def test_a_byte_crosses_islands_exactly_once(
    algorithm: AllToAllAlgorithm, drawn: tuple[Topology, IntArray]
) -> None:
    topology, matrix = drawn
    islands = topology.island_of
    to_cross = np.zeros((topology.island_count, topology.island_count), dtype=np.int64)
    np.add.at(to_cross, (islands[:, None], islands), matrix)
    crossed = np.zeros_like(to_cross)
    for stage in all_to_all(topology, matrix, algorithm=algorithm):
        flows = stage.flows
        np.add.at(crossed, (islands[flows.sources], islands[flows.destinations]), flows.bytes)
    np.fill_diagonal(to_cross, 0)
    np.fill_diagonal(crossed, 0)
    assert (crossed == to_cross).all()


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
@settings(deadline=None, max_examples=100)
@given(drawn=traffic())
def test_flows_are_distinct_pairs_of_different_ranks_with_bytes(
    algorithm: AllToAllAlgorithm, drawn: tuple[Topology, IntArray]
) -> None:
    topology, matrix = drawn
    for stage in all_to_all(topology, matrix, algorithm=algorithm):
        flows = stage.flows
        assert (flows.sources != flows.destinations).all()
        assert (flows.bytes > 0).all()
        keys = flows.sources.astype(np.int64) * topology.world_size + flows.destinations
        assert (np.diff(keys) > 0).all()
