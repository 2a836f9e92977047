"""What TorchRec's planner would choose: the type of each table that its own cost formulas say is cheapest.

Proposals are those of TorchRec's `GreedyProposer` and `UniformProposer`: every table by its cheapest type, the
table that takes most memory falling back to its next type until all fits; and all tables by one type. Shards
that are not on all ranks are placed the dearest first on the least loaded ranks. A proposal is as good as its
most loaded rank, in the planner's own seconds, which the plan's notes give: they know no skew and no contention,
so the simulation says something else.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from simulator.arrays import FloatArray, IntArray
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import (
    column_owners,
    global_owners,
    global_rows,
    replicated,
    single_owner,
)
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import register
from simulator.sharding.torchrec_cost import (
    SHARDING_TYPES,
    Cluster,
    ShardCost,
    ShardingType,
    shard_cost,
)
from simulator.topology.topology import Topology
from simulator.units import format_bytes, format_duration
from simulator.workload.workload import Statistics, TableStatistics

COLUMNS_OF_A_SHARD = 128  # TorchRec's MIN_CW_DIM


class TorchRecOptions(StrictModel):
    """Which bandwidths the planner believes in."""

    bandwidths: Literal["torchrec", "topology"] = Field(
        "torchrec", description="torchrec: 600 and 12.5 GiB/s, its defaults; topology: the topology's own"
    )


@dataclass(frozen=True)
class Choice:
    """One table by one sharding type: the ranks that a shard may go to, and what each shard costs."""

    table: TableStatistics
    kind: ShardingType
    cost: ShardCost  # of one shard
    shards: int
    shard_memory_bytes: int


@register("planner_torchrec", "TorchRec's planner's choice by its own cost formulas", options=TorchRecOptions)
def planner_torchrec(
    statistics: Statistics, topology: Topology, execution: Execution, options: TorchRecOptions
) -> ShardingPlan:
    """Plan by TorchRec's proposers and its cost model. Raises UserError when no proposal fits."""
    cluster = torchrec_cluster(topology, options)
    by_table = [_choices(table, cluster, topology, execution) for table in statistics.tables]
    placed = [_first_placed(_greedy(by_table), topology)]
    placed += [_first_placed([proposal], topology) for proposal in _uniform(by_table)]
    best = min((found for found in placed if found is not None), key=lambda found: found[0], default=None)
    if best is None:
        raise UserError(
            f"planner_torchrec: no proposal fits {format_bytes(topology.hbm_capacity_bytes)} a rank"
        )
    return ShardingPlan(
        "planner_torchrec",
        topology.world_size,
        best[1],
        execution,
        (f"the planner says {format_duration(best[0])} of communication on its most loaded rank",),
    )


def torchrec_cluster(topology: Topology, options: TorchRecOptions) -> Cluster:
    """The topology as TorchRec's planner sees it: islands are its hosts."""
    host_size = max(topology.island_sizes)
    if options.bandwidths == "torchrec":
        return Cluster(topology.world_size, host_size)
    return Cluster(
        topology.world_size,
        host_size,
        float(topology.scale_up_bytes_per_s.min()),
        float(topology.inter_island_bytes_per_s.min()),
    )


def _choices(
    table: TableStatistics, cluster: Cluster, topology: Topology, execution: Execution
) -> list[Choice]:
    """What may be done with a table, the cheapest first."""
    return sorted(
        (
            _choice(table, kind, cluster, execution)
            for kind in SHARDING_TYPES
            if not (kind == "column_wise" and table.dim < 2 * COLUMNS_OF_A_SHARD)
            and not (kind == "table_row_wise" and topology.island_count == 1)
        ),
        key=lambda choice: choice.cost.total_s,
    )


