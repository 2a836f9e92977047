"""Column-wise: each table's columns over several ranks, all rows of a block of columns together.

Every owner must get every lookup's id, so ids travel as many times as a table has shards.
"""

from pydantic import Field

from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.sharding.balance import Item, Shelf, busiest_first
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import column_owners, shard_sizes
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics, TableStatistics


class ColumnWiseOptions(StrictModel):
    """In how many shards a table's columns are cut; never more than it has columns or the cluster ranks."""

    shards: PositiveCount | None = Field(None, description="shards of each table; default by min_columns")
    min_columns: PositiveCount = Field(
        32, description="columns of a shard at least, when shards is not given; default 32"
    )


@register("column_wise", "each table's columns over several ranks", options=ColumnWiseOptions)
def column_wise(
    statistics: Statistics, topology: Topology, execution: Execution, options: ColumnWiseOptions
) -> ShardingPlan:
    """Plan each table as shards of columns, busiest tables first."""
    shelf = Shelf(topology.island_of.tolist(), topology.hbm_capacity_bytes)
    whole = [_item(table, table.dim, execution) for table in statistics.tables]
    owners: dict[int, list[int]] = {}
    for index in busiest_first(whole):
        table = statistics.tables[index]
        owners[index] = []
        for columns in shard_columns(table.dim, topology.world_size, options):
            owners[index].append(shelf.put(_item(table, columns, execution), not_on=owners[index]))
    tables = tuple(
        TablePlan(
            table.name, (Segment(0, table.rows, column_owners(topology.world_size, tuple(owners[index]))),)
        )
        for index, table in enumerate(statistics.tables)
    )
    return ShardingPlan("column_wise", topology.world_size, tables, execution)


def shard_columns(dim: int, world_size: int, options: ColumnWiseOptions) -> list[int]:
    """Columns of each shard: equal blocks, the last may be smaller, none empty."""
    wanted = options.shards or max(1, dim // options.min_columns)
    sizes = shard_sizes(dim, min(wanted, world_size))
    return [int(size) for size in sizes if size > 0]


def _item(table: TableStatistics, columns: int, execution: Execution) -> Item:
    return Item(
        table.name,
        load=table.lookups_per_rank * columns * table.element_bytes,
        memory_bytes=table.rows * row_memory_bytes(table, execution.optimizer, columns=columns),
    )
