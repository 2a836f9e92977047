"""What a plan's communication is predicted to take: expected bytes, balanced ranks, no contention.

Theory of operation. Each step's all-to-alls of each tier take as long as the busiest port's bytes, and the tiers
of a step follow one another (`tiers: serial`) or run at once, when they take as long as the slower of them and
no less than their bytes together need. Then copies are synchronised, one layout after another; a synchronisation
every k iterations counts as 1/k of one. Start-up times and latencies are added for every call.

The planner minimises this, and "the planner says X, the simulation says Y" compares with it. On request the load
that hot rows are expected to put on one owner is counted (`hot_owners`). What it leaves out: flows that share a
fabric, ranks that wait, and the overlap of ids with compute.
"""

from collections import Counter
from dataclasses import dataclass, replace

from simulator.arrays import FloatArray
from simulator.sharding.exchange import ID_BYTES, STEPS, Asked, Exchange, bytes_s, exchange, stages, startup_s
from simulator.sharding.execution import Execution
from simulator.sharding.expected import Run, distinct_rows, lookups, run_of, touched_chance
from simulator.sharding.hot_owners import busiest_over_mean
from simulator.sharding.loads import Geometry, Loads
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.plan import Layout, Segment, ShardingPlan, Tier
from simulator.sharding.replicas import Copied, SyncStage, sync_stages
from simulator.sums import added
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics, TableStatistics

SERIAL_ORDER = (Tier.ISLAND, Tier.GROUP, Tier.GLOBAL)


@dataclass(frozen=True)
class PhasePrediction:
    """One step of one tier. Bytes are those of all ranks."""

    step: str
    tier: Tier
    time_s: float
    nic_s: float  # of the busiest share of a NIC
    scale_up_s: float  # of the busiest scale-up port
    startup_s: float
    inter_island_bytes: float
    intra_island_bytes: float


@dataclass(frozen=True)
class Prediction:
    """Seconds of communication in one iteration, and what they are made of."""

    total_s: float
    sync_s: float
    phases: tuple[PhasePrediction, ...]

    @property
    def without_sync_s(self) -> float:
        return self.total_s - self.sync_s

    @property
    def global_all_to_all_bytes(self) -> float:
        """Of all ranks; the figure that FlexShard's abstract speaks of."""
        return sum(
            phase.inter_island_bytes + phase.intra_island_bytes
            for phase in self.phases
            if phase.tier is Tier.GLOBAL and phase.step in STEPS
        )


def predict(
    plan: ShardingPlan, statistics: Statistics, topology: Topology, *, hot_owners: bool = False
) -> Prediction:
    """Expected communication of one iteration of a plan that has passed `check_plan`.

    With `hot_owners` a step takes as long as the owner that hot rows are expected to load most; without, owners
    are balanced.
    """
    execution = plan.execution
    placed = by_layout(plan, statistics)
    exchanges = _exchanges(placed, topology, execution, hot_owners=hot_owners)
    phases: list[PhasePrediction] = []
    total_s = 0.0
    for step in STEPS:
        own = {tier: exchanges[step, tier] for tier in SERIAL_ORDER if (step, tier) in exchanges}
        step_phases = [_phase(tier, own[tier], topology, execution) for tier in own]
        total_s += _step_s(step_phases, own, topology, execution)
        phases += step_phases
    sync = [
        _sync_phase(layout.tier, stages_of_copies, topology, execution)
        for layout, runs in placed.items()
        if (
            stages_of_copies := sync_stages(
                layout, _copied(layout, runs, topology, execution), topology, execution
            )
        )
    ]
    sync_s = added(phase.time_s for phase in sync)
    return Prediction(total_s + sync_s, sync_s, (*phases, *sync))


def exchanges_of(
    plan: ShardingPlan, statistics: Statistics, topology: Topology
) -> dict[tuple[str, Tier], Exchange]:
    """The expected all-to-alls of a plan by step and tier."""
    return _exchanges(by_layout(plan, statistics), topology, plan.execution, hot_owners=False)


Placed = dict[Layout, list[tuple[TableStatistics, Segment, Run]]]


def by_layout(plan: ShardingPlan, statistics: Statistics) -> Placed:
    """The runs of rows under each layout, over all tables."""
    placed: Placed = {}
    for table, table_plan in zip(statistics.tables, plan.tables, strict=True):
        for segment in table_plan.segments:
            run = run_of(table, segment.start, segment.stop)
            placed.setdefault(segment.layout, []).append((table, segment, run))
    return placed


def _exchanges(
    placed: Placed, topology: Topology, execution: Execution, *, hot_owners: bool
) -> dict[tuple[str, Tier], Exchange]:
    exchanges: dict[tuple[str, Tier], Exchange] = {}
    for layout, runs in placed.items():
        if layout.tier is Tier.REPLICATED:
            continue
        geometry = Geometry(layout, topology)
        asked = _asked(layout, runs, topology, execution)
        if hot_owners and layout.split == "rows":
            asked = replace(asked, busiest=_busiest(layout, runs, topology, execution))
        for step in STEPS:
            own = exchange(step, asked, geometry)
            known = exchanges.get((step, layout.tier))
            exchanges[step, layout.tier] = own if known is None else known + own
    return exchanges


