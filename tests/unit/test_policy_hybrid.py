"""HugeCTR's hybrid: which rows are frequent, and how many fit."""

import math

import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.hot_rows import rows_at_least
from simulator.sharding.layouts import global_rows, replicated
from simulator.sharding.memory import memory_bytes
from simulator.sharding.policies.hybrid import HybridOptions, count_threshold
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics


def topology(islands: int, gpus: int):
    return uniform_topology(
        islands=islands, gpus_per_island=gpus, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10
    )


def table(rows: int = 100_000, s: float = 1.0, lookups: float = 1000.0) -> TableStatistics:
    return TableStatistics("items", rows, 16, 2, rows, ZipfMandelbrot(rows, s), lookups)


@pytest.mark.parametrize("lookups", [0.001, 0.01, 0.3, 1.0, 17.0, 80.0])
@pytest.mark.parametrize("s", [0.5, 1.0, 1.4])
def test_rows_at_least_counts_row_by_row(s, lookups):
    small = table(rows=3000, s=s)
    shares = small.popularity.share_between(range(3000), range(1, 3001))
    expected = int((1000.0 * shares >= lookups * (1 - 1e-9)).sum())
    assert rows_at_least(small, lookups) == expected


def test_rows_equally_popular_are_all_in_or_all_out():
    even = TableStatistics("items", 500, 16, 2, 500, Uniform(500), 1000.0)
    assert rows_at_least(even, 2.0) == 500
    assert rows_at_least(even, 2.0001) == 0


def test_a_table_without_lookups_has_no_frequent_row():
    idle = TableStatistics("items", 500, 16, 2, 500, Uniform(500), 0.0)
    assert rows_at_least(idle, 1.0) == 0


def test_the_threshold_between_nodes():
    """N * ratio * N / (N - 1), here with N = 4 and bandwidths of 150 and 100 GB/s."""
    options = HybridOptions(all_to_all_bandwidth="150 GB/s", all_reduce_bandwidth="100 GB/s")
    assert count_threshold(table(), topology(4, 2), options) == pytest.approx(4 * 1.5 * 4 / 3)
    assert count_threshold(table(), topology(4, 2), HybridOptions()) == pytest.approx(4 * 4 / 3)


def test_the_threshold_of_one_node():
    """Batch times sqrt(2 p / (M (M - 1))), the batch being the cluster's lookups and M one rank's."""
    found = count_threshold(table(lookups=1000.0), topology(1, 8), HybridOptions())
    assert found == pytest.approx(8000 * math.sqrt(0.02 / (1000 * 999)))


def test_one_rank_has_nothing_to_gain():
    assert count_threshold(table(), topology(1, 1), HybridOptions()) == math.inf


def test_frequent_rows_are_on_every_rank_and_the_rest_row_wise():
    cluster = topology(4, 2)
    plan = make_plan(PolicyEntry.parse("hybrid"), Statistics((table(),)), cluster, Execution())
    hot, cold = plan.tables[0].segments
    assert hot.layout is replicated(cluster)
    assert cold.layout is global_rows(cluster)
    assert (hot.start, cold.stop) == (0, 100_000)
    shares = table().popularity.share_between([hot.stop - 1, hot.stop], [hot.stop, hot.stop + 1])
    last_in, first_out = (8 * 1000.0 * shares).tolist()
    assert last_in >= 16 / 3 > first_out


def test_the_threshold_rises_until_copies_fit():
    spec = TopologySpec(
        name="small",
        islands=4,
        gpus_per_island=2,
        gpu=GpuSpec(hbm_capacity="450 kB"),
        scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
        scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
    )
    cluster, statistics = build_topology(spec), Statistics((table(lookups=1e6),))
    plan = make_plan(PolicyEntry.parse("hybrid"), statistics, cluster, Execution())
    roomy = make_plan(PolicyEntry.parse("hybrid"), statistics, topology(4, 2), Execution())
    assert memory_bytes(plan, statistics, cluster).max_bytes <= 450_000
    assert memory_bytes(roomy, statistics, cluster).max_bytes > 450_000
    assert "times HugeCTR's, so that copies fit" in plan.notes[0]
    assert not any("times HugeCTR's" in note for note in roomy.notes)
