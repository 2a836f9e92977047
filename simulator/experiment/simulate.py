"""Replays an experiment: policy by policy, iteration by iteration, each iteration on its own.

An iteration is a pure function of (experiment, policy, iteration number), so iterations may be computed in any
order, taken from a checkpoint, or left out.
"""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Protocol

from simulator.engine.iteration import IDS, iteration_program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.experiment.experiment import Experiment
from simulator.metrics.bounds import collective_bounds
from simulator.metrics.hit_rates import HitRate, hit_rates
from simulator.metrics.invariants import check_iteration, check_memory
from simulator.metrics.measure import measure
from simulator.metrics.records import IterationRecord, mean_record
from simulator.metrics.summary import PolicySummary, estimate, summarise
from simulator.sharding.check import check_plan
from simulator.sharding.memory import MemoryUse, memory_bytes
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase
from simulator.traffic.placement import Placement, prepare
from simulator.traffic.traffic import Traffic, draw_traffic
from simulator.workload.workload import Batch, Workload

Records = MutableMapping[tuple[str, int], IterationRecord]
Observer = Callable[["PolicySetup", IterationRecord, "Iteration | None"], None]


class Placer(Protocol):
    """Places a plan, or knows the placement already: see `prepare`."""

    def __call__(
        self, plan: ShardingPlan, workload: Workload, topology: Topology, *, seed: int
    ) -> Placement: ...


@dataclass(frozen=True, eq=False)
class PolicySetup:
    """A policy planned, checked and placed: ready to be replayed."""

    label: str
    plan: ShardingPlan
    memory: MemoryUse
    placement: Placement


@dataclass(frozen=True, eq=False)
class Draw:
    """One iteration's lookups and the bytes they cause; with pipelining, also the ids of the next."""

    batch: Batch
    traffic: Traffic
    next_ids: tuple[Phase, ...]


@dataclass(frozen=True, eq=False)
class Iteration:
    """All that one replayed iteration leaves behind: traffic and timeline of one that synchronises copies, and the
    record of an iteration on average, where not every one does."""

    traffic: Traffic
    timeline: Timeline
    record: IterationRecord


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of an experiment: its policies' setups and records, and their summaries, in order."""

    experiment: Experiment
    setups: tuple[PolicySetup, ...]
    records: tuple[tuple[IterationRecord, ...], ...]
    summaries: tuple[PolicySummary, ...]

    def hit_rates(self) -> list[tuple[HitRate, ...]]:
        """Of each policy, its tiers' planned and achieved shares of the lookups."""
        statistics = self.experiment.workload.statistics()
        return [
            hit_rates(setup.plan, statistics, records)
            for setup, records in zip(self.setups, self.records, strict=True)
        ]


def set_up(experiment: Experiment, entry: PolicyEntry, *, place: Placer = prepare) -> PolicySetup:
    """Plan a policy and place its plan. Raises UserError when the plan is incomplete or does not fit."""
    topology, statistics = experiment.topology, experiment.workload.statistics()
    plan = plan_policy(experiment, entry)
    memory = memory_bytes(plan, statistics, topology)
    check_memory(memory, plan, statistics)
    return PolicySetup(
        label=entry.label,
        plan=plan,
        memory=memory,
        placement=place(plan, experiment.workload, topology, seed=experiment.seed),
    )


def plan_policy(experiment: Experiment, entry: PolicyEntry) -> ShardingPlan:
    """A policy's plan, checked. Raises UserError when it is incomplete or does not fit."""
    statistics = experiment.workload.statistics()
    plan = make_plan(entry, statistics, experiment.topology, experiment.execution)
    check_plan(plan, statistics, experiment.topology)
    return plan


def simulate_iteration(experiment: Experiment, setup: PolicySetup, number: int) -> Iteration:
    """Draw, replay, measure and check one iteration."""
    return replay_iteration(experiment, setup, draw(experiment, setup.placement, number))


def draw(experiment: Experiment, placement: Placement, number: int) -> Draw:
    """What moves in one iteration. The topology's speeds have no part in it."""
    batch = draw_batch(experiment, number)
    next_ids: tuple[Phase, ...] = ()
    if placement.execution.pipelining:
        next_traffic = draw_traffic(placement, draw_batch(experiment, number + 1))
        next_ids = tuple(phase for phase in next_traffic.phases if phase.step in IDS)
    return Draw(batch, draw_traffic(placement, batch), next_ids)