def _asked(
    layout: Layout, runs: list[tuple[TableStatistics, Segment, Run]], topology: Topology, execution: Execution
) -> Asked:
    """What a rank asks of a layout, and an island of every size if ranks pool what they ask."""
    fan_out = max(len(owners) for owners in layout.copies) if layout.split == "columns" else 1
    once = execution.dedup != "none"
    straight = [(table, distinct_rows(run, table) if once else lookups(run, table)) for table, _, run in runs]
    pooled = {}
    if execution.dedup == "island" and layout.tier is not Tier.ISLAND:
        for size in sorted(set(topology.island_sizes)):
            rows = [(table, distinct_rows(run, table, ranks=size)) for table, _, run in runs]
            pooled[size] = _bytes_by_step(rows, fan_out, execution)
    return Asked(_bytes_by_step(straight, fan_out, execution), pooled)


def _busiest(
    layout: Layout, runs: list[tuple[TableStatistics, Segment, Run]], topology: Topology, execution: Execution
) -> float:
    """What hot rows make the busiest owner of a copy answer, over the mean; rows weigh their bytes."""
    askers = {"none": 0, "rank": 1, "island": max(topology.island_sizes)}[execution.dedup]
    single_rows: list[FloatArray] = []
    total = 0.0
    for table, _, run in runs:
        row_weights = run.shares * table.lookups_per_rank
        if askers:
            row_weights = run.rows * touched_chance(run.rows, run.shares, askers * table.lookups_per_rank)
        row_weights = row_weights * table.row_bytes
        single_rows.append(row_weights[run.rows == 1])
        total += float(row_weights.sum())
    return busiest_over_mean(single_rows, total, max(len(owners) for owners in layout.copies))


def _bytes_by_step(
    asked: list[tuple[TableStatistics, float]], fan_out: int, execution: Execution
) -> dict[str, float]:
    """Bytes of the rows that are asked for; every owner of some columns gets each id."""
    return {
        "ids": added(rows * ID_BYTES * fan_out for _, rows in asked),
        "embeddings": added(rows * table.row_bytes for table, rows in asked),
        "gradients": added(rows * gradient_row_bytes(table, execution) for table, rows in asked),
    }


def gradient_row_bytes(table: TableStatistics, execution: Execution) -> int:
    """The gradient of one row."""
    return table.dim * execution.gradient_element_bytes(table.element_bytes)


def synchronised_row_bytes(table: TableStatistics, tier: Tier, execution: Execution) -> int:
    """What copies exchange of one row: its gradient; groups its weights and optimizer state."""
    if tier is Tier.GROUP:
        return row_memory_bytes(table, execution.optimizer)
    return gradient_row_bytes(table, execution)


def _copied(
    layout: Layout, runs: list[tuple[TableStatistics, Segment, Run]], topology: Topology, execution: Execution
) -> Copied:
    def row_bytes(table: TableStatistics) -> int:
        return synchronised_row_bytes(table, layout.tier, execution)

    whole = sum((segment.stop - segment.start) * row_bytes(table) for table, segment, _ in runs)
    touched = {}
    if execution.sync == "sparse" and len(layout.copies) > 1:
        for ranks in sorted({1, *topology.island_sizes, *Counter(layout.copy_of).values()}):
            touched[ranks] = sum(
                distinct_rows(run, table, ranks=ranks * execution.sync_every) * (ID_BYTES + row_bytes(table))
                for table, _, run in runs
            )
    return Copied(whole, touched)


def _phase(tier: Tier, moved: Exchange, topology: Topology, execution: Execution) -> PhasePrediction:
    parts = [part for call in moved.calls for part in stages(call, topology, execution)]
    return _prediction(moved.step, tier, [SyncStage(part) for part in parts], topology)


def _sync_phase(
    tier: Tier, parts: tuple[SyncStage, ...], topology: Topology, execution: Execution
) -> PhasePrediction:
    return _prediction("replica_sync", tier, list(parts), topology, share=1.0 / execution.sync_every)


def _prediction(
    step: str, tier: Tier, parts: list[SyncStage], topology: Topology, *, share: float = 1.0
) -> PhasePrediction:
    start_s = added(startup_s(part.loads, topology, steps=part.steps) for part in parts)
    return PhasePrediction(
        step=step,
        tier=tier,
        time_s=share * (start_s + added(part.bytes_s(topology) for part in parts)),
        nic_s=share * added(part.loads.nic_s(topology) for part in parts),
        scale_up_s=share * added(part.loads.up_s(topology) for part in parts),
        startup_s=share * start_s,
        inter_island_bytes=share * added(part.loads.nic_bytes for part in parts),
        intra_island_bytes=share * added(part.loads.up_bytes for part in parts),
    )


def _step_s(
    phases: list[PhasePrediction], moved: dict[Tier, Exchange], topology: Topology, execution: Execution
) -> float:
    """Tiers one after another, or at once: as long as the slowest, and as all their bytes need of a port."""
    if execution.tiers == "serial":
        return added(phase.time_s for phase in phases)
    together = Loads.none(topology.world_size)
    for own in moved.values():
        for call in own.calls:
            for part in stages(call, topology, execution):
                together += part
    return max([bytes_s(together, topology), *(phase.time_s for phase in phases)])
