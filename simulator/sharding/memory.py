"""What a plan costs each rank in memory: weights by tier, and optimizer state.

Every copy's owner holds its own block of the copy: a block of rows, or all rows of a block of columns. Rows
that the plan reclaimed take nothing. Optimizer state is kept in fp32 beside the weights: row-wise AdaGrad one
number a row and owner (FBGEMM's `momentum1`), Adam two numbers an element.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from simulator.arrays import IntArray
from simulator.errors import UserError
from simulator.sharding.execution import Optimizer
from simulator.sharding.layouts import shard_sizes
from simulator.sharding.plan import Layout, Segment, ShardingPlan, Tier
from simulator.topology.topology import Topology
from simulator.units import format_bytes
from simulator.workload.workload import Statistics, TableStatistics

STATE_ELEMENT_BYTES = 4
MOST_BYTES = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """Bytes a rank keeps in its own memory, and in its host's; arrays are [world_size] int64."""

    weights_bytes_by_tier: dict[Tier, IntArray]
    optimizer_bytes: IntArray
    host_bytes: IntArray  # weights and optimizer state of rows that are kept in host memory

    @property
    def total_bytes(self) -> IntArray:
        """Weights of all tiers and optimizer state, without what is in host memory."""
        return sum(self.weights_bytes_by_tier.values(), start=self.optimizer_bytes)

    @property
    def max_bytes(self) -> int:
        """What the fullest rank keeps."""
        return int(self.total_bytes.max())


def memory_bytes(plan: ShardingPlan, statistics: Statistics, topology: Topology) -> MemoryUse:
    """What each rank keeps under the plan."""
    weights = {tier: np.zeros(topology.world_size, dtype=np.int64) for tier in Tier}
    optimizer = np.zeros(topology.world_size, dtype=np.int64)
    host = np.zeros(topology.world_size, dtype=np.int64)
    for table, table_plan in zip(statistics.tables, plan.tables, strict=True):
        for segment in table_plan.segments:
            rows, columns = held(segment, table)
            weights_bytes = rows * columns * table.element_bytes
            optimizer_bytes = rows * state_bytes(columns, plan.execution.optimizer)
            if segment.memory == "host":
                host += weights_bytes + optimizer_bytes
                continue
            weights[segment.layout.tier] += weights_bytes
            optimizer += optimizer_bytes
    return MemoryUse(weights, optimizer, host)


def check_countable(statistics: Statistics, optimizer: Optimizer) -> None:
    """Raises UserError when all rows with their state are more bytes than 64-bit integers hold."""
    total_bytes = sum(table.rows * row_memory_bytes(table, optimizer) for table in statistics.tables)
    if total_bytes > MOST_BYTES:
        found, most = format_bytes(total_bytes), format_bytes(MOST_BYTES)
        raise UserError(f"tables: {found} with optimizer state, at most {most} can be counted")


def held(segment: Segment, table: TableStatistics) -> tuple[IntArray, IntArray]:
    """Rows and columns of a segment that each rank keeps: [world_size] each."""
    rows = np.zeros(len(segment.layout.copy_of), dtype=np.int64)
    columns = np.full(len(segment.layout.copy_of), table.dim, dtype=np.int64)
    count = segment.stop - segment.start
    for size, owners in _owners_by_copy_size(segment.layout).items():
        if segment.layout.split == "rows":
            rows[owners] = shard_sizes(count, size)
        else:
            rows[owners] = count
            columns[owners] = shard_sizes(table.dim, size)
    return np.where(columns > 0, rows, 0), columns


@cache
def _owners_by_copy_size(layout: Layout) -> dict[int, IntArray]:
    """The owners of all copies of equal size: {size: [copies, size]}."""
    sizes = sorted({len(owners) for owners in layout.copies})
    return {
        size: np.array([owners for owners in layout.copies if len(owners) == size], dtype=np.int64)
        for size in sizes
    }


def state_bytes(columns: IntArray, optimizer: Optimizer) -> IntArray:
    """Optimizer state of one row of each of so many columns."""
    if optimizer == "adam":
        return 2 * STATE_ELEMENT_BYTES * columns
    return np.full_like(columns, STATE_ELEMENT_BYTES if optimizer == "rowwise_adagrad" else 0)


def row_memory_bytes(table: TableStatistics, optimizer: Optimizer, *, columns: int | None = None) -> int:
    """A row of the table, or so many columns of it, with its optimizer state."""
    count = np.array([table.dim if columns is None else columns], dtype=np.int64)
    return int((count * table.element_bytes + state_bytes(count, optimizer))[0])
