"""What an iteration must synchronise: the rows that have several copies.

Theory of operation. Replicated and island rows exchange gradients, and every copy applies their sum. Copies in
groups (2D sparse parallel) exchange weights and optimizer state, which are averaged: TorchRec's way. Either
happens once in `sync_every` iterations; here is what one synchronisation moves.

    dense   everything that an owner holds
    sparse  the rows that were looked up since the last time, each with its id. Their number is drawn as if every
            iteration since had this one's lookups

A copy cut into unequal shards (islands of unequal size) is cut table by table; tables placed alike are merged
as if each shard's bytes lay together.
"""

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.sharding.layouts import shard_sizes
from simulator.sharding.memory import state_bytes
from simulator.sharding.plan import Layout, Tier
from simulator.traffic.occupancy import MOST_LOOKUPS
from simulator.traffic.placement import Part, Placement, Run
from simulator.traffic.synchronisation import Synchronisation
from simulator.traffic.tally import ID_BYTES


def dense_synchronisations(placement: Placement) -> tuple[Synchronisation, ...]:
    """All that copies hold, whatever was looked up."""
    return tuple(
        Synchronisation(layout.tier, "dense", layout.copies, _dense_chunks(placement, layout))
        for layout in _copied_layouts(placement)
    )


class TouchedRows:
    """Collects what a sparse synchronisation moves, part by part of every table."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._every = min(placement.execution.sync_every, MOST_LOOKUPS)
        self._layouts = _copied_layouts(placement)
        self._chunks = [
            [np.zeros(len(owners), dtype=np.int64) for owners in layout.copies] for layout in self._layouts
        ]
        self._pooled = [np.zeros(len(placement.islands), dtype=np.int64) for _ in self._layouts]

    def add(self, rng: np.random.Generator, run: Run, part: Part, lookups: IntArray) -> None:
        """One part's `lookups` [readers, owners]; those of rows with one copy are passed over."""
        if run.layout not in self._layouts:
            return
        layout, readers = self._layouts.index(run.layout), self._placement.readers[part.readers]
        held_bytes = _row_bytes(self._placement, run.layout.tier, part.columns)
        row_bytes = np.where(held_bytes > 0, ID_BYTES + held_bytes, 0)
        read, place = np.unique(readers.copies, return_inverse=True)
        of_copies = self._since_the_last(_sums(lookups, place, len(read)))
        touched = part.owners.occupancy.draw(rng, of_copies)
        for copy, rows in zip(read.tolist(), touched, strict=True):
            self._chunks[layout][copy] += rows * row_bytes
        if run.layout.tier == Tier.REPLICATED:
            islands = self._placement.island_of[readers.ranks]
            of_islands = self._since_the_last(_sums(lookups, islands, len(self._placement.islands)))
            pooled = part.owners.occupancy.draw(rng, of_islands)
            most = _sums(touched[place], islands, len(pooled))
            least = np.zeros_like(pooled)
            np.maximum.at(least, islands, touched[place])
            self._pooled[layout] += (np.clip(pooled, least, most) * row_bytes)[:, 0]

    def _since_the_last(self, lookups: IntArray) -> IntArray:
        """Those of all iterations since the last synchronisation, as far as they can be told apart."""
        return np.minimum(lookups, MOST_LOOKUPS // self._every) * self._every

    def synchronisations(self) -> tuple[Synchronisation, ...]:
        """One a layout with copies, in the order in which they were met."""
        return tuple(
            Synchronisation(
                layout.tier,
                "sparse",
                layout.copies,
                tuple(chunks),
                pooled if layout.tier == Tier.REPLICATED else None,
            )
            for layout, chunks, pooled in zip(self._layouts, self._chunks, self._pooled, strict=True)
        )


def _copied_layouts(placement: Placement) -> list[Layout]:
    return [layout for layout in placement.layouts if len(layout.copies) > 1]


def _dense_chunks(placement: Placement, layout: Layout) -> tuple[IntArray, ...]:
    """What the owners of each copy hold, over all tables: one [owners] array a copy."""
    runs = [run for table in placement.tables for run in table.runs if run.layout is layout]
    by_size = {
        size: np.add.reduce([_shard_bytes(placement, run, size) for run in runs])
        for size in sorted({len(owners) for owners in layout.copies})
    }
    return tuple(by_size[len(owners)] for owners in layout.copies)


def _shard_bytes(placement: Placement, run: Run, owners: int) -> IntArray:
    """[owners] bytes that each owner of one copy of a run exchanges."""
    if run.layout.split == "columns":
        columns = shard_sizes(run.dim, owners)
        return run.rows * _row_bytes(placement, run.layout.tier, columns)
    return shard_sizes(run.rows, owners) * _row_bytes(placement, run.layout.tier, np.full(owners, run.dim))


def _row_bytes(placement: Placement, tier: Tier, columns: IntArray) -> IntArray:
    """[owners] bytes of so many columns of one row: a gradient's, or weights and optimizer state in groups."""
    if tier == Tier.GROUP:
        state = np.where(columns > 0, state_bytes(columns, placement.execution.optimizer), 0)
        return columns * placement.element_bytes + state
    return columns * placement.gradient_bytes


def _sums(lookups: IntArray, place: IntArray | IndexArray, places: int) -> IntArray:
    """Rows of `lookups` [readers, owners] added up by place: [places, owners]."""
    sums = np.zeros((places, lookups.shape[1]), dtype=np.int64)
    np.add.at(sums, place, lookups)
    return sums
