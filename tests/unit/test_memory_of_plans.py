"""What plans cost in memory, by tier, with optimizer state, and by FlexShard's rules."""

import numpy as np
import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.layouts import (
    column_owners,
    global_rows,
    groups,
    island,
    replicated,
    single_owner,
)
from simulator.sharding.memory import memory_bytes, row_memory_bytes
from simulator.sharding.memory_rule import Budget, memory_rule, row_wise_max_bytes, tier_memory_bytes
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e8)


def table(rows: int = 10, dim: int = 3, touched: int | None = None, name: str = "items") -> TableStatistics:
    hit = rows if touched is None else touched
    return TableStatistics(name, rows, dim, 2, hit, Uniform(hit), 10.0)


def use(tables: TableStatistics | list[TableStatistics], *segments: Segment, optimizer: str = "none"):
    every = tables if isinstance(tables, list) else [tables]
    plans = tuple(TablePlan(each.name, segments) for each in every)
    plan = ShardingPlan("tried", 4, plans, Execution(optimizer=optimizer))
    return memory_bytes(plan, Statistics(tuple(every)), TOPOLOGY)


def test_rows_over_all_ranks():
    found = use(table(), Segment(0, 10, global_rows(TOPOLOGY)))
    assert found.weights_bytes_by_tier[Tier.GLOBAL].tolist() == [18, 18, 18, 6]
    assert found.total_bytes.tolist() == [18, 18, 18, 6]
    assert found.max_bytes == 18


def test_every_tier_takes_what_its_copies_take():
    found = use(
        table(rows=11),
        Segment(0, 1, replicated(TOPOLOGY)),
        Segment(1, 4, island(TOPOLOGY)),
        Segment(4, 11, global_rows(TOPOLOGY)),
    )
    assert found.weights_bytes_by_tier[Tier.REPLICATED].tolist() == [6, 6, 6, 6]
    assert found.weights_bytes_by_tier[Tier.ISLAND].tolist() == [12, 6, 12, 6]
    assert found.weights_bytes_by_tier[Tier.GLOBAL].tolist() == [12, 12, 12, 6]
    assert found.weights_bytes_by_tier[Tier.GROUP].tolist() == [0, 0, 0, 0]
    assert found.total_bytes.tolist() == [30, 24, 30, 18]


def test_reclaimed_rows_take_nothing():
    found = use(table(rows=1000, touched=4), Segment(0, 4, global_rows(TOPOLOGY)))
    assert found.total_bytes.tolist() == [6, 6, 6, 6]


def test_columns_that_do_not_divide():
    found = use(table(rows=5, dim=10), Segment(0, 5, column_owners(4, (3, 0, 1))))
    assert found.total_bytes.tolist() == [5 * 4 * 2, 5 * 2 * 2, 0, 5 * 4 * 2]


def test_one_owner_and_groups():
    assert use(table(), Segment(0, 10, single_owner(4, 2))).total_bytes.tolist() == [0, 0, 60, 0]
    assert use(table(), Segment(0, 10, groups(4, 2))).weights_bytes_by_tier[Tier.GROUP].tolist() == [30] * 4


def test_tables_add_up():
    one, other = table(rows=4), table(rows=8, name="users")
    found = use([one, other], Segment(0, 4, global_rows(TOPOLOGY)))
    assert found.total_bytes.tolist() == [12] * 4


@pytest.mark.parametrize(
    ("optimizer", "row_bytes"), [("none", 0), ("rowwise_adagrad", 4), ("adam", 2 * 4 * 3)]
)
def test_optimizer_state_is_kept_in_fp32_beside_the_weights(optimizer, row_bytes):
    found = use(table(), Segment(0, 10, global_rows(TOPOLOGY)), optimizer=optimizer)
    assert found.optimizer_bytes.tolist() == [3 * row_bytes, 3 * row_bytes, 3 * row_bytes, row_bytes]
    assert (found.total_bytes - found.optimizer_bytes).tolist() == [18, 18, 18, 6]
    assert row_memory_bytes(table(), optimizer) == 6 + row_bytes


