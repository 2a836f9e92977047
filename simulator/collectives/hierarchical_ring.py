"""Reduce-scatter and all-gather in two levels: among equal local ranks of all islands, and within each island.

Theory of operation. Column i is the members with local index i, one an island. An all-gather first gathers each
column across the islands, a ring a column, and then within each island what its columns hold. A reduce-scatter
is the same backwards. An island with fewer members than another serves column i with its member i modulo its
size. Members may own chunks of different size, or nothing.
"""

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.communicator import Communicator
from simulator.collectives.ring import Rings


def column_rings(members: Communicator, chunk_bytes: IntArray) -> Rings:
    """A ring a column over the islands; `chunk_bytes` [members] is what each owns."""
    sizes = members.island_sizes
    column, island = np.indices((sizes.max(), len(sizes)), dtype=np.int32)
    chunks = np.zeros(column.shape, dtype=np.int64)
    chunks[members.local_index, members.island_of] = chunk_bytes
    return Rings(members.rank_at(island, column), chunks)


def rings_within_islands(members: Communicator, columns: Rings) -> list[Rings]:
    """A ring an island, in which a member owns all that its columns hold."""
    column_bytes = columns.chunk_bytes.sum(axis=1)
    rings = []
    for island in members.islands:
        held = np.zeros(len(island), dtype=np.int64)
        np.add.at(held, np.arange(len(column_bytes)) % len(island), column_bytes)
        rings.append(Rings(island[None, :], held[None, :]))
    return rings
