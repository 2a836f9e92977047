"""Computes points, and keeps what points have in common: that is most of a point's work.

A cluster and a workload are built once for all points that have them, and tables once for all workloads that have
them. Where the rows of a plan lie does not depend on the cluster's speeds, so points that differ in them alone
share a placement as long as the policy plans alike, and the bytes of every iteration with it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from simulator.experiment.experiment import Experiment
from simulator.experiment.simulate import Draw, Iteration, PolicySetup, draw, replay_iteration, set_up
from simulator.metrics.summary import summarise
from simulator.sharding.plan import ShardingPlan
from simulator.sweeps.point import Point, one_line
from simulator.topology.build import build_topology
from simulator.topology.topology import Topology
from simulator.traffic.placement import Placement, prepare
from simulator.workload.build import build_workload
from simulator.workload.workload import Workload

T = TypeVar("T")
TOPOLOGIES_KEPT = 16
WORKLOADS_KEPT = 8
PLACEMENTS_KEPT = 3
DRAWS_KEPT = 128
MATRIX_ENTRIES_KEPT = 1 << 22  # of all draws together


@dataclass(frozen=True)
class Result:
    """What came of a point: its figures, or in a line why there are none."""

    key: str
    figures: dict[str, Any]
    error: str = ""


class Kept:
    """The last few values made, by what they were made from."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], *, at_most: int) -> T:
        """The value of `key`, made when it is not kept; the longest unused are dropped beyond `at_most`."""
        if key not in self._values:
            self._values[key] = make()
        self._values.move_to_end(key)
        while len(self._values) > at_most:
            self._values.popitem(last=False)
        value: T = self._values[key]
        return value

    def last(self) -> Any:
        """The value last made or asked for; None before the first."""
        return next(reversed(self._values.values()), None)


class Bench:
    """One process's workplace."""

    def __init__(self) -> None:
        self._topologies, self._workloads = Kept(), Kept()
        self._placements, self._draws = Kept(), Kept()

    def results(self, points: Sequence[Point]) -> list[Result]:
        """One for each point. Errors are results."""
        return [self.result(point) for point in points]

    def result(self, point: Point) -> Result:
        try:
            return Result(point.key, self.figures(point))
        except Exception as error:
            return Result(point.key, {}, one_line(error))

    def figures(self, point: Point) -> dict[str, Any]:
        """Means over the iterations by the metrics' names, then memory and bottleneck. Raises UserError."""
        experiment, setup = self.set_up(point)
        records = [
            self.iteration(point, experiment, setup, number).record for number in range(point.iterations)
        ]
        most_bytes = setup.memory.max_bytes
        summary = summarise(records, policy=point.label, memory_bytes_per_rank_max=most_bytes, baseline=None)
        means = {name: estimate.mean for name, estimate in summary.estimates.items()}
        return {**means, "memory_bytes_per_rank_max": most_bytes, "bottleneck": summary.bottleneck}

    def set_up(self, point: Point) -> tuple[Experiment, PolicySetup]:
        """The point's experiment, and its policy planned, checked and placed. Raises UserError."""
        experiment = point.experiment(self.topology(point), self.workload(point))
        return experiment, set_up(experiment, point.policy, place=self._place)

    def iteration(self, point: Point, experiment: Experiment, setup: PolicySetup, number: int) -> Iteration:
        """One replayed iteration; its draw is taken from memory if another point had the same."""
        key = (
            point.workload_digest,
            experiment.topology.island_sizes,
            identity(setup.plan),
            point.seed,
            number,
        )
        at_most = min(DRAWS_KEPT, max(1, MATRIX_ENTRIES_KEPT // experiment.topology.world_size**2))
        drawn: Draw = self._draws.get(key, lambda: draw(experiment, setup.placement, number), at_most=at_most)
        return replay_iteration(experiment, setup, drawn)

    def topology(self, point: Point) -> Topology:
        return self._topologies.get(
            point.topology_digest, lambda: build_topology(point.topology), at_most=TOPOLOGIES_KEPT
        )

    def workload(self, point: Point) -> Workload:
        """The point's workload, built from the last one where tables are alike."""
        like = self._workloads.last()
        if like is not None and like.folder != point.folder:
            like = None
        return self._workloads.get(
            (point.workload_digest, point.folder),
            lambda: build_workload(point.workload, point.folder, like=like),
            at_most=WORKLOADS_KEPT,
        )

    def _place(self, plan: ShardingPlan, workload: Workload, topology: Topology, *, seed: int) -> Placement:
        key = (workload.tables, workload.element_bytes, topology.island_sizes, identity(plan), seed)
        placement = self._placements.get(
            key, lambda: prepare(plan, workload, topology, seed=seed), at_most=PLACEMENTS_KEPT
        )
        return replace(placement, samples=workload.samples(topology.world_size))


def identity(plan: ShardingPlan) -> Hashable:
    """Equal for plans of one workload that place all rows alike and are carried out alike."""
    rows = tuple(
        tuple((segment.start, segment.stop, segment.layout, segment.memory) for segment in table.segments)
        for table in plan.tables
    )
    return rows, plan.execution


_bench = Bench()


def compute(points: Sequence[Point]) -> list[Result]:
    """Results on this process's bench: what workers run."""
    return _bench.results(points)