def test_every_owner_of_columns_keeps_a_row_wise_state():
    found = use(table(dim=4), Segment(0, 10, column_owners(4, (0, 1))), optimizer="rowwise_adagrad")
    assert found.optimizer_bytes.tolist() == [40, 40, 0, 0]


def test_an_owner_of_no_column_keeps_no_state():
    found = use(table(dim=1), Segment(0, 10, column_owners(4, (0, 1))), optimizer="rowwise_adagrad")
    assert found.optimizer_bytes.tolist() == [40, 0, 0, 0]


def test_rows_in_host_memory_are_told_apart():
    found = use(
        table(),
        Segment(0, 4, single_owner(4, 1)),
        Segment(4, 10, single_owner(4, 1), "host"),
        optimizer="adam",
    )
    assert found.total_bytes.tolist() == [0, 4 * (6 + 24), 0, 0]
    assert found.host_bytes.tolist() == [0, 6 * (6 + 24), 0, 0]


def test_sizes_beyond_a_float_stay_exact():
    rows = 2**55 + 3
    found = use(table(rows=rows, dim=1), Segment(0, rows, global_rows(TOPOLOGY)))
    assert found.total_bytes.dtype == np.int64
    assert found.total_bytes.sum() == 2 * rows


def rule(tables: list[TableStatistics], **options):
    options = {"rule": "baseline", "budget": None, "hbm_share": 0.5, **options}
    return memory_rule(Statistics(tuple(tables)), TOPOLOGY, Execution(), **options)


def test_baseline_is_row_wises_fullest_rank_and_reclaims():
    tables = [table(rows=10), table(rows=5, touched=2, name="users")]
    found = rule(tables)
    assert found.limit_bytes == (3 + 2) * 6
    assert found.reclaims
    assert found.end_rows(Statistics(tuple(tables))) == [10, 2]


def test_hbm_is_a_share_of_the_gpu_and_keeps_every_row():
    found = rule([table(rows=10, touched=2)], rule="hbm")
    assert found.limit_bytes == TOPOLOGY.hbm_capacity_bytes // 2
    assert not found.reclaims


@pytest.mark.parametrize(
    ("text", "limit"), [("0 %", 18), ("100 %", 36), ("50%", 27), ("7 B", 25), ("1 kB", 1018), (0, 18)]
)
def test_a_budget_is_what_may_be_used_beyond_row_wise(text, limit):
    found = rule([table(rows=10, touched=2)], budget=Budget.parse(text))
    assert found.limit_bytes == limit
    assert not found.reclaims


@pytest.mark.parametrize("text", ["5", 5, "5 GB/s", "-1 %", "inf %", "", None, True, "five %"])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(ValueError, match=r"neither a share like|must be at least 0 %"):
        Budget.parse(text)


def test_cuts_and_plans_count_memory_alike():
    """`tier_memory_bytes` is the fullest rank's, of `memory_bytes`, on islands of unequal size too."""
    topology = build_topology(
        TopologySpec(
            name="uneven",
            islands=(2, 3),
            scale_up=ScaleUpSpec(bandwidth="10 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="1 GB/s"),
        )
    )
    statistics = Statistics((table(rows=100),))
    for hot, warm, end in [(0, 0, 100), (3, 20, 100), (0, 41, 83), (7, 7, 90), (100, 100, 100)]:
        segments = (
            Segment(0, hot, replicated(topology)),
            Segment(hot, warm, island(topology)),
            Segment(warm, end, global_rows(topology)),
        )
        plan = ShardingPlan("tried", 5, (TablePlan("items", segments),), Execution())
        counted = tier_memory_bytes(statistics, topology, Execution(), [(hot, warm, end)])
        assert counted == memory_bytes(plan, statistics, topology).max_bytes


def test_row_wises_fullest_rank_is_that_of_its_plan():
    tables = [table(rows=10), table(rows=7, name="users")]
    counted = row_wise_max_bytes(Statistics(tuple(tables)), TOPOLOGY, Execution(optimizer="adam"))
    assert counted == (3 + 2) * (6 + 24)