def _choice(table: TableStatistics, kind: ShardingType, cluster: Cluster, execution: Execution) -> Choice:
    shards = {
        "column_wise": min(table.dim // COLUMNS_OF_A_SHARD, cluster.world_size),
        "row_wise": cluster.world_size,
        "table_row_wise": cluster.host_size,
    }.get(kind, 1)
    columns = -(-table.dim // shards) if kind == "column_wise" else table.dim
    rows = -(-table.rows // shards) if kind in ("row_wise", "table_row_wise") else table.rows
    cost = shard_cost(
        kind,
        cluster,
        lookups_per_rank=table.lookups_per_rank,
        columns=columns,
        element_bytes=table.element_bytes,
        table_bytes=table.rows * table.row_bytes,
    )
    memory_bytes = rows * row_memory_bytes(table, execution.optimizer, columns=columns)
    return Choice(table, kind, cost, shards, memory_bytes)


def _greedy(by_table: Sequence[Sequence[Choice]]) -> Iterator[list[Choice]]:
    """Every table by its cheapest type; then, step by step, the largest table by its next."""
    depth = [0] * len(by_table)
    while True:
        chosen = [choices[place] for choices, place in zip(by_table, depth, strict=True)]
        yield chosen
        movable = [index for index, choices in enumerate(by_table) if depth[index] + 1 < len(choices)]
        if not movable:
            return
        depth[max(movable, key=lambda index: chosen[index].shard_memory_bytes)] += 1


def _uniform(by_table: Sequence[Sequence[Choice]]) -> Iterator[list[Choice]]:
    """All tables by one type, for each that they all can have."""
    for kind in SHARDING_TYPES:
        alike = [[choice for choice in choices if choice.kind == kind] for choices in by_table]
        if all(alike):
            yield [choices[0] for choices in alike]


Placed = tuple[float, tuple[TablePlan, ...]]  # seconds of the most loaded rank, and the plan


def _first_placed(proposals: Iterable[Sequence[Choice]], topology: Topology) -> Placed | None:
    """The first proposal that fits."""
    tried = (_Partition(topology).place(proposal) for proposal in proposals)
    return next((found for found in tried if found is not None), None)


class _Partition:
    """Places the shards of one proposal."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.load_s: FloatArray = np.zeros(topology.world_size)
        self.memory_bytes: IntArray = np.zeros(topology.world_size, dtype=np.int64)

    def place(self, proposal: Sequence[Choice]) -> Placed | None:
        """The most loaded rank's seconds and the plan; None if the proposal does not fit."""
        everywhere = ("row_wise", "data_parallel")
        order = sorted(
            range(len(proposal)),
            key=lambda index: (proposal[index].kind not in everywhere, -proposal[index].cost.total_s, index),
        )
        layouts: dict[int, Layout] = {}
        for index in order:
            layout = self._layout(proposal[index])
            if layout is None:
                return None
            layouts[index] = layout
        tables = tuple(
            TablePlan(choice.table.name, (Segment(0, choice.table.rows, layouts[index]),))
            for index, choice in enumerate(proposal)
        )
        return float(self.load_s.max()), tables

    def _layout(self, choice: Choice) -> Layout | None:
        """Where the choice's shards go, the least loaded ranks first; None if there is no room."""
        world_size = self.topology.world_size
        if choice.kind in ("row_wise", "data_parallel"):
            ranks = tuple(range(world_size))
            layout = global_rows(self.topology) if choice.kind == "row_wise" else replicated(self.topology)
            return layout if self._take(choice, ranks) else None
        if choice.kind == "table_row_wise":
            islands = sorted(self.topology.islands, key=lambda ranks: float(self.load_s[list(ranks)].max()))
            ranks = next((island for island in islands if self._take(choice, island)), ())
            return global_owners(world_size, ranks) if ranks else None
        owners: list[int] = []
        for rank in np.argsort(self.load_s, kind="stable").tolist():
            if len(owners) < choice.shards and self._take(choice, (rank,)):
                owners.append(rank)
        if len(owners) < choice.shards:
            return None
        if choice.kind == "column_wise":
            return column_owners(world_size, tuple(owners))
        return single_owner(world_size, owners[0])

    def _take(self, choice: Choice, ranks: tuple[int, ...]) -> bool:
        """Load one shard on each of the ranks if it fits on all."""
        where = list(ranks)
        memory_bytes = self.memory_bytes[where] + choice.shard_memory_bytes
        if (memory_bytes > self.topology.hbm_capacity_bytes).any():
            return False
        self.memory_bytes[where] = memory_bytes
        self.load_s[where] += choice.cost.total_s
        return True
