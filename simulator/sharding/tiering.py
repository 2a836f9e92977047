"""FlexShard's tiers as a plan: whole rows, within the memory limit to the byte, and only tiers worth their start-up.

Cuts come from `planner`, which knows neither whole rows, nor the start-up of collectives, nor the owner that hot
rows load most. Here they are rounded down and planned again with less memory if blocks of whole rows need more
than the limit; the planner runs for each set of tiers that the topology can have, since a tier whose collectives
start up longer than it saves is better left out; and beside each of its answers stand those with more rows in
copies, all that are looked up at least so often, for some limits, and all rows there are: what a hot row saves in
balance, and a tier without rows in start-up, is not in the planner's sum. The best prediction with hot owners
counted wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from simulator.sharding.execution import Execution
from simulator.sharding.hot_rows import block_rows_at_least
from simulator.sharding.layouts import global_rows, island, replicated
from simulator.sharding.memory_rule import MemoryRule, tier_memory_bytes
from simulator.sharding.plan import Prices, Segment, ShardingPlan, TablePlan
from simulator.sharding.planner import Program, solve
from simulator.sharding.predict import predict
from simulator.sharding.row_blocks import row_blocks
from simulator.sharding.tier_costs import tier_costs
from simulator.topology.topology import Topology
from simulator.units import format_duration
from simulator.workload.workload import Statistics

Cut = tuple[int, int, int]  # a table's rows: replicated up to, in islands up to, in memory up to
ROUNDS = 8
HOT_ROW_LIMITS = 6  # spaced evenly on a log scale


@dataclass(frozen=True, eq=False)
class TierPlanner:
    """Plans one workload on one topology under one memory rule."""

    statistics: Statistics
    topology: Topology
    execution: Execution
    rule: MemoryRule

    def program(self) -> Program:
        """The planner's task, with all tiers allowed."""
        costs = tier_costs(self.statistics, self.topology, self.execution)
        return Program(
            blocks=row_blocks(self.statistics, costs.measures),
            costs=costs,
            end_rows=np.array(self.rule.end_rows(self.statistics), dtype=np.float64),
            limit_bytes=float(self.rule.limit_bytes),
            concurrent=self.execution.tiers == "concurrent",
        )

    def plans(self) -> Iterator[ShardingPlan]:
        """The candidates: for each set of tiers the planner's answer, and those with more hot rows in copies."""
        program, hot_rows_by_limit = self.program(), self._hot_rows()
        for allowed in self._tier_sets():
            found = self._whole_cuts(replace(program, allowed=allowed))
            if found is None:
                continue
            cuts, prices = found
            seen = {tuple(cuts)}
            if any(warm for _, warm, _ in cuts):
                yield self._plan(cuts, prices)
            for hot_rows, replicate in product(hot_rows_by_limit, self._ways(allowed)):
                more = with_copies(cuts, hot_rows, replicate=replicate)
                if tuple(more) not in seen and self._used_bytes(more) <= self.rule.limit_bytes:
                    seen.add(tuple(more))
                    yield self._plan(more, prices)

    def best(self) -> ShardingPlan | None:
        """The plan predicted to be fastest; None if no copy is worth having."""
        plans = list(self.plans())
        times_s = [self.predicted_s(plan) for plan in plans]
        return plans[int(np.argmin(times_s))] if plans else None

    def predicted_s(self, plan: ShardingPlan) -> float:
        """Seconds of communication an iteration, the busiest owner counted."""
        return predict(plan, self.statistics, self.topology, hot_owners=True).total_s

    def _hot_rows(self) -> list[list[int]]:
        """By limit and table, how many rows a rank looks up at least so often; then all rows of every table."""
        everything = [table.rows for table in self.statistics.tables]
        hottest = max(
            (
                float(table.popularity.cumulative_share(1)) * table.lookups_per_rank
                for table in self.statistics.tables
            ),
            default=0.0,
        )
        least = self.topology.island_count / self.topology.world_size  # a row breaks even at about N lookups
        if hottest <= least:
            return [everything]
        limits = np.geomspace(least, hottest, HOT_ROW_LIMITS + 1)[:-1]
        by_table = [block_rows_at_least(table, limits) for table in self.statistics.tables]
        return [everything, *(list(rows) for rows in zip(*by_table, strict=True))]

    def _ways(self, allowed: tuple[bool, bool]) -> list[bool]:
        """Whether further rows are replicated, not just copied to every island: both where both may be."""
        return [tier for tier, may in ((True, allowed[0]), (False, allowed[1])) if may]

    def _used_bytes(self, cuts: list[Cut]) -> int:
        return tier_memory_bytes(self.statistics, self.topology, self.execution, cuts)

    def _tier_sets(self) -> list[tuple[bool, bool]]:
        """(replicated, island) allowed. An island of one rank, or of all, is no tier of its own."""
        if self.topology.island_count == 1 or max(self.topology.island_sizes) == 1:
            return [(True, False)]
        return [(True, True), (False, True), (True, False)]

    def _whole_cuts(self, program: Program) -> tuple[list[Cut], Prices] | None:
        limit_bytes = self.rule.limit_bytes
        for _ in range(ROUNDS):
            if program.least_memory_bytes > limit_bytes:
                return None
            cuts, prices = solve(replace(program, limit_bytes=float(limit_bytes)))
            hot = [int(row) for row in cuts.replicated]
            warm = [int(row) for row in cuts.island]
            whole = list(zip(hot, warm, self.rule.end_rows(self.statistics), strict=True))
            used_bytes = self._used_bytes(whole)
            if used_bytes <= self.rule.limit_bytes:
                return whole, prices
            limit_bytes -= used_bytes - self.rule.limit_bytes
        return None

    def _plan(self, cuts: list[Cut], prices: Prices) -> ShardingPlan:
        layouts = (replicated(self.topology), island(self.topology), global_rows(self.topology))
        tables = []
        for table, (hot, warm, end) in zip(self.statistics.tables, cuts, strict=True):
            runs = zip((0, hot, warm), (hot, warm, end), layouts, strict=True)
            segments = tuple(Segment(start, stop, layout) for start, stop, layout in runs if stop > start)
            tables.append(TablePlan(table.name, segments))
        return ShardingPlan(
            "flexshard", self.topology.world_size, tuple(tables), self.execution, prices=prices
        )


