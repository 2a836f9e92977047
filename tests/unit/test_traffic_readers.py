"""Who reads which copy, how readers pool, and through whom they ask."""

import numpy as np
import pytest

from simulator.sharding import layouts
from simulator.sharding.plan import Layout, Tier
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.traffic.groups import groups_by_tier
from simulator.traffic.readers import readers_of


def cluster(*sizes: int) -> Topology:
    spec = {
        "name": "test",
        "islands": list(sizes),
        "scale_up": {"bandwidth": "100 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
    }
    return build_topology(TopologySpec.model_validate(spec))


def test_every_rank_reads_its_own_replica() -> None:
    (readers,) = readers_of(layouts.replicated(cluster(2, 2)), cluster(2, 2))
    assert readers.ranks.tolist() == [0, 1, 2, 3]
    assert readers.owners.tolist() == [[0], [1], [2], [3]]
    assert not readers.outside.any()


def test_unequal_islands_are_readers_of_two_sizes() -> None:
    topology = cluster(3, 2, 3)
    small, large = readers_of(layouts.island(topology), topology)
    assert small.ranks.tolist() == [3, 4]
    assert small.owners.tolist() == [[3, 4], [3, 4]]
    assert large.ranks.tolist() == [0, 1, 2, 5, 6, 7]
    assert large.owners.tolist() == [[0, 1, 2]] * 3 + [[5, 6, 7]] * 3
    assert large.pool_starts.tolist() == [0, 3]


def test_mates_have_the_local_index_of_the_owner() -> None:
    topology = cluster(4, 4)
    (readers,) = readers_of(layouts.global_rows(topology), topology)
    assert readers.pool_of.tolist() == [0] * 4 + [1] * 4
    assert readers.mates.tolist() == [[0, 1, 2, 3, 0, 1, 2, 3], [4, 5, 6, 7, 4, 5, 6, 7]]
    assert readers.outside.tolist() == [[False] * 4 + [True] * 4, [True] * 4 + [False] * 4]


def test_mates_wrap_in_a_smaller_island() -> None:
    topology = cluster(4, 2)
    (readers,) = readers_of(layouts.global_rows(topology), topology)
    assert readers.mates[1].tolist() == [4, 5, 4, 5, 4, 5]
    assert readers.mates[0].tolist() == [0, 1, 2, 3, 0, 1]


def test_groups_over_islands_pool_by_island_and_copy() -> None:
    """Strided groups: even and odd ranks. Two of an island read the same copy."""
    topology = cluster(4, 4)
    copies = ((0, 2, 4, 6), (1, 3, 5, 7))
    (readers,) = readers_of(Layout(Tier.GROUP, copies, (0, 1) * 4), topology)
    assert readers.ranks.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert readers.pool_starts.tolist() == [0, 2, 4, 6]
    assert readers.mates.tolist() == [[0, 2, 0, 2], [4, 6, 4, 6], [1, 3, 1, 3], [5, 7, 5, 7]]
    assert readers.outside.tolist() == [[False, False, True, True], [True, True, False, False]] * 2


@pytest.mark.parametrize("sizes", [(4, 4), (8, 4, 3), (1, 1, 1), (5,)])
def test_pooled_sums_and_maxima(sizes: tuple[int, ...]) -> None:
    topology = cluster(*sizes)
    (readers,) = readers_of(layouts.global_rows(topology), topology)
    values = np.arange(topology.world_size * 2).reshape(-1, 2)
    expected = [values[list(island)].sum(axis=0).tolist() for island in topology.islands]
    assert readers.pooled_sum(values).tolist() == expected
    assert readers.pooled_max(values).tolist() == [
        values[list(island)].max(axis=0).tolist() for island in topology.islands
    ]
    for pool, island in enumerate(topology.islands):
        assert set(readers.mates[pool].tolist()) <= set(island)


def test_groups_of_the_tiers() -> None:
    topology = cluster(4, 4)
    used = [
        layouts.replicated(topology),
        layouts.island(topology),
        layouts.groups(8, 2),
        layouts.single_owner(8, 3),
    ]
    groups = groups_by_tier(used, 8)
    assert list(groups) == [Tier.REPLICATED, Tier.ISLAND, Tier.GLOBAL, Tier.GROUP]
    assert groups[Tier.ISLAND] == topology.islands
    assert groups[Tier.GROUP] == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert groups[Tier.GLOBAL] == (tuple(range(8)),)


def test_groups_that_share_a_rank_are_one() -> None:
    """Two tables placed in one group each, on different owners of it; a third ties two groups together."""
    first = Layout(Tier.GROUP, ((0,), (2,)), (0, 0, 1, 1))
    second = Layout(Tier.GROUP, ((1,), (3,)), (0, 0, 1, 1))
    assert groups_by_tier([first, second], 4)[Tier.GROUP] == ((0, 1), (2, 3))
    across = Layout(Tier.GROUP, ((1, 2), (3, 0)), (0, 0, 1, 1))
    assert groups_by_tier([first, across], 4)[Tier.GROUP] == ((0, 1, 2, 3),)
