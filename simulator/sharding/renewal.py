"""A plan made anew for what a workload has become, and which rows cross between both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.sharding.crossings import (
    Crossings,
    Reordered,
    crossings_by_drift,
    crossings_by_heat,
    in_heat_order,
    run_stops,
)
from simulator.sharding.execution import Execution
from simulator.sharding.plan import ShardingPlan, TablePlan
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.topology import Topology
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.table import Table
from simulator.workload.workload import Statistics, Workload


@dataclass(frozen=True, eq=False)
class Renewed:
    """The new plan, whose rows stand in their new order, and what crosses, table by table."""

    plan: ShardingPlan
    crossings: tuple[Crossings, ...]


def renew(
    plan: ShardingPlan, entry: PolicyEntry, aged: Workload, topology: Topology, execution: Execution
) -> Renewed:
    """Plan anew for what `aged` asks for; `plan` is the entry's plan for what it was made from.

    Under drift the law of popularity stays as it was, and only other rows carry it; where the popularity is another
    one, the planner sees that. Raises UserError when no plan fits.
    """
    orders = [_new_order(table, own) for table, own in zip(aged.tables, plan.tables, strict=True)]
    renewed = plan
    if any(order is not None for order in orders):
        renewed = make_plan(entry, _statistics(aged, orders), topology, execution)
    return Renewed(
        renewed,
        tuple(
            _crossings(table, *plans)
            for table, plans in zip(
                aged.tables, zip(plan.tables, renewed.tables, orders, strict=True), strict=True
            )
        ),
    )


def _new_order(table: Table, plan: TablePlan) -> Reordered | None:
    """None where the law is the old one."""
    if table.replayed is None or isinstance(table.replayed, Drifted):
        return None
    return in_heat_order(table.replayed, run_stops(plan), table.rows)


def _statistics(aged: Workload, orders: Sequence[Reordered | None]) -> Statistics:
    known = aged.statistics().tables
    return Statistics(
        tuple(
            table
            if order is None
            else replace(table, popularity=order.popularity, touched_rows=order.popularity.rows)
            for table, order in zip(known, orders, strict=True)
        )
    )


def _crossings(table: Table, old: TablePlan, new: TablePlan, order: Reordered | None) -> Crossings:
    if order is not None:
        return crossings_by_heat(old, new, order)
    if isinstance(table.replayed, Drifted):
        return crossings_by_drift(
            old, new, table.rows, moved=table.replayed.share, among=table.replayed.among
        )
    return crossings_by_drift(old, new, table.rows, moved=0.0, among=0)
