"""Why one iteration of each policy takes as long as it does."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from simulator.engine.program import Collective
from simulator.engine.timeline import Timeline
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment
from simulator.explanation.critical_path import CriticalPath, critical_path
from simulator.explanation.elasticity import DEFAULT_STEP, Elasticities, elasticities
from simulator.explanation.parts import CollectiveCost, Costs, Lead, Parts
from simulator.metrics.measure import named_collectives
from simulator.sharding.registry import unknown
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point
from simulator.sweeps.workers import Workers
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class PhaseExplanation:
    """One phase: the parts of the rank that leaves last, in the group that takes longest."""

    name: str
    parts: Parts
    mean_wait_s: float  # of all ranks
    max_wait_s: float
    transfer_s: float
    bound_s: float
    lead: Lead


@dataclass(frozen=True, eq=False)
class PolicyExplanation:
    """One iteration of one policy.

    `communication` are the parts of the rank with most of it; they add up to `communication_s` but for `overlap_s`,
    in which that rank has more than one collective in flight. `path_parts` are those of the critical path's
    collectives; with its computes they fill the iteration.
    """

    policy: str
    iteration_s: float
    communication_s: float
    communication: Parts
    overlap_s: float
    slowest_rank: int
    phases: tuple[PhaseExplanation, ...]
    path: CriticalPath
    path_compute_s: float
    path_parts: Parts
    elasticities: Elasticities

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        data = {name: getattr(self, name) for name in ("policy", "iteration_s", "communication_s")}
        return data | {
            "communication_parts_s": asdict(self.communication) | {"overlap_s": self.overlap_s},
            "slowest_rank": self.slowest_rank,
            "phases": [asdict(phase) for phase in self.phases],
            "critical_path": {
                "late_s": self.path.late_s,
                "compute_s": self.path_compute_s,
                "parts_s": asdict(self.path_parts),
                "steps": [asdict(step) for step in self.path.steps],
            },
            "elasticities": [asdict(each) | {"value": each.value} for each in self.elasticities.of],
            "not_turned": [{"knob": knob, "why": why} for knob, why in self.elasticities.refused],
        }


def explain_experiment(
    experiment: Experiment,
    *,
    policies: Sequence[str] | None = None,
    step: float = DEFAULT_STEP,
    workers: Workers | None = None,
) -> list[PolicyExplanation]:
    """Explain the first iteration of each policy (those named, or all). Raises UserError."""
    points = points_of(experiment, policies)
    found = elasticities(points, step=step, workers=workers)
    bench = Bench()
    return [explain_point(bench, point, own) for point, own in zip(points, found, strict=True)]


def points_of(experiment: Experiment, policies: Sequence[str] | None) -> list[Point]:
    """The experiment's policies as points of one iteration. Raises UserError for an unknown label."""
    labels = [entry.label for entry in experiment.policies]
    for name in policies or ():
        if name not in labels:
            raise UserError(unknown("policy", name, labels))
    chosen = [entry for entry in experiment.policies if policies is None or entry.label in policies]
    return [replace(Point.of(experiment, entry), iterations=1) for entry in chosen]


def explain_point(bench: Bench, point: Point, own: Elasticities) -> PolicyExplanation:
    """Replay the first iteration of a point and take it apart."""
    experiment, setup = bench.set_up(point)
    timeline = bench.iteration(point, experiment, setup, 0).timeline
    return explain_timeline(timeline, experiment.topology, policy=point.label, elasticities=own)


def explain_timeline(
    timeline: Timeline, topology: Topology, *, policy: str, elasticities: Elasticities
) -> PolicyExplanation:
    """Take a replayed iteration apart."""
    costs = Costs(topology)
    cost_of = {
        index: costs.of(operation)
        for index, operation in enumerate(timeline.program.operations)
        if isinstance(operation, Collective)
    }
    path = critical_path(timeline)
    moving = [step for step in path.steps if step.operation in cost_of]
    path_parts = (cost_of[step.operation].parts(0.0, step.duration_s) for step in moving)
    busy_s = timeline.busy_s(list(cost_of))
    slowest = int(busy_s.argmax())
    own = (parts_at(timeline, index, slowest, cost) for index, cost in cost_of.items())
    communication = sum(own, Parts())
    return PolicyExplanation(
        policy=policy,
        iteration_s=timeline.iteration_s,
        communication_s=float(busy_s[slowest]),
        communication=communication,
        overlap_s=communication.total_s - float(busy_s[slowest]),
        slowest_rank=slowest,
        phases=tuple(
            phase_explanation(name, timeline, indices, cost_of)
            for name, indices in named_collectives(timeline).items()
        ),
        path=path,
        path_compute_s=sum(step.duration_s for step in path.steps if step.operation not in cost_of),
        path_parts=sum(path_parts, Parts()),
        elasticities=elasticities,
    )


def parts_at(timeline: Timeline, index: int, rank: int, cost: CollectiveCost) -> Parts:
    """A rank's parts in a collective; none where it has no part in it."""
    if np.isnan(timeline.end_s[index, rank]):
        return Parts()
    return cost.parts(float(timeline.wait_s[index, rank]), float(timeline.transfer_s[index, rank]))


def phase_explanation(
    name: str, timeline: Timeline, indices: Sequence[int], cost_of: Mapping[int, CollectiveCost]
) -> PhaseExplanation:
    """All groups of one phase, by the slowest."""
    transfer_s = timeline.transfer_s[list(indices)]
    row, rank = np.unravel_index(int(np.nanargmax(transfer_s)), transfer_s.shape)
    slowest = indices[int(row)]
    cost, wait_s = cost_of[slowest], timeline.wait_s[list(indices)]
    return PhaseExplanation(
        name=name,
        parts=parts_at(timeline, slowest, int(rank), cost),
        mean_wait_s=float(np.nanmean(wait_s)),
        max_wait_s=float(np.nanmax(wait_s)),
        transfer_s=float(transfer_s[row, rank]),
        bound_s=cost.bound_s,
        lead=cost.lead,
    )
