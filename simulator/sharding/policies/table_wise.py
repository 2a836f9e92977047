"""Table-wise: each table whole on one rank, the busiest first to the rank with the least expected traffic."""

from simulator.sharding.balance import Item, least_loaded
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import single_owner
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import NoOptions, register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


@register("table_wise", "each table whole on one rank, balanced by expected traffic", options=NoOptions)
def table_wise(
    statistics: Statistics, topology: Topology, execution: Execution, options: NoOptions
) -> ShardingPlan:
    """Plan each table whole on one rank, the least loaded first."""
    items = [
        Item(
            table.name,
            load=table.lookups_per_rank * table.row_bytes,
            memory_bytes=table.rows * row_memory_bytes(table, execution.optimizer),
        )
        for table in statistics.tables
    ]
    owners = least_loaded(items, topology.island_of.tolist(), topology.hbm_capacity_bytes)
    tables = tuple(
        TablePlan(table.name, (Segment(0, table.rows, single_owner(topology.world_size, owner)),))
        for table, owner in zip(statistics.tables, owners, strict=True)
    )
    return ShardingPlan("table_wise", topology.world_size, tables, execution)