def replay_iteration(experiment: Experiment, setup: PolicySetup, drawn: Draw) -> Iteration:
    """Replay, measure and check what was drawn.

    Where copies are synchronised once in several iterations, the same draw is replayed with and without, and the
    record is their mean, weighed as often as they come: each iteration is then drawn as any other, and one of them
    counts its part of a synchronisation.
    """
    synchronising = _replayed(experiment, setup, drawn)
    every = setup.plan.execution.sync_every
    if every == 1 or not drawn.traffic.sync:
        return synchronising
    other = _replayed(experiment, setup, replace(drawn, traffic=replace(drawn.traffic, sync=())))
    return replace(synchronising, record=mean_record(synchronising.record, other.record, share=1 / every))


def _replayed(experiment: Experiment, setup: PolicySetup, drawn: Draw) -> Iteration:
    topology, workload, traffic = experiment.topology, experiment.workload, drawn.traffic
    program = iteration_program(traffic, workload, topology, setup.plan.execution, next_ids=drawn.next_ids)
    timeline = replay(program, topology, engine=experiment.engine, tolerance=experiment.tolerance or None)
    bounds = collective_bounds(program, topology)
    number = drawn.batch.iteration
    record = measure(timeline, traffic, topology, bounds, policy=setup.label, iteration=number)
    contends = experiment.engine == "fluid"
    check_iteration(timeline, traffic, record, bounds, topology, drawn.batch, contends=contends)
    return Iteration(traffic, timeline, record)


def draw_batch(experiment: Experiment, number: int) -> Batch:
    return experiment.workload.draw_batch(
        experiment.topology.world_size, seed=experiment.seed, iteration=number
    )


def iterations(
    experiment: Experiment, setup: PolicySetup, done: Records
) -> Iterator[tuple[IterationRecord, Iteration | None]]:
    """Each iteration's record, in order; those in `done` are not computed again (and come without the rest)."""
    records: list[IterationRecord] = []
    while not enough(experiment, records):
        number = len(records)
        known = done.get((setup.label, number))
        fresh = simulate_iteration(experiment, setup, number) if known is None else None
        record = fresh.record if fresh is not None else known
        assert record is not None
        records.append(record)
        yield record, fresh


def enough(experiment: Experiment, records: list[IterationRecord]) -> bool:
    """Whether these iterations are all that were asked for."""
    if isinstance(experiment.iterations, int):
        return len(records) >= experiment.iterations
    precision = experiment.precision
    if len(records) < precision.minimum:
        return False
    time = estimate([record.metrics.communication_s for record in records])
    narrow = not time.half_width or time.half_width <= precision.relative_half_width * (time.mean or 0)
    return narrow or len(records) >= precision.maximum


def set_up_all(experiment: Experiment) -> tuple[PolicySetup, ...]:
    """Plan every policy. Raises UserError for the first plan that is incomplete or does not fit."""
    return tuple(set_up(experiment, entry) for entry in experiment.policies)


def simulate(
    experiment: Experiment,
    *,
    setups: tuple[PolicySetup, ...] | None = None,
    done: Records | None = None,
    observer: Observer | None = None,
) -> Comparison:
    """Replay every policy, planned here unless `setups` are. `observer` sees each iteration as it finishes."""
    setups = set_up_all(experiment) if setups is None else setups
    every: list[tuple[IterationRecord, ...]] = []
    for setup in setups:
        finished = []
        for record, fresh in iterations(experiment, setup, done if done is not None else {}):
            finished.append(record)
            if observer is not None:
                observer(setup, record, fresh)
        every.append(tuple(finished))
    return Comparison(experiment, setups, tuple(every), summaries(experiment, setups, every))


def summaries(
    experiment: Experiment, setups: tuple[PolicySetup, ...], records: list[tuple[IterationRecord, ...]]
) -> tuple[PolicySummary, ...]:
    """Summaries in the policies' order, all against the baseline."""
    by_label = dict(zip((setup.label for setup in setups), zip(setups, records, strict=True), strict=True))

    def summary(label: str, baseline: PolicySummary | None) -> PolicySummary:
        setup, own = by_label[label]
        most = int(setup.memory.total_bytes.max())
        return summarise(own, policy=label, memory_bytes_per_rank_max=most, baseline=baseline)

    baseline = summary(experiment.baseline, None)
    return tuple(summary(setup.label, baseline) for setup in setups)
