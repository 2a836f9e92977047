"""A `Communicator`: the ranks that take part in a collective, island by island."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.errors import UserError
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Communicator:
    """Members in the caller's order, and the same members by island, numbered as they first appear.

    A member's local index is its place among the members of its island, so that a subgroup of an island's
    ranks has local indices 0, 1, ... like a whole island.
    """

    ranks: IndexArray  # [members] global ranks
    islands: tuple[IndexArray, ...]  # global ranks of each island's members
    island_of: IndexArray  # [members] index into `islands`
    local_index: IndexArray  # [members] index into the island's members

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def island_sizes(self) -> IndexArray:
        """Members in each island."""
        return np.array([len(island) for island in self.islands], dtype=np.int32)

    def rank_at(self, island: IndexArray, local_index: IndexArray) -> IndexArray:
        """Global ranks of the members with these places; local indices wrap at the island's size."""
        sizes = self.island_sizes
        starts = np.cumsum(sizes) - sizes
        ranks: IndexArray = np.concatenate(self.islands)[starts[island] + local_index % sizes[island]]
        return ranks


def communicator(topology: Topology, ranks: Sequence[int] | None = None) -> Communicator:
    """The communicator of `ranks` (the whole cluster when None).

    UserError for no rank at all, an unknown one or a repeated one.
    """
    members = np.arange(topology.world_size) if ranks is None else np.array(ranks, dtype=np.int64)
    _check(members, topology.world_size)
    _, first, inverse = np.unique(topology.island_of[members], return_index=True, return_inverse=True)
    island_of = np.argsort(np.argsort(first))[inverse]
    islands = tuple(members[island_of == island].astype(np.int32) for island in range(len(first)))
    local_index = np.zeros(len(members), dtype=np.int32)
    for island, inside in enumerate(islands):
        local_index[island_of == island] = np.arange(len(inside))
    return Communicator(members.astype(np.int32), islands, island_of.astype(np.int32), local_index)


def _check(members: IntArray, world_size: int) -> None:
    if not len(members):
        raise UserError("collective: it has no ranks, at least one is needed")
    outside = members[(members < 0) | (members >= world_size)]
    if len(outside):
        raise UserError(f"collective: rank {outside[0]} does not exist, ranks are 0 to {world_size - 1}")
    values, counts = np.unique(members, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"collective: rank {values[counts > 1][0]} is named twice")