def with_copies(cuts: list[Cut], hot_rows: list[int], *, replicate: bool) -> list[Cut]:
    """`cuts` with at least so many rows of each table in copies: on every rank, or in every island."""
    more = []
    for (hot, warm, end), rows in zip(cuts, hot_rows, strict=True):
        wanted = min(rows, end)
        hot = max(hot, wanted) if replicate else hot
        more.append((hot, max(warm, wanted), end))
    return more


def why_no_copies(program: Program, statistics: Statistics) -> str:
    """Why the best plan has no copies, in words."""
    if program.limit_bytes <= program.least_memory_bytes * (1 + 1e-6):
        return "no memory is left for copies"
    costs = program.costs
    counts = program.blocks.per_row[:, :, 0]
    all_s = np.einsum("tcjk,jk->tck", costs.seconds, counts)
    sync_s = all_s[:, -1]
    moved_s = all_s[:, :-1:3].sum(axis=1) + all_s[:, 2:-1:3].sum(axis=1)
    saved_s, cost_s = moved_s[2] - moved_s[:2], sync_s[:2]
    tier, table = np.unravel_index(int(np.argmax(saved_s - cost_s)), saved_s.shape)
    saved, cost = format_duration(float(saved_s[tier, table])), format_duration(float(cost_s[tier, table]))
    hottest = f"the hottest row of table {statistics.tables[table].name}"
    if saved_s[tier, table] <= cost_s[tier, table]:
        return f"replication does not pay: a copy of {hottest} saves {saved} an iteration and costs {cost}"
    return f"copies save less than their collectives take to start up ({hottest}: {saved} against {cost})"
