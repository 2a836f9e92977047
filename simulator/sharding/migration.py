"""What must be carried when one plan takes over from another: rows that change hands, as a byte matrix.

Theory of operation. Each copy of a row in the new plan must be where that plan wants it. Its new owner takes it from
the copy that it read itself under the old plan: nothing where it held the row, NVLink where its island did, the NIC
otherwise. What travels is the row's weights and its optimizer state, for each copy. Assumptions:

- Rows that stay in a run placed alike (the same layout) keep their owners, as ids that are hashed to owners do.
- A row's place in its new run has nothing to do with that in its old one, so owners of both are paired in proportion
  to what they hold.
- Rows that were reclaimed come freshly initialised, and rows that become so are dropped: neither travels.
- Every copy is fetched on its own, all at once, as one all-to-all. Reading memory, PCIe to host memory and room for
  both plans at once are left out.

Expected bytes, rounded for each pair of ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.sharding.crossings import Crossings
from simulator.sharding.layouts import shard_sizes
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Layout, Segment, ShardingPlan
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics, TableStatistics


@dataclass(frozen=True, eq=False)
class Migration:
    """`matrix` is [world_size, world_size] int64, row i, column j = bytes from rank i to rank j; the diagonal, what
    a new owner held before, is kept, and never travels."""

    moved_rows: float  # expected rows that change to a run placed otherwise
    initialised_rows: float  # that were reclaimed
    dropped_rows: float  # that are reclaimed now
    matrix: IntArray

    @property
    def moved_bytes(self) -> int:
        """What travels."""
        return int(self.matrix.sum() - np.trace(self.matrix))

    def inter_island_bytes(self, topology: Topology) -> int:
        """The part of it that goes between islands."""
        crosses = topology.island_of[:, None] != topology.island_of
        return int(self.matrix[crosses].sum())


@dataclass(frozen=True, eq=False)
class _Change:
    """Rows of one table that go from one run to another, with the bytes of each."""

    old: Segment
    new: Segment
    rows_bytes: float
    dim: int


def migration(
    crossings: Sequence[Crossings], statistics: Statistics, plan: ShardingPlan, topology: Topology
) -> Migration:
    """What moves between two plans. `plan` is either: both are carried out alike."""
    by_layouts: dict[tuple[Layout, Layout], list[_Change]] = {}
    moved = initialised = dropped = 0.0
    for crossing, table in zip(crossings, statistics.tables, strict=True):
        initialised += float(crossing.rows[-1, :-1].sum())
        dropped += float(crossing.rows[:-1, -1].sum())
        for change, rows in _changes(crossing, table, plan):
            moved += rows
            by_layouts.setdefault((change.old.layout, change.new.layout), []).append(change)
    return Migration(moved, initialised, dropped, _matrix(by_layouts, topology.world_size))


def _changes(crossing: Crossings, table: TableStatistics, plan: ShardingPlan) -> list[tuple[_Change, float]]:
    row_bytes = row_memory_bytes(table, plan.execution.optimizer)
    return [
        (_Change(old, new, float(crossing.rows[i, j]) * row_bytes, table.dim), float(crossing.rows[i, j]))
        for i, old in enumerate(crossing.old)
        for j, new in enumerate(crossing.new)
        if crossing.rows[i, j] > 0.0 and not placed_alike(old, new)
    ]


def placed_alike(old: Segment, new: Segment) -> bool:
    """Whether rows of both have the same owners."""
    return old.memory == new.memory and same_layout(old.layout, new.layout)


def same_layout(old: Layout, new: Layout) -> bool:
    """By value; equal ones are mostly one object."""
    return old is new or (
        (old.tier, old.split, old.copies, old.copy_of) == (new.tier, new.split, new.copies, new.copy_of)
    )


def _matrix(by_layouts: Mapping[tuple[Layout, Layout], list[_Change]], world_size: int) -> IntArray:
    total = np.zeros((world_size, world_size))
    for (old, new), changes in by_layouts.items():
        wanted = np.zeros((len(changes), world_size))
        for copy in new.copies:
            wanted[:, list(copy)] += _held_bytes([(change.new, change) for change in changes], len(copy))
        copy_of = np.array(old.copy_of)
        for index, owners in enumerate(old.copies):
            readers = np.flatnonzero(copy_of == index)
            parts = _held_bytes([(change.old, change) for change in changes], len(owners))
            parts /= np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
            total[np.ix_(np.array(owners), readers)] += parts.T @ wanted[:, readers]
    return np.rint(total).astype(np.int64)


def _held_bytes(runs: Sequence[tuple[Segment, _Change]], owners: int) -> FloatArray:
    """[changes, owners] of the changing bytes, what each owner of one copy of the run holds."""
    parts = []
    for segment, change in runs:
        held = shard_sizes(change.dim if segment.layout.split == "columns" else _rows(segment), owners)
        parts.append(change.rows_bytes * held / held.sum())
    return np.array(parts)


def _rows(segment: Segment) -> int:
    return segment.stop - segment.start
