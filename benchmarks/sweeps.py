"""The sweeps' cases: 100 points of 128 ranks with the bound engine, on one core, from nothing.

Two cores compute twice as many, so 1,000 points take five times a case's seconds.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.case import Case, Figures
from benchmarks.tables import ROOT
from simulator.sweeps.bench import Bench
from simulator.sweeps.collect import tasks_of
from simulator.sweeps.point import Point
from simulator.sweeps.spec import SweepSpec
from simulator.sweeps.sweep import Sweep

BASE = {"name": "benchmark", "topology": "topologies/dgx_h100_16x8.yaml"}
RATES = [f"{25 * number} Gbit/s" for number in range(1, 101)]
TARGET = "12 s"  # of computing: 1,000 points within 60 s on two cores


def points(workload: str, policies: Sequence[str], vary: Mapping[str, Any]) -> list[Point]:
    data = {**BASE, "workload": f"workloads/{workload}.yaml", "policies": policies, "vary": vary}
    made = Sweep(SweepSpec.model_validate(data), ROOT).points("bound")
    return [point for point in made if isinstance(point, Point)]


def compute(work: Sequence[Point]) -> Figures:
    bench = Bench()
    results = [result for task in tasks_of(work, 1) for result in bench.results(task)]
    return {"points": len(results), "failed": sum(bool(result.error) for result in results)}


def case(name: str, workload: str, policies: Sequence[str], vary: Mapping[str, Any]) -> Case:
    prepare = partial(points, workload, policies, vary)
    return Case(f"sweep {name}", prepare, compute, TARGET, rounds=1, counts={"points": 100, "failed": 0})


NIC = {"topology.scale_out.nic_bandwidth": RATES}
HALF = {"topology.scale_out.nic_bandwidth": RATES[::2]}
SKEW = {"workload.tables.items.popularity.s": [round(0.5 + 0.01 * number, 2) for number in range(100)]}
BATCH = {"workload.batch_per_rank": [64 + 8 * number for number in range(100)]}

CASES = (
    case("NICs", "sequence_dlrm", ["row_wise"], NIC),
    case("NICs, 2 policies", "sequence_dlrm", ["row_wise", "flexshard"], HALF),
    case("batch", "sequence_dlrm", ["row_wise"], BATCH),
    case("skew", "sequence_dlrm", ["row_wise"], SKEW),
    case("skew, flexshard", "sequence_dlrm", ["flexshard"], SKEW),
    case("NICs, 40 tables", "headline_40", ["row_wise"], NIC),
    case("skew, 40 tables", "headline_40", ["row_wise"], SKEW),
)
