"""Hybrid: frequent rows on every rank, the rest row-wise, by HugeCTR's threshold.

A row is frequent when its lookups on the whole cluster in one iteration reach (HugeCTR v3.9,
`hybrid_embedding/calibration_data.cu`, `calculate_threshold`)

    several islands   N * (all-to-all bandwidth / all-reduce bandwidth) * N / (N - 1)          N islands
    one island        n * W * sqrt(2 p / (M (M - 1)))                                          M = n

where n lookups a rank are made in the table and p = 1/100 is the most often that a category may be there twice.
Both bandwidths are those of a node; by default both are the topology's, so their ratio is 1. Where so many
copies do not fit, the threshold is raised until they do.
"""

from pydantic import Field

from simulator.config.model import StrictModel
from simulator.config.types import Bandwidth, PositiveShare
from simulator.sharding.execution import Execution
from simulator.sharding.hot_rows import rows_at_least
from simulator.sharding.layouts import global_rows, replicated
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics, TableStatistics

RAISES = 60


class HybridOptions(StrictModel):
    """What HugeCTR calibrates."""

    all_to_all_bandwidth: Bandwidth | None = Field(None, description="of a node; default that of the NICs")
    all_reduce_bandwidth: Bandwidth | None = Field(None, description="of a node; default that of the NICs")
    max_duplicate_share: PositiveShare = Field(
        0.01, description="HugeCTR's p_dup_max, for one island alone; default 0.01"
    )


@register(
    "hybrid", "frequent rows data-parallel, the rest row-wise (HugeCTR's threshold)", options=HybridOptions
)
def hybrid(
    statistics: Statistics, topology: Topology, execution: Execution, options: HybridOptions
) -> ShardingPlan:
    """Plan copies of the frequent rows, and the others model-parallel."""
    raised, notes = 1.0, []
    frequent = _frequent_rows(statistics, topology, options, raised)
    for _ in range(RAISES):
        if _memory_bytes(statistics, topology, execution, frequent) <= topology.hbm_capacity_bytes:
            break
        raised *= 1.25
        frequent = _frequent_rows(statistics, topology, options, raised)
    if raised > 1:
        notes.append(f"memory: the threshold is {raised:.3g} times HugeCTR's, so that copies fit")
    notes.append(f"{sum(frequent)} frequent rows of {sum(table.rows for table in statistics.tables)}")
    tables = tuple(
        TablePlan(table.name, _segments(table, rows, topology))
        for table, rows in zip(statistics.tables, frequent, strict=True)
    )
    return ShardingPlan("hybrid", topology.world_size, tables, execution, tuple(notes))


def count_threshold(table: TableStatistics, topology: Topology, options: HybridOptions) -> float:
    """Lookups of a row on the whole cluster in one iteration from which it is frequent."""
    islands, ranks = topology.island_count, topology.world_size
    if islands > 1:
        node_bytes_per_s = float(topology.inter_island_bytes_per_s.sum()) / islands
        all_to_all = options.all_to_all_bandwidth or node_bytes_per_s
        all_reduce = options.all_reduce_bandwidth or node_bytes_per_s
        return islands * all_to_all / all_reduce * islands / (islands - 1)
    made = table.lookups_per_rank
    if ranks == 1 or made <= 1:
        return float("inf")
    return float(made * ranks * (2 * options.max_duplicate_share / (made * (made - 1))) ** 0.5)


def _frequent_rows(
    statistics: Statistics, topology: Topology, options: HybridOptions, raised: float
) -> list[int]:
    return [
        rows_at_least(table, raised * count_threshold(table, topology, options) / topology.world_size)
        for table in statistics.tables
    ]


def _memory_bytes(
    statistics: Statistics, topology: Topology, execution: Execution, frequent: list[int]
) -> int:
    return sum(
        (rows - (rows - table.rows) // topology.world_size) * row_memory_bytes(table, execution.optimizer)
        for table, rows in zip(statistics.tables, frequent, strict=True)
    )


def _segments(table: TableStatistics, frequent: int, topology: Topology) -> tuple[Segment, ...]:
    hot = Segment(0, frequent, replicated(topology))
    cold = Segment(frequent, table.rows, global_rows(topology))
    return tuple(segment for segment in (hot, cold) if segment.stop > segment.start)
