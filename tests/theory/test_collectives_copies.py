"""Sums over copies: against the plain ring, against per-local-rank rings, and by hand for unequal shards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.collectives.all_reduce import all_reduce
from simulator.collectives.copies import sum_copies
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology


def cluster(islands: int, size: int) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=100e9, nic_bytes_per_s=10e9
    )


def edges(flows: Flows) -> dict[tuple[int, int], int]:
    pairs = zip(flows.sources.tolist(), flows.destinations.tolist(), strict=True)
    return dict(zip(pairs, flows.bytes.tolist(), strict=True))


def test_one_owner_a_copy_is_the_plain_ring() -> None:
    topology = cluster(3, 4)
    (stage,) = sum_copies(topology, [(rank,) for rank in range(12)], [np.array([12_000])] * 12)
    (ring,) = all_reduce(topology, range(12), 12_000, algorithm="flat_ring")
    assert edges(stage.flows) == edges(ring.flows)
    assert stage.latency_steps == ring.latency_steps == 22


def test_equal_islands_are_rings_among_equal_local_ranks() -> None:
    topology = cluster(3, 4)
    chunks = np.array([900, 600, 300, 0])
    (stage,) = sum_copies(topology, topology.islands, [chunks] * 3)
    expected = {
        (4 * island + index, 4 * ((island + 1) % 3) + index): 2 * 2 * int(chunks[index]) // 3
        for island in range(3)
        for index in range(3)
    }
    assert edges(stage.flows) == expected
    assert stage.latency_steps == 4


def test_shards_that_overlap_by_hand() -> None:
    """Copy 0 holds [0, 60), [60, 90); copy 1 holds [0, 30), [30, 90): three intervals of 30 B, two copies."""
    topology = cluster(2, 2)
    (stage,) = sum_copies(topology, [(0, 1), (2, 3)], [np.array([60, 30]), np.array([30, 60])])
    assert edges(stage.flows) == {(0, 2): 30, (0, 3): 30, (1, 3): 30, (2, 0): 30, (3, 0): 30, (3, 1): 30}


def test_copies_are_visited_island_by_island() -> None:
    """Copies on ranks 0, 2, 1, 3 in two islands: the ring goes 0, 1, 2, 3 and crosses twice, not four times."""
    topology = cluster(2, 2)
    (stage,) = sum_copies(topology, [(0,), (2,), (1,), (3,)], [np.array([400])] * 4)
    assert edges(stage.flows) == {(0, 1): 600, (1, 2): 600, (2, 3): 600, (3, 0): 600}


def test_one_copy_and_empty_copies_need_no_stage() -> None:
    topology = cluster(2, 2)
    assert sum_copies(topology, [(0, 1, 2, 3)], [np.array([1, 2, 3, 4])]) == ()
    assert sum_copies(topology, [(0, 1), (2, 3)], [np.array([0, 0])] * 2) == ()
    assert sum_copies(topology, [], []) == ()


def test_copies_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^copies of \[30, 31\] bytes, all must hold the same$"):
        sum_copies(cluster(2, 2), [(0, 1), (2, 3)], [np.array([10, 20]), np.array([15, 16])])


@st.composite
def drawn_copies(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Copies over consecutive ranks, each with its own cuts of the same few bytes."""
    total_bytes = draw(st.integers(0, 40))
    owners: list[list[int]] = []
    shards: list[list[int]] = []
    for size in draw(st.lists(st.integers(1, 4), min_size=2, max_size=5)):
        first = sum(map(len, owners))
        cuts = sorted(draw(st.lists(st.integers(0, total_bytes), min_size=size - 1, max_size=size - 1)))
        owners.append(list(range(first, first + size)))
        shards.append(np.diff([0, *cuts, total_bytes]).tolist())
    return owners, shards


@settings(deadline=None, max_examples=100)
@given(drawn=drawn_copies())
def test_every_byte_goes_round_its_owners(drawn: tuple[list[list[int]], list[list[int]]]) -> None:
    """Byte by byte: an edge carries 2 (C - 1) / C of the bytes that both its ends own, off by the rounding of
    each interval at the most; all edges together carry exactly 2 (C - 1) times the bytes."""
    copies, shards = drawn
    owner_of_byte = [np.repeat(copy, shard) for copy, shard in zip(copies, shards, strict=True)]
    total_bytes, count = len(owner_of_byte[0]), len(copies)
    topology = cluster(1, sum(map(len, copies)))
    stages = sum_copies(topology, copies, [np.array(shard) for shard in shards])
    carried = edges(stages[0].flows) if stages else {}
    assert sum(carried.values()) == 2 * (count - 1) * total_bytes
    intervals = len({tuple(owners) for owners in zip(*owner_of_byte, strict=True)})
    for copy in range(count):
        here, there = owner_of_byte[copy], owner_of_byte[(copy + 1) % count]
        for pair in set(zip(here.tolist(), there.tolist(), strict=True)):
            shared_bytes = int(((here == pair[0]) & (there == pair[1])).sum())
            assert abs(carried.get(pair, 0) - 2 * (count - 1) / count * shared_bytes) <= 2 * intervals
