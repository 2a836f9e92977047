"""2D sparse parallel: ranks in groups, each with a copy of all tables, row-wise inside (arXiv 2508.03854).

Groups are consecutive ranks. All-to-alls stay inside them; the copies are brought together across groups
every `sync_every` iterations. Without `group_size` that size is taken which fits and is predicted to be fastest:
multiples of the largest island, or where none divides the ranks, any size from the largest island on.
"""

from pydantic import Field

from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import groups
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.predict import predict
from simulator.sharding.registry import register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


class TwoDimensionalOptions(StrictModel):
    """How many ranks share one copy of the tables."""

    group_size: PositiveCount | None = Field(
        None,
        description="ranks of a group; default: the fastest predicted, whole islands where they are equal",
    )


@register(
    "two_dimensional",
    "2D sparse parallel: a copy of all tables in every group",
    options=TwoDimensionalOptions,
)
def two_dimensional(
    statistics: Statistics, topology: Topology, execution: Execution, options: TwoDimensionalOptions
) -> ShardingPlan:
    """Plan row-wise tables in groups of ranks, a copy a group. Raises UserError for a size that does not divide."""
    world_size = topology.world_size
    if options.group_size is None:
        plans = [
            _plan(statistics, topology, execution, size)
            for size in fitting_groups(statistics, topology, execution)
        ]
        return min(plans, key=lambda plan: predict(plan, statistics, topology).total_s)
    if world_size % options.group_size:
        allowed = ", ".join(str(size) for size in divisors(world_size))
        raise UserError(
            f"two_dimensional: group_size {options.group_size} does not divide {world_size} ranks; allowed: {allowed}"
        )
    return _plan(statistics, topology, execution, options.group_size)


def _plan(statistics: Statistics, topology: Topology, execution: Execution, size: int) -> ShardingPlan:
    layout = groups(topology.world_size, size)
    tables = tuple(TablePlan(table.name, (Segment(0, table.rows, layout),)) for table in statistics.tables)
    note = f"{topology.world_size // size} groups of {size} ranks"
    return ShardingPlan("two_dimensional", topology.world_size, tables, execution, (note,))


def fitting_groups(statistics: Statistics, topology: Topology, execution: Execution) -> list[int]:
    """Sizes of several groups that fit, of whole islands if the ranks divide so; all ranks in one if there is none."""
    island, world_size = max(topology.island_sizes), topology.world_size
    sizes = [size for size in divisors(world_size) if island <= size < world_size]
    whole_islands = [size for size in sizes if size % island == 0] or sizes
    fitting = [
        size
        for size in whole_islands
        if sum(
            -(-table.rows // size) * row_memory_bytes(table, execution.optimizer)
            for table in statistics.tables
        )
        <= topology.hbm_capacity_bytes
    ]
    return fitting or [world_size]


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
