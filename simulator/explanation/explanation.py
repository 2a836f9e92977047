"""Why one iteration of each policy takes as long as it does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.anatomy.anatomy import Anatomy, anatomy_of
from simulator.anatomy.elasticity import Elasticities
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment
from simulator.explanation.elasticity import DEFAULT_STEP, elasticities
from simulator.sharding.registry import unknown
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point
from simulator.sweeps.workers import Workers


@dataclass(frozen=True, eq=False)
class PolicyExplanation(Anatomy):
    """One iteration of one policy, and what its communication time follows.

    `recorded_s` is the communication time that a run records of the iteration: with `sync_every` above 1 it is less
    than that of the iteration taken apart, which synchronises copies.
    """

    elasticities: Elasticities
    recorded_s: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return super().to_json() | self.elasticities.to_json()


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
    iteration = bench.iteration(point, experiment, setup, 0)
    anatomy = anatomy_of(iteration.timeline, experiment.topology, policy=point.label)
    recorded_s = iteration.record.metrics.communication_s
    return PolicyExplanation(**vars(anatomy), elasticities=own, recorded_s=recorded_s)
