"""Why a plan's rows are where they are: each run's rows, lookups, bytes and memory, and the rows at its end.

A FlexShard tier ends where one more row would cost more than it saves. The last row in a tier and the first
beyond it show the inequality: seconds of all-to-all that a row's copies save, against seconds that their
synchronisation costs and seconds that their memory is worth elsewhere (the planner's price of a byte, 0 where
memory is not scarce). Row by row the two sides cross; they are those of `tier_costs`, weighted as the planner
weighted them.
"""

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from simulator.sharding.exchange import ID_BYTES
from simulator.sharding.expected import distinct_rows, run_of
from simulator.sharding.layouts import global_rows, island, replicated
from simulator.sharding.memory import held, state_bytes
from simulator.sharding.plan import Layout, Prices, Segment, ShardingPlan, Tier
from simulator.sharding.predict import gradient_row_bytes
from simulator.sharding.row_blocks import per_row
from simulator.sharding.tier_costs import TierCosts, component_weights, tier_costs
from simulator.topology.topology import Topology
from simulator.units import format_duration
from simulator.workload.workload import Statistics, TableStatistics

NEARLY_EQUAL = 1e-3  # relative: cuts are placed between blocks 2 % wide


@dataclass(frozen=True)
class Margin:
    """A row at the end of a tier: what keeping it in this tier rather than the next saves and costs."""

    row: int
    lookups: float  # on the whole cluster, in one iteration
    saves_s: float
    costs_s: float

    def __str__(self) -> str:
        sign = ">" if self.saves_s > self.costs_s else "<"
        if abs(self.saves_s - self.costs_s) <= NEARLY_EQUAL * abs(self.costs_s):
            sign = "="
        saves, costs = format_duration(self.saves_s), format_duration(self.costs_s)
        return f"row {self.row} ({self.lookups:.3g} lookups) saves {saves} {sign} costs {costs}"


@dataclass(frozen=True)
class RunExplanation:
    """One run of rows of one table. Bytes and lookups are of all ranks, in one iteration, expected."""

    table: str
    tier: str  # a tier's name, or "reclaimed"
    start: int
    stop: int
    lookup_share: float
    lookups: float
    all_to_all_bytes: float  # ids, embeddings and gradients, those for the own rank included
    memory_bytes: int  # of the fullest rank, optimizer state included
    margins: tuple[Margin, ...] = ()  # the last row of the run and the first beyond it

    @property
    def inequality(self) -> str:
        """The rows on either side of the run's end, in words; empty where no planner weighed them."""
        return "; ".join(str(margin) for margin in self.margins)


def explain_plan(plan: ShardingPlan, statistics: Statistics, topology: Topology) -> list[RunExplanation]:
    """Every run of every table, in order, reclaimed rows included."""
    scales = _Scales(plan, tier_costs(statistics, topology, plan.execution), topology)
    runs: list[RunExplanation] = []
    for index, (table, table_plan) in enumerate(zip(statistics.tables, plan.tables, strict=True)):
        following = [segment.layout for segment in table_plan.segments[1:]]
        for segment, after in zip_longest(table_plan.segments, following):
            margins = scales.margins(index, table, segment, after)
            runs.append(_explain(plan, table, segment, topology.world_size, margins))
        end = table_plan.segments[-1].stop if table_plan.segments else 0
        if end < table.rows:
            runs.append(RunExplanation(table.name, "reclaimed", end, table.rows, 0.0, 0.0, 0.0, 0))
    return runs


def _explain(
    plan: ShardingPlan, table: TableStatistics, segment: Segment, ranks: int, margins: tuple[Margin, ...]
) -> RunExplanation:
    run = run_of(table, segment.start, segment.stop)
    rows, columns = held(segment, table)
    share = float(table.popularity.share_between(segment.start, segment.stop))
    made = ranks * table.lookups_per_rank * share
    asked = made if plan.execution.dedup == "none" else ranks * distinct_rows(run, table)
    row_bytes = ID_BYTES + table.row_bytes + gradient_row_bytes(table, plan.execution)
    memory = rows * (columns * table.element_bytes + state_bytes(columns, plan.execution.optimizer))
    return RunExplanation(
        table=table.name,
        tier=segment.layout.tier.value,
        start=segment.start,
        stop=segment.stop,
        lookup_share=share,
        lookups=made,
        all_to_all_bytes=0.0 if segment.layout.tier is Tier.REPLICATED else asked * row_bytes,
        memory_bytes=int(memory.max()),
        margins=margins,
    )


class _Scales:
    """Weighs a row in one tier against the next."""

    def __init__(self, plan: ShardingPlan, costs: TierCosts, topology: Topology) -> None:
        prices = plan.prices or Prices((1.0,) * costs.races, 0.0)
        concurrent = plan.execution.tiers == "concurrent"
        self.costs = costs
        self.ranks = topology.world_size
        self.price_s_per_byte = prices.memory_s_per_byte
        self.weights = component_weights(np.array(prices.nic_shares), concurrent=concurrent)
        self.tiers = [replicated(topology), island(topology), global_rows(topology)]

    def margins(
        self, index: int, table: TableStatistics, segment: Segment, after: Layout | None
    ) -> tuple[Margin, ...]:
        """The last row of a segment and the first beyond it; none unless both sides are FlexShard's tiers."""
        if segment.layout not in self.tiers or after not in self.tiers or segment.stop == segment.start:
            return ()
        here, there = self.tiers.index(segment.layout), self.tiers.index(after)
        return tuple(self._margin(index, table, row, here, there) for row in (segment.stop - 1, segment.stop))

    def _margin(self, index: int, table: TableStatistics, row: int, here: int, there: int) -> Margin:
        share = table.popularity.share_between([row], [row + 1])
        one = np.ones(1, dtype=np.int64)
        counts = np.array([per_row(measure, table, one, share)[0] for measure in self.costs.measures])
        by_component = self.weights * (self.costs.seconds[:, :, :, index] @ counts)  # [tiers, components]
        moved_s, sync_s = by_component[:, :-1].sum(axis=1), by_component[:, -1]
        memory_s = self.price_s_per_byte * self.costs.memory_bytes[:, index]
        return Margin(
            row=row,
            lookups=float(share[0]) * table.lookups_per_rank * self.ranks,
            saves_s=float(moved_s[there] - moved_s[here]),
            costs_s=float(sync_s[here] - sync_s[there] + memory_s[here] - memory_s[there]),
        )
