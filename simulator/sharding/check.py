"""Whether a plan can be run: every table placed, every row owned once, every rank's memory enough."""

from collections.abc import Iterator, Mapping, Sequence

from simulator.errors import UserError
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import Layout, ShardingPlan, TablePlan
from simulator.topology.topology import Topology
from simulator.units import format_bytes
from simulator.workload.workload import Statistics, TableStatistics


def check_plan(plan: ShardingPlan, statistics: Statistics, topology: Topology) -> None:
    """Raises UserError, one line for each problem, if the plan cannot serve these tables on this topology."""
    problems = list(coverage_problems(plan, statistics, topology.world_size))
    if not problems:
        problems = list(memory_problems(plan, statistics, topology))
    if problems:
        raise UserError("\n".join(f"plan {plan.policy}: {problem}" for problem in problems))


def coverage_problems(plan: ShardingPlan, statistics: Statistics, world_size: int) -> Iterator[str]:
    """Tables missing or foreign, rows without owner or with two, layouts of another cluster."""
    wanted = [table.name for table in statistics.tables]
    found = [table.table for table in plan.tables]
    if plan.world_size != world_size:
        yield f"made for {plan.world_size} ranks, the topology has {world_size}"
    yield from (f"table {name} is missing" for name in wanted if name not in found)
    yield from (f"table {name} is not in the workload" for name in found if name not in wanted)
    yield from (f"table {name} is there twice" for name in wanted if found.count(name) > 1)
    if sorted(wanted) == sorted(found) and wanted != found:
        yield f"tables are in another order than the workload's: {', '.join(wanted)}"
    by_name = {table.name: table for table in statistics.tables}
    used = dict.fromkeys(segment.layout for table in plan.tables for segment in table.segments)
    layouts = {layout: list(layout_problems(layout, world_size)) for layout in used}
    for table_plan in plan.tables:
        if table_plan.table in by_name:
            yield from _table_problems(table_plan, by_name[table_plan.table], layouts)


def _table_problems(
    plan: TablePlan, table: TableStatistics, of_layouts: Mapping[Layout, Sequence[str]]
) -> Iterator[str]:
    end = 0
    for segment in plan.segments:
        if segment.start > end:
            yield f"table {table.name}: rows [{end}, {segment.start}) have no owner"
        if segment.start < end:
            yield f"table {table.name}: rows [{segment.start}, {end}) are placed twice"
        if segment.stop < segment.start:
            yield f"table {table.name}: a segment goes from row {segment.start} back to {segment.stop}"
        yield from (f"table {table.name}: {text}" for text in of_layouts[segment.layout])
        end = segment.stop
    if end > table.rows:
        yield f"table {table.name}: rows end at {table.rows}, the plan goes to {end}"
    if end < table.touched_rows:
        yield f"table {table.name}: rows [{end}, {table.touched_rows}) are looked up and have no owner"


def layout_problems(layout: Layout, world_size: int) -> Iterator[str]:
    """Every rank reads a copy that exists; every copy has distinct owners that exist; no rank owns two."""
    if len(layout.copy_of) != world_size:
        yield f"a layout for {len(layout.copy_of)} ranks, the topology has {world_size}"
    if any(not 0 <= copy < len(layout.copies) for copy in layout.copy_of):
        yield f"a rank reads a copy that is none of the {len(layout.copies)}"
    owners = [owner for copy in layout.copies for owner in copy]
    if any(not 0 <= owner < world_size for owner in owners):
        yield f"an owner is none of the ranks 0 to {world_size - 1}"
    if len(set(owners)) < len(owners):
        yield "a rank owns two blocks of one segment"
    if not all(layout.copies):
        yield "a copy has no owner"


def memory_problems(plan: ShardingPlan, statistics: Statistics, topology: Topology) -> Iterator[str]:
    """One line for the fullest rank if it does not fit."""
    needed_bytes = memory_bytes(plan, statistics, topology).max_bytes
    available_bytes = topology.hbm_capacity_bytes
    if needed_bytes > available_bytes:
        yield (
            f"does not fit: needed {format_bytes(needed_bytes)} a rank, available "
            f"{format_bytes(available_bytes)}, short by {format_bytes(needed_bytes - available_bytes)}"
        )
