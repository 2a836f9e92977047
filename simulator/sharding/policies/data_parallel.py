"""Data-parallel: every table whole on every rank. No all-to-all; all gradients are summed."""

from simulator.sharding.execution import Execution
from simulator.sharding.layouts import replicated
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import NoOptions, register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


@register("data_parallel", "every table whole on every rank", options=NoOptions)
def data_parallel(
    statistics: Statistics, topology: Topology, execution: Execution, options: NoOptions
) -> ShardingPlan:
    """Plan a full copy of each table on every rank."""
    layout = replicated(topology)
    tables = tuple(TablePlan(table.name, (Segment(0, table.rows, layout),)) for table in statistics.tables)
    return ShardingPlan("data_parallel", topology.world_size, tables, execution)
