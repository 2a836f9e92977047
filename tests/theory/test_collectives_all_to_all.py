"""Bytes on every port and numbers of messages of the all-to-all algorithms, worked out by hand."""

from typing import Literal

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.collectives.all_to_all import all_to_all
from simulator.collectives.stage import Stage
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Topology

PAIR = 1000


def cluster(islands: int, size: int) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=100e9, nic_bytes_per_s=10e9
    )


def even(topology: Topology) -> IntArray:
    return np.full((topology.world_size, topology.world_size), PAIR, dtype=np.int64)


def sent(topology: Topology, stage: Stage, tier: Literal["scale_up", "nic"]) -> list[int]:
    """Bytes that each rank sends on one tier."""
    flows = stage.flows
    crosses = topology.island_of[flows.sources] != topology.island_of[flows.destinations]
    chosen = crosses if tier == "nic" else ~crosses
    return (
        np.bincount(flows.sources[chosen], flows.bytes[chosen], minlength=topology.world_size)
        .astype(int)
        .tolist()
    )


def received(topology: Topology, stage: Stage, tier: Literal["scale_up", "nic"]) -> list[int]:
    turned = Stage(type(stage.flows)(stage.flows.destinations, stage.flows.sources, stage.flows.bytes))
    return sent(topology, turned, tier)


def messages(topology: Topology, stage: Stage) -> list[int]:
    """Messages that each rank sends to other islands."""
    flows = stage.flows
    crosses = topology.island_of[flows.sources] != topology.island_of[flows.destinations]
    return np.bincount(flows.sources[crosses], minlength=topology.world_size).tolist()


def test_direct_sends_every_pair_at_once() -> None:
    topology = cluster(3, 4)
    (stage,) = all_to_all(topology, even(topology))
    assert len(stage.flows) == 12 * 11
    assert sent(topology, stage, "scale_up") == received(topology, stage, "scale_up") == [3 * PAIR] * 12
    assert sent(topology, stage, "nic") == received(topology, stage, "nic") == [8 * PAIR] * 12
    assert messages(topology, stage) == [8] * 12


def test_rail_hands_over_inside_the_island_and_sends_one_message_an_island() -> None:
    topology = cluster(3, 4)
    hand_over, exchange = all_to_all(topology, even(topology), algorithm="rail")
    # to each of 3 mates: what is its own, and what it passes on to 2 islands
    assert (
        sent(topology, hand_over, "scale_up") == received(topology, hand_over, "scale_up") == [9 * PAIR] * 12
    )
    assert sent(topology, hand_over, "nic") == [0] * 12
    assert sent(topology, exchange, "scale_up") == [0] * 12
    assert sent(topology, exchange, "nic") == received(topology, exchange, "nic") == [8 * PAIR] * 12
    assert messages(topology, exchange) == [2] * 12
    assert set(exchange.flows.bytes.tolist()) == {4 * PAIR}


def test_rail_stays_on_its_rail() -> None:
    topology = cluster(4, 3)
    _, exchange = all_to_all(topology, even(topology), algorithm="rail")
    index = topology.local_index
    assert (index[exchange.flows.sources] == index[exchange.flows.destinations]).all()


def test_hierarchical_with_as_many_other_islands_as_local_ranks_is_one_message_a_rank() -> None:
    topology = cluster(4, 3)
    gather, exchange, spread = all_to_all(topology, even(topology), algorithm="hierarchical")
    # a rank keeps what it leads; to 2 mates it sends theirs, and the 3 pairs of the island they lead
    assert sent(topology, gather, "scale_up") == received(topology, gather, "scale_up") == [8 * PAIR] * 12
    assert sent(topology, exchange, "nic") == received(topology, exchange, "nic") == [9 * PAIR] * 12
    assert messages(topology, exchange) == [1] * 12
    assert set(exchange.flows.bytes.tolist()) == {9 * PAIR}
    # a leader keeps 3 pairs and hands 3 to each of 2 mates
    assert sent(topology, spread, "scale_up") == received(topology, spread, "scale_up") == [6 * PAIR] * 12


