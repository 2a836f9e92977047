"""What is measured at a point: rows that more than one figure needs.

`predicted_s` is the communication time of ranks that are perfectly balanced: expected bytes, port bound, as the
planner sees them. So simulated over predicted is what imbalance (and, with the fluid engine, contention) costs.
"""

from collections.abc import Iterable
from typing import Any

from simulator.metrics.records import METRIC_NAMES, IterationRecord, PhaseRecord
from simulator.metrics.summary import estimate
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.predict import predict
from simulator.sharding.registry import make_plan
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

PREDICTED = ("predicted_s", "predicted_without_sync_s", "predicted_global_bytes")


def metrics(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """One row: means over the iterations, memory of the fullest rank, and what was predicted."""
    experiment, setup = bench.set_up(point)
    records = [bench.iteration(point, experiment, setup, number).record for number in range(point.iterations)]
    return [means(records) | {"memory_bytes": setup.memory.max_bytes} | prediction(bench, point, setup.plan)]


def means(records: Iterable[IterationRecord]) -> dict[str, Any]:
    """Mean metrics by name."""
    known = [record.metrics for record in records]
    return {name: estimate([getattr(each, name) for each in known]).mean for name in METRIC_NAMES}


def prediction(bench: Bench, point: Point, plan: ShardingPlan) -> dict[str, float]:
    """What the point's plan is predicted to take."""
    found = predict(plan, bench.workload(point).statistics(), bench.topology(point))
    return dict(
        zip(PREDICTED, (found.total_s, found.without_sync_s, found.global_all_to_all_bytes), strict=True)
    )


def predicted(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """One row of predictions alone: no draw, no luck."""
    plan = make_plan(point.policy, bench.workload(point).statistics(), bench.topology(point), point.execution)
    return [prediction(bench, point, plan)]


def phases(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """One row a phase, in the order of the program: means over the iterations."""
    experiment, setup = bench.set_up(point)
    records = [bench.iteration(point, experiment, setup, number).record for number in range(point.iterations)]
    total = {name: means(records)[name] for name in ("communication_s", "communication_without_sync_s")}
    return [total | _phase(same) for same in zip(*(record.phases for record in records), strict=True)]


def _phase(same: tuple[PhaseRecord, ...]) -> dict[str, Any]:
    """One phase of all iterations."""
    kept = ("transfer_s", "mean_wait_s", "inter_island_bytes", "intra_island_bytes")
    row = {"step": same[0].step, "tier": same[0].tier}
    return row | {name: estimate([float(getattr(phase, name)) for phase in same]).mean for name in kept}
