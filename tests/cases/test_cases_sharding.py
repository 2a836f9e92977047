"""Inputs that practitioners trip over: shapes of cluster and model (cases 1, 2, 3, 6 and 7)."""

import tracemalloc

import pytest

from simulator.errors import UserError
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, shard_sizes
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.traffic.traffic import plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, Table, TableStatistics, Workload


def cluster(islands: int, gpus: int, hbm: str = "80 GB"):
    return build_topology(
        TopologySpec(
            name="made",
            islands=islands,
            gpus_per_island=gpus,
            gpu=GpuSpec(hbm_capacity=hbm),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )


def statistics(rows: int, dim: int = 16, element_bytes: int = 4, touched: int | None = None) -> Statistics:
    hit = rows if touched is None else touched
    return Statistics((TableStatistics("items", rows, dim, element_bytes, hit, Uniform(hit), 100.0),))


def planned(entry, tables: Statistics, topology):
    plan = make_plan(PolicyEntry.parse(entry), tables, topology, Execution())
    check_plan(plan, tables, topology)
    return plan


@pytest.mark.parametrize(
    ("rows", "ranks", "sizes"),
    [(10, 4, [3, 3, 3, 1]), (5, 4, [2, 2, 1, 0]), (1, 8, [1] + [0] * 7), (3, 5, [1, 1, 1, 0, 0])],
)
def test_case_1_rows_that_do_not_divide(rows, ranks, sizes):
    assert shard_sizes(rows, ranks).tolist() == sizes
    tables, topology = statistics(rows), cluster(1, ranks)
    plan = planned("row_wise", tables, topology)
    assert memory_bytes(plan, tables, topology).total_bytes.tolist() == [64 * size for size in sizes]


def test_case_1_an_empty_shard_serves_nothing_and_still_takes_part():
    topology = cluster(1, 4)
    workload = Workload("few", 10, 4, (Table("items", 5, 4, Uniform(5), fixed(3)),))
    plan = planned("row_wise", workload.statistics(), topology)
    traffic = plan_traffic(plan, workload, topology, workload.draw_batch(4, seed=1, iteration=0))
    embeddings = next(phase for phase in traffic.phases if phase.step == "embeddings")
    assert embeddings.matrix[3].sum() == 0
    assert embeddings.matrix[:, 3].sum() > 0
    assert embeddings.groups == ((0, 1, 2, 3),)


def test_case_1_no_row_count_passes_through_a_float():
    assert shard_sizes(2**60 + 1, 4).tolist() == [2**58 + 1, 2**58 + 1, 2**58 + 1, 2**58 - 2]
    tables, topology = statistics(2**55 + 1, dim=1, element_bytes=1), cluster(1, 4)
    plan = planned("row_wise", tables, cluster(1, 4, hbm="100 PB"))
    assert memory_bytes(plan, tables, topology).total_bytes.sum() == 2**55 + 1


@pytest.mark.parametrize("policy", ["row_wise", "table_wise", "column_wise", "flexshard"])
def test_case_2_a_dimension_that_divides_nothing_is_allowed(policy):
    """1,000 remote fp16 lookups of 10 columns are exactly 20,000 B."""
    topology = cluster(2, 1)
    workload = Workload("ten", 10, 2, (Table("items", 100, 10, Uniform(100), fixed(100)),))
    plan = planned(policy, workload.statistics(), topology)
    traffic = plan_traffic(plan, workload, topology, workload.draw_batch(2, seed=1, iteration=0))
    embeddings = [phase.matrix for phase in traffic.phases if phase.step == "embeddings"]
    assert sum(int(matrix.sum()) for matrix in embeddings) == 2 * 1000 * 10 * 2


def test_case_3_a_table_of_1_6e9_rows():
    """100,000,000 rows and 6.4e9 B a rank, and our own memory does not grow with the rows."""
    topology = cluster(2, 8)
    tracemalloc.start()
    tables = statistics(1_600_000_000)
    plan = planned("row_wise", tables, topology)
    use = memory_bytes(plan, tables, topology)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert use.total_bytes.tolist() == [6_400_000_000] * 16
    assert peak_bytes < 5e6


@pytest.mark.parametrize("policy", ["flexshard", "hybrid", "row_wise", "planner_torchrec"])
def test_case_3_a_million_times_the_rows_cost_no_more_memory_to_plan(policy):
    topology = cluster(2, 8, hbm="100 PB")
    peaks = []
    for rows in (10**6, 10**12):
        hit = rows // 2
        popularity = ZipfMandelbrot(hit, 1.1, 2.0)
        tables = Statistics((TableStatistics("items", rows, 16, 4, hit, popularity, 1e5),))
        planned(policy, tables, topology)  # so that what is kept for good is not counted
        tracemalloc.start()
        planned(policy, tables, topology)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4 * peaks[0] + 1e6


def test_case_6_a_plan_that_misses_a_table_names_it():
    tables = Statistics((*statistics(10).tables, TableStatistics("users", 10, 4, 4, 10, Uniform(10), 1.0)))
    topology = cluster(1, 2)
    plan = ShardingPlan(
        "mine", 2, (TablePlan("items", (Segment(0, 10, global_rows(topology)),)),), Execution()
    )
    with pytest.raises(UserError, match="plan mine: table users is missing"):
        check_plan(plan, tables, topology)


def test_case_6_a_row_without_owner_is_named():
    topology = cluster(1, 2)
    plan = ShardingPlan(
        "mine", 2, (TablePlan("items", (Segment(0, 7, global_rows(topology)),)),), Execution()
    )
    with pytest.raises(UserError, match=r"table items: rows \[7, 10\) are looked up and have no owner"):
        check_plan(plan, statistics(10), topology)


@pytest.mark.parametrize(
    "entry", ["row_wise", "flexshard", {"name": "flexshard", "budget": "50 %"}, "hybrid", "two_dimensional"]
)
def test_case_6_lookups_are_local_island_global_and_replicated(entry):
    topology = cluster(2, 4)
    workload = Workload("skewed", 100, 2, (Table("items", 10_000, 8, ZipfMandelbrot(4_000, 1.2), fixed(20)),))
    plan = planned(entry, workload.statistics(), topology)
    traffic = plan_traffic(plan, workload, topology, workload.draw_batch(8, seed=1, iteration=0))
    assert sum(traffic.lookups_by_tier.values()) == 8 * 100 * 20


def test_case_7_what_does_not_fit_is_told_in_numbers():
    tables, topology = statistics(100_000_000), cluster(1, 2, hbm="1 GB")
    with pytest.raises(UserError) as caught:
        planned("row_wise", tables, topology)
    assert "needed 3.2 GB a rank, available 1 GB, short by 2.2 GB" in str(caught.value)


@pytest.mark.parametrize("policy", ["table_wise", "table_row_wise", "data_parallel", "recshard", "flexshard"])
def test_case_7_holds_for_every_policy(policy):
    tables, topology = statistics(100_000_000), cluster(1, 2, hbm="1 GB")
    if policy == "recshard":  # it keeps the rest in host memory
        assert memory_bytes(planned(policy, tables, topology), tables, topology).max_bytes <= 10**9
        return
    with pytest.raises(UserError, match=r"needed .* a rank, available .*, short by"):
        planned(policy, tables, topology)


def test_case_7_a_replication_budget_of_0_is_row_wise_to_the_byte():
    topology = uniform_topology(islands=4, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
    workload = Workload("skewed", 100, 2, (Table("items", 10_000, 8, ZipfMandelbrot(4_000, 1.2), fixed(20)),))
    batch = workload.draw_batch(8, seed=1, iteration=0)
    matrices = []
    for entry in ("row_wise", {"name": "flexshard", "budget": "0 %"}):
        plan = planned(entry, workload.statistics(), topology)
        matrices.append(
            [phase.matrix.tolist() for phase in plan_traffic(plan, workload, topology, batch).phases]
        )
    assert matrices[0] == matrices[1]
