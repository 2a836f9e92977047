"""The claim on its own workload: "over 85 %" and "almost 6 times", against a closed-form prototype.

Four tables of 1e7 rows x 128 fp16 of which 40 % are ever touched, Zipf-Mandelbrot with q = 2.75; 16 islands of
8 at 300 and 25 GB/s; memory no more than row-wise's; dense fp16 hierarchical synchronisation, counted; ranks
perfectly balanced. The prototype's figures are independent of this code (log-binned shares).
"""

import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.memory import memory_bytes
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=16, gpus_per_island=8, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9)

# lookups a rank and table, s, the prototype's cut of global all-to-all bytes, its speed-up serial and concurrent
PROTOTYPE = [
    (256_000, 1.0, 0.757, 3.1, 3.3),
    (256_000, 1.05, 0.809, 3.8, 4.1),
    (256_000, 1.1, 0.850, 4.8, 5.2),
    (256_000, 1.15, 0.885, 6.2, 6.7),
    (256_000, 1.2, 0.914, 8.1, 8.8),
    (50_000, 1.0, None, 2.3, None),
    (50_000, 1.05, None, 2.7, None),
    (50_000, 1.1, None, 3.4, None),
    (50_000, 1.15, None, 4.3, None),
    (50_000, 1.2, None, 5.5, None),
]


def workload(s: float, lookups: float, tables: int = 4, rows: int = 10**7) -> Statistics:
    touched = rows * 4 // 10
    return Statistics(
        tuple(
            TableStatistics(f"t{index}", rows, 128, 2, touched, ZipfMandelbrot(touched, s, 2.75), lookups)
            for index in range(tables)
        )
    )


def compared(statistics: Statistics, tiers: str) -> tuple[float, float]:
    """The cut of global all-to-all bytes and the speed-up, at no more memory than row-wise."""
    plans = [
        make_plan(PolicyEntry.parse(name), statistics, TOPOLOGY, Execution(tiers=tiers))
        for name in ("row_wise", "flexshard")
    ]
    base, best = (predict(plan, statistics, TOPOLOGY) for plan in plans)
    used = [memory_bytes(plan, statistics, TOPOLOGY).max_bytes for plan in plans]
    assert used[1] <= used[0]
    return 1 - best.global_all_to_all_bytes / base.global_all_to_all_bytes, base.total_s / best.total_s


@pytest.mark.parametrize(("lookups", "s", "cut", "serial", "concurrent"), PROTOTYPE)
def test_predictions_are_as_good_as_the_prototypes(lookups, s, cut, serial, concurrent):
    """At least as good within 3 %; and no more than 3 % beyond, for the prototype's plan is the optimum too."""
    statistics = workload(s, lookups)
    found_cut, found = compared(statistics, "serial")
    assert found == pytest.approx(serial, rel=0.03)
    if cut is not None:
        assert found_cut == pytest.approx(cut, rel=0.01)
    if concurrent is not None:
        assert compared(statistics, "concurrent")[1] == pytest.approx(concurrent, rel=0.03)


def test_the_headline_holds_with_synchronisation_counted():
    cut, speedup = compared(workload(1.15, 256_000), "serial")
    assert cut >= 0.85
    assert speedup >= 5.5


def test_forty_small_tables_gain_a_little_less():
    """The headline's workload: 40 tables of 1e6 rows and 25,600 lookups, the same bytes for row-wise."""
    cut, speedup = compared(workload(1.15, 25_600, tables=40, rows=10**6), "serial")
    assert 0.84 <= cut <= 0.86
    assert 4.5 <= speedup <= 4.8
