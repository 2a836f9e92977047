"""A `Placement`: a plan worked out for one workload and topology, before any batch is drawn.

Theory of operation. A table is a sequence of runs: the plan's segments, then the rows that it reclaimed. Each
run has its share of the table's lookups (of the replayed popularity, which may not be the planned one), and for
each size of copy the shares of the owners. None of it changes from iteration to iteration.

A reclaimed row has no memory. A lookup of one is served as the first lookup of a new row is: by the rank that
its id hashes to, among all ranks, with a freshly initialised row; and the row's gradient goes back there. So it
travels like a lookup of a row-wise global tier, whatever tiers the plan has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, shard_sizes
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.topology import Topology
from simulator.traffic.groups import groups_by_tier
from simulator.traffic.owners import Owners, owners_of
from simulator.traffic.readers import Readers, readers_of
from simulator.workload.workload import Table, Workload

RECLAIMED = "reclaimed"
MAX_HEADS = 65_536  # rows of a table that are told apart
MIN_HEADS = 1_024
HEADS_IN_ALL = 1 << 22  # over all tables, so that a thousand of them fit into memory
GRADIENT_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}


@dataclass(frozen=True, eq=False)
class Part:
    """A run among the readers of copies of one size.

    A copy split by columns has one set of rows, all of them looked up at every owner: `owners` is then one
    owner of all rows, and `columns` says what each rank that holds some of them sends.
    """

    readers: int  # index into the placement's
    owners: Owners
    columns: IntArray  # [owners of a copy]


@dataclass(frozen=True, eq=False)
class Run:
    """A segment of a table, or what follows the last one."""

    kind: str  # the tier's name, or "reclaimed"
    layout: Layout
    rows: int
    dim: int
    in_host_memory: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class TablePlacement:
    """One table's runs and their shares of its lookups."""

    stream_key: int
    runs: tuple[Run, ...]
    shares: FloatArray  # [runs]


@dataclass(frozen=True, eq=False)
class Placement:
    """All that `draw_traffic` needs beside a batch."""

    execution: Execution
    element_bytes: int
    gradient_bytes: int  # an element of a gradient
    samples: IntArray  # [world_size] in one iteration
    islands: tuple[tuple[int, ...], ...]
    island_of: IndexArray  # [world_size]
    layouts: tuple[Layout, ...]
    readers: tuple[Readers, ...]
    groups: dict[Tier, tuple[tuple[int, ...], ...]]  # a tier's communicators
    tables: tuple[TablePlacement, ...]

    @property
    def world_size(self) -> int:
        return len(self.samples)


def prepare(plan: ShardingPlan, workload: Workload, topology: Topology, *, seed: int) -> Placement:
    """Work out a plan's shares. `seed` is that of the batches: it decides where ids lie.

    The plan has passed `check_plan` for this workload and topology.
    """
    builder = _Builder(topology, heads_of_each(len(workload.tables)), seed)
    tables = tuple(
        builder.table(table, table_plan)
        for table, table_plan in zip(workload.tables, plan.tables, strict=True)
    )
    gradient_dtype = plan.execution.gradient_dtype
    return Placement(
        execution=plan.execution,
        element_bytes=workload.element_bytes,
        gradient_bytes=GRADIENT_BYTES[gradient_dtype] if gradient_dtype else workload.element_bytes,
        samples=workload.samples(topology.world_size),
        islands=topology.islands,
        island_of=topology.island_of,
        layouts=tuple(builder.layouts),
        readers=tuple(builder.readers),
        groups=groups_by_tier(builder.layouts, topology.world_size),
        tables=tables,
    )


def heads_of_each(tables: int) -> int:
    """How many rows of each of so many tables are told apart."""
    return min(MAX_HEADS, max(MIN_HEADS, HEADS_IN_ALL // max(tables, 1)))


class _Builder:
    """Places tables one after another; layouts that are alike become one."""

    def __init__(self, topology: Topology, heads: int, seed: int) -> None:
        self.topology = topology
        self.heads = heads
        self.seed = seed
        self.layouts: list[Layout] = []
        self.readers: list[Readers] = []
        self._places: dict[tuple[object, ...], tuple[Layout, range]] = {}

    def table(self, table: Table, plan: TablePlan) -> TablePlacement:
        """Where the rows of one table lie; rows beyond the plan's are reclaimed by their global owners."""
        segments = [segment for segment in plan.segments if segment.stop > segment.start]
        kinds = [str(segment.layout.tier) for segment in segments]
        end = segments[-1].stop if segments else 0
        if table.replayed_popularity.rows > end:
            segments.append(Segment(end, table.rows, global_rows(self.topology)))
            kinds.append(RECLAIMED)
        starts, stops = (np.array([[s.start, s.stop] for s in segments], dtype=np.int64).reshape(-1, 2)).T
        shares = table.replayed_popularity.share_between(starts, stops)
        runs = tuple(self.run(table, *pair) for pair in zip(kinds, segments, strict=True))
        return TablePlacement(table.stream_key, runs, shares)

    def run(self, table: Table, kind: str, segment: Segment) -> Run:
        layout, readers = self._layout(segment.layout)
        parts = tuple(self._parts(table, segment, readers))
        rows, in_host_memory = segment.stop - segment.start, segment.memory == "host"
        return Run(kind, layout, rows, table.dim, in_host_memory, parts)

    def _parts(self, table: Table, segment: Segment, readers: range) -> Iterator[Part]:
        for index in readers:
            size = self.readers[index].owners.shape[1]
            by_columns = segment.layout.split == "columns"
            columns = shard_sizes(table.dim, size) if by_columns else np.full(size, table.dim, dtype=np.int64)
            owners = owners_of(
                table,
                segment.start,
                segment.stop,
                1 if by_columns else size,
                heads=self.heads,
                seed=self.seed,
            )
            yield Part(index, owners, columns)

    def _layout(self, layout: Layout) -> tuple[Layout, range]:
        """The first layout met that is alike, and its readers' indices."""
        key = (layout.tier, layout.split, layout.copies, layout.copy_of)
        if key not in self._places:
            readers = readers_of(layout, self.topology)
            first = len(self.readers)
            self.layouts.append(layout)
            self.readers.extend(readers)
            self._places[key] = (layout, range(first, first + len(readers)))
        return self._places[key]
