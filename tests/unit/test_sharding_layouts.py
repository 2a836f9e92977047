"""Blocks of rows, and the layouts that policies choose from."""

import numpy as np
import pytest

from simulator.sharding.layouts import (
    column_owners,
    global_owners,
    global_rows,
    groups,
    island,
    replicated,
    shard_bounds,
    shard_sizes,
    single_owner,
)
from simulator.sharding.plan import Tier
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec


@pytest.fixture
def topology():
    return uniform_topology(islands=2, gpus_per_island=4, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e8)


@pytest.mark.parametrize(
    ("rows", "owners", "sizes"),
    [
        (10, 4, [3, 3, 3, 1]),
        (5, 4, [2, 2, 1, 0]),
        (1, 8, [1, 0, 0, 0, 0, 0, 0, 0]),
        (8, 4, [2, 2, 2, 2]),
        (0, 3, [0, 0, 0]),
        (7, 1, [7]),
        (2**60 + 1, 4, [2**58 + 1, 2**58 + 1, 2**58 + 1, 2**58 - 2]),
        (2**62, 3, [1537228672809129302, 1537228672809129302, 1537228672809129300]),
    ],
)
def test_blocks_are_full_then_shorter_then_empty(rows, owners, sizes):
    assert shard_sizes(rows, owners).tolist() == sizes
    assert shard_bounds(rows, owners).tolist() == [0, *np.cumsum(sizes).tolist()]
    assert shard_bounds(rows, owners).dtype == np.int64


@pytest.mark.parametrize("owners", [1, 2, 3, 7, 64])
def test_blocks_cover_every_row_once_and_the_first_is_the_largest(owners):
    for rows in range(200):
        sizes = shard_sizes(rows, owners)
        assert sizes.sum() == rows
        assert sizes[0] == -(-rows // owners)
        assert (np.diff(sizes) <= 0).all()


def test_replicated_rows_are_read_from_the_own_copy(topology):
    layout = replicated(topology)
    assert layout.tier is Tier.REPLICATED
    assert layout.copies == tuple((rank,) for rank in range(8))
    assert layout.copy_of == tuple(range(8))


def test_island_rows_have_a_copy_in_every_island(topology):
    layout = island(topology)
    assert layout.tier is Tier.ISLAND
    assert layout.copies == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert layout.copy_of == (0, 0, 0, 0, 1, 1, 1, 1)


def test_islands_of_unequal_size_are_real_members():
    spec = TopologySpec(
        name="uneven",
        islands=(3, 1, 2),
        scale_up=ScaleUpSpec(bandwidth="10 GB/s"),
        scale_out=ScaleOutSpec(nic_bandwidth="1 GB/s"),
    )
    layout = island(build_topology(spec))
    assert layout.copies == ((0, 1, 2), (3,), (4, 5))
    assert layout.copy_of == (0, 0, 0, 1, 2, 2)


def test_global_layouts_have_one_copy_that_all_read(topology):
    assert global_rows(topology).copies == (tuple(range(8)),)
    assert single_owner(8, 5).copies == ((5,),)
    assert column_owners(8, (6, 1)).copies == ((6, 1),)
    for layout in (global_rows(topology), single_owner(8, 5), column_owners(8, (6, 1))):
        assert layout.tier is Tier.GLOBAL
        assert layout.copy_of == (0,) * 8
    assert column_owners(8, (6, 1)).split == "columns"
    assert single_owner(8, 5).split == "rows"


def test_groups_are_ranks_in_a_row_and_the_last_may_be_smaller():
    layout = groups(8, 3)
    assert layout.tier is Tier.GROUP
    assert layout.copies == ((0, 1, 2), (3, 4, 5), (6, 7))
    assert layout.copy_of == (0, 0, 0, 1, 1, 1, 2, 2)


def test_a_group_of_all_is_global_and_groups_of_one_are_replicas(topology):
    assert groups(8, 8) is global_rows(topology)
    assert groups(8, 9) is global_rows(topology)
    assert groups(8, 1) is replicated(topology)


def test_equal_layouts_are_one_value(topology):
    again = uniform_topology(islands=2, gpus_per_island=4, scale_up_bytes_per_s=5e9, nic_bytes_per_s=3e8)
    assert island(topology) is island(again)
    assert replicated(topology) is replicated(again)
    assert global_rows(topology) is global_owners(8, tuple(range(8)))
    assert single_owner(8, 3) is single_owner(8, 3)
    assert groups(8, 4) is groups(8, 4)
    assert groups(8, 4) is not island(topology)
