"""2D sparse parallel: ranks in groups, each with a copy of all tables, row-wise inside (arXiv 2508.03854).

Groups are consecutive ranks. All-to-alls stay inside them; the copies are brought together across groups
every `sync_every` iterations. Without `group_size` the smallest group of whole islands that fits is taken.
"""

from pydantic import Field

from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import groups
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


class TwoDimensionalOptions(StrictModel):
    """How many ranks share one copy of the tables."""

    group_size: PositiveCount | None = Field(
        None, description="ranks of a group; default: islands, as few as fit"
    )


@register(
    "two_dimensional",
    "2D sparse parallel: a copy of all tables in every group",
    options=TwoDimensionalOptions,
)
def two_dimensional(
    statistics: Statistics, topology: Topology, execution: Execution, options: TwoDimensionalOptions
) -> ShardingPlan:
    world_size = topology.world_size
    size = options.group_size or smallest_group(statistics, topology, execution)
    if world_size % size:
        allowed = ", ".join(str(size) for size in divisors(world_size))
        raise UserError(
            f"two_dimensional: group_size {size} does not divide {world_size} ranks; allowed: {allowed}"
        )
    layout = groups(world_size, size)
    tables = tuple(TablePlan(table.name, (Segment(0, table.rows, layout),)) for table in statistics.tables)
    note = f"{world_size // size} groups of {size} ranks"
    return ShardingPlan("two_dimensional", world_size, tables, execution, (note,))


def smallest_group(statistics: Statistics, topology: Topology, execution: Execution) -> int:
    """The smallest divisor of the world size that is no smaller than an island and whose memory suffices."""
    island = max(topology.island_sizes)
    sizes = [size for size in divisors(topology.world_size) if size >= island]
    whole_islands = [size for size in sizes if size % island == 0] or sizes
    for size in whole_islands:
        needed_bytes = sum(
            -(-table.rows // size) * row_memory_bytes(table, execution.optimizer)
            for table in statistics.tables
        )
        if needed_bytes <= topology.hbm_capacity_bytes:
            return size
    return topology.world_size


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