def test_hierarchical_exchanges_between_equal_local_ranks_both_ways() -> None:
    topology = cluster(6, 4)
    _, exchange, _ = all_to_all(topology, even(topology), algorithm="hierarchical")
    index = topology.local_index
    assert (index[exchange.flows.sources] == index[exchange.flows.destinations]).all()
    pairs = set(zip(exchange.flows.sources.tolist(), exchange.flows.destinations.tolist(), strict=True))
    assert pairs == {(destination, source) for source, destination in pairs}


@pytest.mark.parametrize(
    ("islands", "size"), [(2, 8), (3, 8), (4, 8), (5, 4), (8, 7), (9, 8), (16, 8), (33, 8)]
)
def test_leaders_are_loaded_alike(islands: int, size: int) -> None:
    """As evenly as whole messages can be, with one round-robin round idle in each island when islands are odd."""
    topology = cluster(islands, size)
    stages = all_to_all(topology, even(topology), algorithm="hierarchical")
    exchange = stages[1]
    rounds = islands - 1 + islands % 2
    assert max(messages(topology, exchange)) == -(-rounds // size)
    assert len(exchange.flows) == islands * (islands - 1) * max(size // rounds, 1)


def test_hierarchical_between_two_islands_is_the_rail() -> None:
    topology = cluster(2, 4)
    by_leaders = all_to_all(topology, even(topology), algorithm="hierarchical")
    by_rail = all_to_all(topology, even(topology), algorithm="rail")
    assert len(by_leaders) == len(by_rail) == 2
    for mine, theirs in zip(by_leaders, by_rail, strict=True):
        assert mine.flows.sources.tolist() == theirs.flows.sources.tolist()
        assert mine.flows.destinations.tolist() == theirs.flows.destinations.tolist()
        assert mine.flows.bytes.tolist() == theirs.flows.bytes.tolist()


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
def test_one_island_has_one_stage_on_scale_up(algorithm: Literal["direct", "hierarchical", "rail"]) -> None:
    topology = cluster(1, 5)
    (stage,) = all_to_all(topology, even(topology), algorithm=algorithm)
    assert sent(topology, stage, "scale_up") == [4 * PAIR] * 5
    assert sent(topology, stage, "nic") == [0] * 5


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
def test_islands_of_one_rank_send_direct(algorithm: Literal["direct", "hierarchical", "rail"]) -> None:
    topology = cluster(5, 1)
    (stage,) = all_to_all(topology, even(topology), algorithm=algorithm)
    assert len(stage.flows) == 20
    assert sent(topology, stage, "nic") == [4 * PAIR] * 5


@pytest.mark.parametrize("algorithm", ["direct", "hierarchical", "rail"])
def test_a_diagonal_moves_nothing(algorithm: Literal["direct", "hierarchical", "rail"]) -> None:
    topology = cluster(2, 2)
    assert all_to_all(topology, np.diag([5, 6, 7, 8]), algorithm=algorithm) == ()


def test_a_group_uses_only_its_own_ranks_as_leaders_and_rail_mates() -> None:
    topology = cluster(3, 4)
    group = (1, 3, 5, 7, 10, 11)
    for algorithm in ("direct", "hierarchical", "rail"):
        for stage in all_to_all(topology, even(topology), algorithm=algorithm, ranks=group):
            assert set(stage.flows.sources.tolist()) | set(stage.flows.destinations.tolist()) <= set(group)


def test_a_group_moves_only_what_lies_between_its_ranks() -> None:
    topology = cluster(2, 4)
    matrix = np.arange(64).reshape(8, 8)
    (stage,) = all_to_all(topology, matrix, ranks=(6, 1))
    moved = zip(stage.flows.sources, stage.flows.destinations, stage.flows.bytes, strict=True)
    assert sorted(tuple(map(int, flow)) for flow in moved) == [(1, 6, 14), (6, 1, 49)]


def test_rail_in_islands_of_unequal_size_wraps_the_place() -> None:
    topology = build_topology(
        TopologySpec(
            name="uneven",
            islands=[2, 3],
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )
    matrix = np.zeros((5, 5), dtype=np.int64)
    matrix[1, 4] = PAIR  # local index 2 has no mate in an island of 2: local index 0 takes it
    hand_over, exchange = all_to_all(topology, matrix, algorithm="rail")
    assert (hand_over.flows.sources.tolist(), hand_over.flows.destinations.tolist()) == ([1], [0])
    assert (exchange.flows.sources.tolist(), exchange.flows.destinations.tolist()) == ([0], [4])
