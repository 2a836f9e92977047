"""Table-row-wise: each table in one island, row-wise over its ranks.

Made for pooled tables, whose partial sums are reduced inside the island before they travel. Un-pooled tables
have no sum to reduce: as many bytes cross the NICs as under row-wise, from fewer of them.
"""

import numpy as np

from simulator.sharding.balance import Item, least_loaded
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_owners
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import NoOptions, register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


@register("table_row_wise", "each table in one island, its rows over the island's ranks", options=NoOptions)
def table_row_wise(
    statistics: Statistics, topology: Topology, execution: Execution, options: NoOptions
) -> ShardingPlan:
    """Plan each table's rows over the ranks of one island."""
    sizes = np.array(topology.island_sizes, dtype=np.int64)
    items = [
        Item(
            table.name,
            load=table.lookups_per_rank * table.row_bytes / sizes,
            memory_bytes=-(-table.rows // sizes) * row_memory_bytes(table, execution.optimizer),
        )
        for table in statistics.tables
    ]
    islands = least_loaded(items, range(topology.island_count), topology.hbm_capacity_bytes)
    tables = tuple(
        TablePlan(
            table.name,
            (Segment(0, table.rows, global_owners(topology.world_size, topology.islands[island])),),
        )
        for table, island in zip(statistics.tables, islands, strict=True)
    )
    return ShardingPlan("table_row_wise", topology.world_size, tables, execution)
