"""The layouts that policies choose from, and the arithmetic of contiguous blocks.

A run of rows over k owners is cut into blocks of ceil(rows / k): full ones first, then a shorter one, then
empty ones. Columns are cut alike. Equal layouts are one value, so that segments placed alike are told by
identity.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from simulator.arrays import IntArray
from simulator.sharding.plan import Layout, Tier
from simulator.topology.topology import Topology

Ranks = tuple[int, ...]


def shard_bounds(rows: int, owners: int) -> IntArray:
    """Where each owner's block of `rows` rows begins and ends: [owners + 1] int64, exact up to 2^62 rows."""
    block = -(-rows // owners)
    full = rows // max(block, 1)  # blocks; no product below goes beyond the rows
    bounds = np.minimum(np.arange(owners + 1, dtype=np.int64), full) * block
    bounds[full + 1 :] = rows
    return bounds


def shard_sizes(rows: int, owners: int) -> IntArray:
    """How many rows each owner holds: [owners] int64, the first the most."""
    return np.diff(shard_bounds(rows, owners))


def replicated(topology: Topology) -> Layout:
    """A copy on every rank."""
    return _replicated(topology.world_size)


def island(topology: Topology) -> Layout:
    """A copy in every island, row-wise over its ranks."""
    return _copies(Tier.ISLAND, topology.islands)


def global_rows(topology: Topology) -> Layout:
    """One copy, row-wise over all ranks."""
    return global_owners(topology.world_size, tuple(range(topology.world_size)))


def global_owners(world_size: int, owners: Ranks) -> Layout:
    """One copy for all ranks, row-wise over `owners`: one owner is table-wise, an island table-row-wise."""
    return _one_copy(world_size, owners, "rows")


def single_owner(world_size: int, rank: int) -> Layout:
    """One copy, whole, on one rank."""
    return global_owners(world_size, (rank,))


def column_owners(world_size: int, owners: Ranks) -> Layout:
    """One copy for all ranks, its columns over `owners`."""
    return _one_copy(world_size, owners, "columns")


def groups(world_size: int, group_size: int) -> Layout:
    """A copy in every group of `group_size` ranks in a row (the last may be smaller), row-wise over them.

    One group of all ranks is the global layout, groups of one rank are the replicated one.
    """
    if group_size == 1:
        return _replicated(world_size)
    if group_size >= world_size:
        return global_owners(world_size, tuple(range(world_size)))
    starts = range(0, world_size, group_size)
    return _copies(
        Tier.GROUP, tuple(tuple(range(start, min(start + group_size, world_size))) for start in starts)
    )


@cache
def _replicated(world_size: int) -> Layout:
    ranks = tuple(range(world_size))
    return Layout(Tier.REPLICATED, tuple((rank,) for rank in ranks), ranks)


@cache
def _one_copy(world_size: int, owners: Ranks, split: str) -> Layout:
    return Layout(Tier.GLOBAL, (owners,), (0,) * world_size, "columns" if split == "columns" else "rows")


@cache
def _copies(tier: Tier, members: Sequence[Ranks]) -> Layout:
    copy_of = {rank: copy for copy, ranks in enumerate(members) for rank in ranks}
    return Layout(tier, tuple(members), tuple(copy_of[rank] for rank in range(len(copy_of))))
