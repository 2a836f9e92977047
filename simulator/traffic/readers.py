"""`Readers`: the ranks that read copies of one size of a layout, and the pools that dedup makes of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import BoolArray, IndexArray, IntArray
from simulator.sharding.plan import Layout
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Readers:
    """Readers pool by pool: a pool is the ranks of one island that read the same copy.

    Owners outside the pool's island are asked through a *mate*: the member with the owner's local index, so that
    on equal islands requests stay on the owner's rail. A pool without such a member counts round its members.
    """

    layout: Layout
    ranks: IndexArray  # [readers]
    copies: IndexArray  # [readers] the copy that each reads
    owners: IndexArray  # [readers, owners] of that copy
    pool_starts: IndexArray  # [pools] the first reader of each pool
    outside: BoolArray  # [pools, owners] the owner is on another island
    mates: IndexArray  # [pools, owners]

    @cached_property
    def pool_of(self) -> IndexArray:
        """[readers] the pool of each."""
        starts = np.zeros(len(self.ranks), dtype=np.int32)
        starts[self.pool_starts[1:]] = 1
        return np.cumsum(starts, dtype=np.int32)

    @property
    def pool_owners(self) -> IndexArray:
        """[pools, owners] of the copy that the pool reads."""
        return self.owners[self.pool_starts]

    def pooled_sum(self, values: IntArray) -> IntArray:
        """Sums over each pool's readers: [readers, ...] to [pools, ...]."""
        total = values[self.pool_starts]
        for more, pools in self._later_members:
            total[pools] += values[more]
        return total

    def pooled_max(self, values: IntArray) -> IntArray:
        """The most among each pool's readers: [readers, ...] to [pools, ...]."""
        most = values[self.pool_starts]
        for more, pools in self._later_members:
            most[pools] = np.maximum(most[pools], values[more])
        return most

    @cached_property
    def _later_members(self) -> list[tuple[IndexArray, IntArray]]:
        """Every pool's second member, and which pools have one; then the third, and so on."""
        sizes = np.diff(np.append(self.pool_starts, len(self.ranks)))
        having = [np.flatnonzero(sizes > place) for place in range(1, int(sizes.max()))]
        return [
            ((self.pool_starts[pools] + place).astype(np.int32), pools)
            for place, pools in enumerate(having, start=1)
        ]


def readers_of(layout: Layout, topology: Topology) -> tuple[Readers, ...]:
    """The readers of a layout, by the number of owners of their copy."""
    copy_of = np.array(layout.copy_of, dtype=np.int32)
    sizes = np.array([len(owners) for owners in layout.copies], dtype=np.int32)
    order = np.lexsort((topology.island_of, copy_of))
    return tuple(
        _readers(layout, topology, order[sizes[copy_of[order]] == size].astype(np.int32))
        for size in np.unique(sizes[copy_of])
    )


def _readers(layout: Layout, topology: Topology, ranks: IndexArray) -> Readers:
    copies = np.array(layout.copy_of, dtype=np.int32)[ranks]
    islands = topology.island_of[ranks]
    changes = (np.diff(copies) != 0) | (np.diff(islands) != 0)
    pool_starts = np.concatenate([[0], np.flatnonzero(changes) + 1]).astype(np.int32)
    read, copy_index = np.unique(copies, return_inverse=True)
    owners = np.array([layout.copies[copy] for copy in read], dtype=np.int32)[copy_index]
    pool_owners = owners[pool_starts]
    outside = topology.island_of[pool_owners] != islands[pool_starts][:, None]
    mates = np.array(
        [
            _by_local_index(pool, topology)[topology.local_index[asked]]
            for pool, asked in zip(np.split(ranks, pool_starts[1:]), pool_owners, strict=True)
        ]
    )
    return Readers(layout, ranks, copies, owners, pool_starts, outside, mates)


def _by_local_index(pool: IndexArray, topology: Topology) -> IndexArray:
    """[largest island] the member that stands for each local index."""
    members = np.resize(pool, max(topology.island_sizes))
    members[topology.local_index[pool]] = pool
    return members
