"""What a row costs in each of FlexShard's tiers: seconds for each unit of how often it is asked for, and memory.

Theory of operation. The predicted time of a plan is a sum over rows, so a row's cost depends on its tier and on
how often it is looked up alone. How often is measured in up to three ways, since dedup and sparse
synchronisation count a row once where it is looked up often:

    rows            1 for each row: dense synchronisation sums a row whether it was looked up or not
    lookups         expected lookups by one rank: all-to-alls without dedup
    touched(k)      the chance that k ranks look it up at all: with dedup a rank asks once (k = 1) or its island
                    does (k = island size); sparse synchronisation moves the rows that copies' readers touched

Costs are kept in components, because tiers that run at once share ports. Of each race, steps of the all-to-alls
that always have the same tier ahead, there are three, and there is one more:

    across   the global all-to-alls, from their start to their end
    beside   the part of them that goes over scale-up ports
    inside   the island all-to-alls, over the same ports
    sync     synchronisation of copies, always on its own

`tiers: serial` takes across + inside of every race, `concurrent` max(across, beside + inside), and both sync.
Embeddings and gradients are one race; ids are another, since an id is as long for a short row as for a long
one, unless all tables have rows of one length. All are the seconds that `predict` gives, without start-up, for
one unit of each measure. With `dedup: island` the part of a
global all-to-all that is not its bottleneck (NIC or scale-up) is left out; with islands of unequal size the
busiest rank of each measure is taken, an upper bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.exchange import ID_BYTES, STEPS, Asked, Exchange, bytes_s, exchange, stages
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, island, replicated
from simulator.sharding.loads import Geometry, Loads
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Layout, Tier
from simulator.sharding.predict import gradient_row_bytes, synchronised_row_bytes
from simulator.sharding.replicas import Copied, sync_stages
from simulator.sums import added
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics, TableStatistics

TIERS = (Tier.REPLICATED, Tier.ISLAND, Tier.GLOBAL)
PARTS = ("across", "beside", "inside")  # of each race; the last component is sync


@dataclass(frozen=True)
class Measure:
    """How often a row counts; see above. `ranks` belongs to `touched` alone."""

    kind: Literal["rows", "lookups", "touched"]
    ranks: int = 1


ROWS = Measure("rows")


@dataclass(frozen=True, eq=False)
class TierCosts:
    """Costs of a row of each table in each tier, tiers and parts in the order of the constants above."""

    measures: tuple[Measure, ...]
    races: int
    seconds: FloatArray  # [tiers, 3 * races + 1, measures, tables]
    memory_bytes: FloatArray  # [tiers, tables] of the fullest rank


def component_weights(shares: FloatArray, *, concurrent: bool) -> FloatArray:
    """[components] what a second of each is worth when global all-to-alls hold `shares` [races] of the races."""
    rest = 1.0 - shares if concurrent else np.zeros(len(shares))
    inside = rest if concurrent else np.ones(len(shares))
    return np.append(np.array([shares, rest, inside]).T.ravel(), 1.0)


class _Ledger:
    """Collects seconds by (tier, component, measure)."""

    def __init__(self, statistics: Statistics, topology: Topology, execution: Execution) -> None:
        self.tables = statistics.tables
        self.topology = topology
        self.execution = execution
        self.entries: dict[tuple[Tier, int, Measure], FloatArray] = {}
        alike = len({table.row_bytes for table in self.tables}) == 1
        self.races = 1 if alike else 2

    def add(self, tier: Tier, part: str, step: str, measure: Measure, seconds: FloatArray) -> None:
        """`seconds` [tables] for each unit of the measure."""
        race = 0 if step == "ids" else self.races - 1
        component = 3 * self.races if part == "sync" else 3 * race + PARTS.index(part)
        key = (tier, component, measure)
        self.entries[key] = self.entries.get(key, 0.0) + seconds

    def step_bytes(self, step: str) -> FloatArray:
        """[tables] bytes of one row in a step."""
        return np.array([_step_bytes(step, table, self.execution) for table in self.tables], dtype=np.float64)


def tier_costs(statistics: Statistics, topology: Topology, execution: Execution) -> TierCosts:
    """What a row of each table costs in each tier."""
    ledger = _Ledger(statistics, topology, execution)
    for tier, layout in ((Tier.ISLAND, island(topology)), (Tier.GLOBAL, global_rows(topology))):
        for step in STEPS:
            _add_exchange(ledger, tier, layout, step)
    for tier, layout in ((Tier.REPLICATED, replicated(topology)), (Tier.ISLAND, island(topology))):
        _add_sync(ledger, tier, layout)
    measures = tuple(dict.fromkeys([ROWS, *(measure for _, _, measure in ledger.entries)]))
    seconds = np.zeros((len(TIERS), 3 * ledger.races + 1, len(measures), len(statistics.tables)))
    for (tier, component, measure), values in ledger.entries.items():
        seconds[TIERS.index(tier), component, measures.index(measure)] = values
    return TierCosts(measures, ledger.races, seconds, _memory_bytes(statistics, topology, execution))


def _memory_bytes(statistics: Statistics, topology: Topology, execution: Execution) -> FloatArray:
    row = np.array([row_memory_bytes(table, execution.optimizer) for table in statistics.tables])
    return np.array([row, row / min(topology.island_sizes), row / topology.world_size])


def _step_bytes(step: str, table: TableStatistics, execution: Execution) -> int:
    if step == "ids":
        return ID_BYTES
    return table.row_bytes if step == "embeddings" else gradient_row_bytes(table, execution)


def _add_exchange(ledger: _Ledger, tier: Tier, layout: Layout, step: str) -> None:
    geometry = Geometry(layout, ledger.topology)
    straight = Measure("lookups") if ledger.execution.dedup == "none" else Measure("touched", 1)
    row_bytes = ledger.step_bytes(step)
    if ledger.execution.dedup == "island" and tier is Tier.GLOBAL:
        _add_pooled_exchange(ledger, geometry, step, row_bytes)
        return
    whole_s, up_s = _seconds(ledger, exchange(step, _unit(1.0, {}), geometry))
    if tier is Tier.ISLAND:
        ledger.add(tier, "inside", step, straight, row_bytes * up_s)
        return
    ledger.add(tier, "across", step, straight, row_bytes * whole_s)
    ledger.add(tier, "beside", step, straight, row_bytes * up_s)


def _add_pooled_exchange(ledger: _Ledger, geometry: Geometry, step: str, row_bytes: FloatArray) -> None:
    sizes = sorted(set(ledger.topology.island_sizes))
    straight = exchange(step, _unit(1.0, dict.fromkeys(sizes, 0.0)), geometry)
    pooled = {
        size: exchange(step, _unit(0.0, {other: float(other == size) for other in sizes}), geometry)
        for size in sizes
    }
    near_s, _ = _seconds(ledger, Exchange(step, straight.loads))
    all_near_s, all_near_up_s = _seconds(ledger, straight)
    far = {size: _seconds(ledger, moved) for size, moved in pooled.items()}
    bound_by_pools = added(whole_s for whole_s, _ in far.values()) >= near_s
    once = Measure("touched", 1)
    across_s = all_near_s - near_s if bound_by_pools else all_near_s
    ledger.add(Tier.GLOBAL, "across", step, once, row_bytes * across_s)
    ledger.add(Tier.GLOBAL, "beside", step, once, row_bytes * all_near_up_s)
    for size, (whole_s, up_s) in far.items():
        measure = Measure("touched", size)
        if bound_by_pools:
            ledger.add(Tier.GLOBAL, "across", step, measure, row_bytes * whole_s)
        ledger.add(Tier.GLOBAL, "beside", step, measure, row_bytes * up_s)


def _add_sync(ledger: _Ledger, tier: Tier, layout: Layout) -> None:
    execution, topology = ledger.execution, ledger.topology
    row_bytes = np.array(
        [synchronised_row_bytes(table, tier, execution) for table in ledger.tables], dtype=np.float64
    )
    every = execution.sync_every
    sizes = sorted({1, *topology.island_sizes})
    nothing = dict.fromkeys(sizes, 0.0)
    if execution.sync == "dense":
        each_s = _sync_s(layout, Copied(1.0, nothing), topology, execution)
        ledger.add(tier, "sync", "replica_sync", ROWS, row_bytes * each_s / every)
        return
    for size in sizes:
        each_s = _sync_s(layout, Copied(0.0, nothing | {size: 1.0}), topology, execution)
        if each_s > 0:
            measure = Measure("touched", size * every)
            ledger.add(tier, "sync", "replica_sync", measure, (ID_BYTES + row_bytes) * each_s / every)


def _unit(straight: float, pooled: Mapping[int, float]) -> Asked:
    return Asked(
        dict.fromkeys(STEPS, straight), {size: dict.fromkeys(STEPS, part) for size, part in pooled.items()}
    )


def _seconds(ledger: _Ledger, moved: Exchange) -> tuple[float, float]:
    """From start to end, and of the scale-up ports alone."""
    parts: Sequence[Loads] = [
        part for call in moved.calls for part in stages(call, ledger.topology, ledger.execution)
    ]
    whole_s = added(bytes_s(part, ledger.topology) for part in parts)
    return whole_s, added(part.up_s(ledger.topology) for part in parts)


def _sync_s(layout: Layout, copied: Copied, topology: Topology, execution: Execution) -> float:
    return added(stage.bytes_s(topology) for stage in sync_stages(layout, copied, topology, execution))
