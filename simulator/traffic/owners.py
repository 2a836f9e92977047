"""Which owner of a copy answers a lookup: the shares of its owners, hot rows one by one.

Theory of operation. A run of rows [start, stop) is laid out by position: a row's position inside the run comes
from the table's shuffle of ids (or is its rank of popularity, in a table sorted by heat), and an owner holds a
block of ceil(rows / owners) positions. Every copy of a run has the same positions, so copies cut alike share
their luck.

    heads   the hottest rows, one by one: each goes to the owner of its position, so that a very hot row loads
            one owner, as it does in a cluster. A table of no more rows than `heads` is exact row by row
    tail    blocks of equally popular rows. In a shuffled table they spread over the positions that the heads
            left free, each owner getting its expected part; in a sorted table they are cut at the owners' ends

Left out: the luck of tail rows. A tail row is colder than any head, so what an owner gets above or below its
part is small against the heads' luck.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.sharding.layouts import shard_bounds
from simulator.traffic.occupancy import Chances, Occupancy
from simulator.workload.popularity.shares import Popularity
from simulator.workload.table import Table

ALIKE = 0.05  # of a row's popularity; counting such rows as equal moves distinct rows by less than 1e-4
BLOCKS_KEPT = 4  # runs, a megabyte each


@dataclass(frozen=True, eq=False)
class Division:
    """The rows of a run, told apart as far as its lookups need it.

    Pieces are equally popular rows that belong to one owner; blocks are equally popular rows of which every
    owner has its part. The share of either is of the run's lookups, all its rows together.
    """

    piece_owner: IntArray  # [pieces]
    piece_rows: IntArray  # [pieces]
    piece_shares: FloatArray  # [pieces]
    block_rows: IntArray  # [blocks]
    block_shares: FloatArray  # [blocks]
    block_parts: FloatArray  # [owners] the part of every block that each owner has; sums to 1


@dataclass(frozen=True, eq=False)
class Owners:
    """How the lookups of one run divide over the owners of one copy of it."""

    rows: IntArray  # [owners] rows that each holds
    shares: FloatArray  # [owners] of the run's lookups; sums to 1
    divide: Callable[
        [], Division
    ]  # anew each time: a division takes megabytes, and only distinct rows need it

    @cached_property
    def occupancy(self) -> Occupancy:
        """How many distinct rows so many lookups of each owner hit; rows that are alike count as equal."""
        division, owned_share = self.divide(), np.where(self.shares > 0, self.shares, 1.0)
        owner, piece_rows, piece_shares = _alike(
            division.piece_owner, division.piece_rows, division.piece_shares
        )
        everyone = np.zeros(len(division.block_rows), dtype=np.int64)
        _, block_rows, block_shares = _alike(everyone, division.block_rows, division.block_shares)
        return Occupancy(
            piece_owner=owner,
            pieces=Chances(piece_rows, piece_shares / piece_rows / owned_share[owner]),
            blocks=Chances(
                division.block_parts[:, None] * block_rows, block_shares / block_rows / owned_share[:, None]
            ),
        )


def _alike(owner: IntArray, rows: IntArray, shares: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Merge an owner's pieces whose rows are equally popular to within `ALIKE`; drop what is never looked up.

    Returns owner, rows and shares of what is left, owners ascending.
    """
    used = shares > 0.0
    owner, rows, shares = owner[used], rows[used], shares[used]
    heat = np.floor(np.log(shares / rows) / ALIKE)
    order = np.lexsort((heat, owner))
    owner, rows, shares, heat = owner[order], rows[order], shares[order], heat[order]
    changes = (np.diff(owner) != 0) | (np.diff(heat) != 0)
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(owner), 1), dtype=np.bool_), changes]))
    if not len(starts):
        return owner, rows, shares
    return owner[starts], np.add.reduceat(rows, starts), np.add.reduceat(shares, starts)


def owners_of(table: Table, start: int, stop: int, owners: int, *, heads: int, seed: int) -> Owners:
    """The shares of `owners` owners in the rows [start, stop) of a table, the hottest `heads` one by one.

    Costs O(heads + blocks + owners), however many rows there are; what is kept of it is O(owners).
    """
    bounds = shard_bounds(stop - start, owners)
    divide = partial(_divided, table, start, stop, bounds, heads, seed)
    rows, division = np.diff(bounds), divide()
    of_pieces = np.bincount(division.piece_owner, division.piece_shares, owners)
    weights = of_pieces + division.block_parts * division.block_shares.sum()
    if not weights.sum() > 0.0:
        weights = rows.astype(np.float64)  # never looked up: as good as uniform
    return Owners(rows, weights / weights.sum(), divide)


def _divided(table: Table, start: int, stop: int, bounds: IntArray, heads: int, seed: int) -> Division:
    """Give each owner its pieces, and of the blocks the part that its free rows are of all free rows."""
    edges, shares = _blocks(table.replayed_popularity, start, stop, heads)
    if table.order == "sorted":
        edges = np.union1d(edges, start + bounds[start + bounds <= edges[-1]])
        shares = table.replayed_popularity.share_between(edges[:-1], edges[1:])
        shares /= shares.sum() or 1.0
    widths = np.diff(edges)
    owned, common = _told_apart((widths == 1) | (table.order == "sorted"))
    piece_owner = _owner_of(table, edges[:-1][owned], start, stop, int(bounds[1]), seed)
    free = np.diff(bounds) - _rows_of(piece_owner, widths[owned], len(bounds) - 1)
    return Division(
        piece_owner=piece_owner,
        piece_rows=widths[owned],
        piece_shares=shares[owned],
        block_rows=widths[common],
        block_shares=shares[common],
        block_parts=free / max(int(free.sum()), 1),
    )


def _told_apart(owned: BoolArray) -> tuple[BoolArray | slice, BoolArray | slice]:
    """Where to find the pieces, and where the blocks: nearly always those come first, and a slice copies nothing."""
    pieces = int(owned.sum())
    if owned[:pieces].all():
        return slice(0, pieces), slice(pieces, None)
    return owned, ~owned


def _rows_of(owner: IntArray, rows: IntArray, owners: int) -> IntArray:
    """[owners] rows of the pieces of each."""
    if len(rows) and rows.max() == 1:
        return np.bincount(owner, minlength=owners)
    return np.bincount(owner, rows, owners).astype(np.int64)


@lru_cache(maxsize=BLOCKS_KEPT)
def _blocks(popularity: Popularity, start: int, stop: int, heads: int) -> tuple[IntArray, FloatArray]:
    """Edges of the popularity's blocks inside the run, which its untouched rows may outlast, and their shares of it.

    Kept, since many tables may have one popularity and be cut alike, and so not to be written.
    """
    blocks = popularity.blocks(heads)
    end = max(min(stop, popularity.rows), start)
    first, last = np.searchsorted(blocks.edges, start, "right"), np.searchsorted(blocks.edges, end, "left")
    inside = blocks.edges[first:last]
    edges = np.concatenate([[start], inside, [end][: end - start]]).astype(np.int64)
    shares = blocks.shares[first - 1 : last].copy()[: len(edges) - 1]
    if len(shares):
        shares[[0, -1]] = popularity.share_between(edges[[0, -2]], edges[[1, -1]])
    shares /= shares.sum() or 1.0
    edges.flags.writeable = shares.flags.writeable = False
    return edges, shares


def _owner_of(table: Table, rows: IntArray, start: int, stop: int, block: int, seed: int) -> IntArray:
    if block >= stop - start:
        return np.zeros_like(rows)
    return table.positions(rows, start=start, stop=stop, seed=seed) // block
