"""The pieces that collectives are made of: equal pairs merged, bytes spread, members by island, start-up."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.collectives.communicator import communicator
from simulator.collectives.pairs import merged, spread, stages
from simulator.collectives.startup import startup_s
from simulator.errors import UserError
from simulator.network.flows import Flows
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Startup, Topology


def cluster(*sizes: int) -> Topology:
    return build_topology(
        TopologySpec(
            name="uneven",
            islands=list(sizes),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )


def flows(*triples: tuple[int, int, int]) -> Flows:
    sources, destinations, sent_bytes = zip(*triples, strict=True)
    return Flows(
        np.array(sources, dtype=np.int32),
        np.array(destinations, dtype=np.int32),
        np.array(sent_bytes, dtype=np.int64),
    )


def triples(given: Flows) -> list[tuple[int, int, int]]:
    return list(zip(given.sources.tolist(), given.destinations.tolist(), given.bytes.tolist(), strict=True))


def merge(*given: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    listed = flows(*given)
    return triples(merged(listed.sources, listed.destinations, listed.bytes))


def test_pieces_between_the_same_ranks_become_one_flow_in_order() -> None:
    assert merge((3, 1, 10), (0, 2, 5), (3, 1, 7), (0, 1, 1)) == [(0, 1, 1), (0, 2, 5), (3, 1, 17)]


def test_both_directions_of_a_pair_stay_apart() -> None:
    assert merge((0, 1, 3), (1, 0, 4)) == [(0, 1, 3), (1, 0, 4)]


def test_what_stays_on_its_rank_and_nothing_at_all_are_no_flows() -> None:
    assert merge((2, 2, 100), (0, 1, 0), (1, 2, 8)) == [(1, 2, 8)]


def test_merged_bytes_are_exact_beyond_the_precision_of_floats() -> None:
    assert merge((0, 1, 2**60), (0, 1, 1)) == [(0, 1, 2**60 + 1)]


def test_a_stage_in_which_nothing_moves_is_left_out() -> None:
    empty = Flows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
    some = flows((0, 1, 1))
    kept = stages([(empty, 3), (some, 2)])
    assert [(stage.flows, stage.latency_steps) for stage in kept] == [(some, 2)]


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (1, 4), (7, 3), (1_000_000_000, 48), (2**50 + 1, 7)])
def test_spread_sums_exactly_and_differs_by_one_at_most(total: int, parts: int) -> None:
    shares = spread(total, parts)
    assert shares.sum() == total
    assert shares.max() - shares.min() <= 1


def test_any_run_of_a_spread_is_within_a_byte_of_its_exact_share() -> None:
    shares = spread(1000, 7)
    for start in range(7):
        for stop in range(start, 8):
            assert abs(shares[start:stop].sum() - (stop - start) * 1000 / 7) <= 1


def test_spread_works_on_many_totals_at_once() -> None:
    assert spread(np.array([[3, 4], [0, 9]]), 2).tolist() == [[[2, 1], [2, 2]], [[0, 0], [5, 4]]]


def test_the_whole_cluster_by_island() -> None:
    members = communicator(cluster(2, 3))
    assert [island.tolist() for island in members.islands] == [[0, 1], [2, 3, 4]]
    assert members.island_of.tolist() == [0, 0, 1, 1, 1]
    assert members.local_index.tolist() == [0, 1, 0, 1, 2]


def test_a_subgroup_counts_its_own_islands_and_places() -> None:
    members = communicator(cluster(2, 3, 4), [8, 6, 3])
    assert [island.tolist() for island in members.islands] == [[8, 6], [3]]
    assert members.island_of.tolist() == [0, 0, 1]
    assert members.local_index.tolist() == [0, 1, 0]


def test_places_wrap_in_small_islands() -> None:
    members = communicator(cluster(2, 3))
    island, place = np.array([0, 0, 1], dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
    assert members.rank_at(island, place).tolist() == [1, 0, 4]


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ([], "collective: it has no ranks, at least one is needed"),
        ([0, 5], "collective: rank 5 does not exist, ranks are 0 to 4"),
        ([0, -1], "collective: rank -1 does not exist, ranks are 0 to 4"),
        ([3, 1, 3], "collective: rank 3 is named twice"),
    ],
)
def test_impossible_groups_are_refused(ranks: list[int], text: str) -> None:
    with pytest.raises(UserError, match=f"^{text}$"):
        communicator(cluster(2, 3), ranks)


def with_startup() -> Topology:
    pure = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9)
    return replace(pure, scale_up_startup=Startup(1e-6, 1e-9), scale_out_startup=Startup(5e-6, 2e-9))


def test_start_up_follows_the_rank_that_sends_most() -> None:
    # rank 0 sends 400 + 500 = 900 B, no rank receives more than 500
    assert startup_s(with_startup(), flows((0, 1, 400), (1, 0, 500))) == pytest.approx(1e-6 + 1e-9 * 500**0.5)


def test_start_up_follows_the_rank_that_receives_most_when_that_is_more() -> None:
    crossing = flows((0, 3, 400), (1, 3, 500), (2, 3, 700))
    assert startup_s(with_startup(), crossing) == pytest.approx(5e-6 + 2e-9 * 40)


def test_one_flow_between_islands_makes_it_a_scale_out_collective() -> None:
    inside, crossing = flows((0, 1, 100), (2, 3, 100)), flows((0, 1, 100), (2, 3, 100), (1, 2, 1))
    assert startup_s(with_startup(), inside) == pytest.approx(1e-6 + 1e-8)
    assert startup_s(with_startup(), crossing) == pytest.approx(5e-6 + 2e-9 * 10)


def test_without_bytes_there_is_nothing_to_start() -> None:
    nothing = Flows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
    assert startup_s(with_startup(), nothing) == 0.0
