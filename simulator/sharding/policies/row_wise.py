"""Row-wise: each table's rows in equal blocks over all ranks. What other policies are measured against."""

from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import NoOptions, register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


@register("row_wise", "each table's rows in equal blocks over all ranks", options=NoOptions)
def row_wise(
    statistics: Statistics, topology: Topology, execution: Execution, options: NoOptions
) -> ShardingPlan:
    """Plan each table's rows hashed over all ranks."""
    layout = global_rows(topology)
    tables = tuple(TablePlan(table.name, (Segment(0, table.rows, layout),)) for table in statistics.tables)
    return ShardingPlan("row_wise", topology.world_size, tables, execution)
