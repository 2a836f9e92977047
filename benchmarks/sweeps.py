"""The sweeps' cases: 100 points of 128 ranks with the bound engine, on one core, from nothing.

Two cores compute twice as many, so 1,000 points take five times a case's seconds. The large cases are 1,000 and
10,000 points of 4 ranks: their peak memory should hardly differ.
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

BASE = {"topology": "topologies/dgx_h100_16x8.yaml"}
RATES = [f"{25 * number} Gbit/s" for number in range(1, 101)]
TARGET = "12 s"  # of computing: 1,000 points within 60 s on two cores
MEMORY_TARGET = "10 kB a point"


def points(base: Mapping[str, str], policies: Sequence[str], vary: Mapping[str, Any]) -> list[Point]:
    data = {"name": "benchmark", **base, "policies": policies, "vary": vary}
    made = Sweep(SweepSpec.model_validate(data), ROOT).points("bound")
    return [point for point in made if isinstance(point, Point)]


def compute(work: Sequence[Point]) -> Figures:
    bench = Bench()
    results = [result for task in tasks_of(work, 1) for result in bench.results(task)]
    return {"points": len(results), "failed": sum(bool(result.error) for result in results)}


def case(name: str, workload: str, policies: Sequence[str], vary: Mapping[str, Any]) -> Case:
    prepare = partial(points, {**BASE, "workload": f"workloads/{workload}.yaml"}, policies, vary)
    return Case(f"sweep {name}", prepare, compute, TARGET, rounds=1, counts={"points": 100, "failed": 0})


def many(count: int) -> Case:
    """Points of a cluster so small that memory is what points take, not what they compute."""
    base = {"topology": "topologies/teaching_2x2.yaml", "workload": "workloads/tiny.yaml"}
    prepare = partial(points, base, ["row_wise"], {"random": {"count": count, "keys": ANYTHING}})
    counts = {"points": count, "failed": 0}
    return Case(f"sweep {count:,}", prepare, compute, MEMORY_TARGET, rounds=1, counts=counts, large=True)


NIC = {"topology.scale_out.nic_bandwidth": RATES}
HALF = {"topology.scale_out.nic_bandwidth": RATES[::2]}
QUARTER = {"topology.scale_out.nic_bandwidth": RATES[::4]}
SKEW = {"workload.tables.items.popularity.s": [round(0.5 + 0.01 * number, 2) for number in range(100)]}
BATCH = {"workload.batch_per_rank": [64 + 8 * number for number in range(100)]}
ISLANDS = {
    "list": [
        {"topology.islands": 128 // size, "topology.gpus_per_island": size, **dict.fromkeys(HALF, rate)}
        for size in (2, 4, 8, 16, 32)
        for rate in RATES[::20]
    ]
}
FOUR = ["row_wise", "table_wise", "hybrid", "flexshard"]
ANYTHING = {
    "topology.scale_out.nic_bandwidth": {"from": "1 GB/s", "to": "100 GB/s", "scale": "log"},
    "workload.batch_per_rank": {"from": 1, "to": 100_000},
}

CASES = (
    case("NICs", "sequence_dlrm", ["row_wise"], NIC),
    case("NICs, 2 policies", "sequence_dlrm", ["row_wise", "flexshard"], HALF),
    case("NICs, 4 policies", "sequence_dlrm", FOUR, QUARTER),
    case("islands", "sequence_dlrm", FOUR, ISLANDS),
    case("batch", "sequence_dlrm", ["row_wise"], BATCH),
    case("skew", "sequence_dlrm", ["row_wise"], SKEW),
    case("skew, flexshard", "sequence_dlrm", ["flexshard"], SKEW),
    case("NICs, 40 tables", "headline_40", ["row_wise"], NIC),
    case("NICs, 2 policies, 40 tables", "headline_40", ["row_wise", "flexshard"], HALF),
    case("skew, 40 tables", "headline_40", ["row_wise"], SKEW),
    case("skew, flexshard, 40 tables", "headline_40", ["flexshard"], SKEW),
    many(1_000),
    many(10_000),
)
