"""Adds up who asks whom for what, table after table.

Theory of operation. Layouts repeat from table to table, so requests are added up per reader and owner of a
layout and only then spread over a W x W matrix. Two things are counted: the bytes of requests, and the elements
(columns of rows) that answer them; embeddings and gradients are elements times the bytes of one.

A request is a list of ids, 8 bytes each, with what its owner needs to read it. Without dedup an owner of a whole
table, or of columns of it, gets the ids as they are, and the length of every sample, 4 bytes each, as TorchRec's
KeyedJaggedTensor has them. An owner of some rows gets a list out of many samples: it answers in the order of the
list, and the reader knows what belongs where, so one 4-byte number of ids a table does. So it does for a list of
distinct ids. (TorchRec sends the lengths of every sample to each owner of rows as well; un-pooled rows need
none of them.) Nothing is sent to an owner of whom no row is asked.

With pools (`dedup: island`) an owner on another island is asked once for a row by all ranks of a pool, through
their mate: what ranks ask of mates, and mates of owners, are two matrices.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.traffic.readers import Readers

ID_BYTES = 8
LENGTH_BYTES = 4


@dataclass(frozen=True, eq=False)
class Requests:
    """What some ranks ask of others; arrays [asking, asked] int64, which grow by `add`."""

    request_bytes: IntArray
    elements: IntArray

    @classmethod
    def none(cls, *shape: int) -> "Requests":
        return cls(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    def add(self, rows: IntArray, columns: IntArray, header_bytes: IntArray | int) -> None:
        """`rows` [asking, asked] of `columns` [asked] each; `header_bytes` [asking, 1] a list that is not empty."""
        asked = (rows > 0) & (columns > 0)
        self.request_bytes[...] += np.where(asked, ID_BYTES * rows + header_bytes, 0)
        self.elements[...] += rows * columns

    def spread(self, world: "Requests", asking: IndexArray, asked: IndexArray, where: IntArray) -> None:
        """Add the entries at `where` (flat) to `world`, [world_size, world_size], by the ranks of this shape."""
        pairs = (asking.ravel()[where], asked.ravel()[where])
        np.add.at(world.request_bytes, pairs, self.request_bytes.ravel()[where])
        np.add.at(world.elements, pairs, self.elements.ravel()[where])


class Tally:
    """The requests of one set of readers, and of their pools if any has an owner on another island."""

    def __init__(self, readers: Readers, *, pooled: bool) -> None:
        self.readers = readers
        self.pooled = pooled and bool(readers.outside.any())
        self._own = Requests.none(*readers.owners.shape)
        self._pools = Requests.none(*readers.mates.shape) if self.pooled else None

    def add(self, rows: IntArray, columns: IntArray, header_bytes: IntArray | int) -> None:
        """One table's rows [readers, owners] (or one number for all owners), with that many columns each."""
        self._own.add(np.broadcast_to(rows, self.readers.owners.shape), columns, header_bytes)

    def add_pooled(self, rows: IntArray, columns: IntArray) -> None:
        """The same table's rows by pool: [pools, owners]. Only where the tally is `pooled`."""
        assert self._pools is not None
        self._pools.add(np.broadcast_to(rows, self.readers.mates.shape), columns, LENGTH_BYTES)

    def spread(self, asked: Requests, gathered: Requests | None) -> None:
        """Add what owners are asked to `asked`, and what mates are to `gathered`, which pools need."""
        readers, pool_of = self.readers, self.readers.pool_of
        ranks = np.broadcast_to(readers.ranks[:, None], readers.owners.shape)
        through_mate = readers.outside & self.pooled
        direct = np.flatnonzero(~through_mate[pool_of])
        self._own.spread(asked, ranks, readers.owners, direct)
        if self._pools is not None and gathered is not None:
            self._own.spread(gathered, ranks, readers.mates[pool_of], np.flatnonzero(through_mate[pool_of]))
            self._pools.spread(asked, readers.mates, readers.pool_owners, np.flatnonzero(through_mate))
