"""What a plan that cannot be run is refused for."""

from dataclasses import replace

import pytest

from simulator.errors import UserError
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, island, replicated, single_owner
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e8)
GLOBAL, ISLAND, EVERYWHERE = global_rows(TOPOLOGY), island(TOPOLOGY), replicated(TOPOLOGY)


def table(name: str, rows: int = 100, touched: int = 40) -> TableStatistics:
    return TableStatistics(name, rows, 4, 4, touched, Uniform(touched), 10.0)


STATISTICS = Statistics((table("items"), table("users")))


def plan(
    *segments: Segment, world_size: int = 4, names: tuple[str, ...] = ("items", "users")
) -> ShardingPlan:
    """The segments for the first table; others are whole and global."""
    whole = (Segment(0, 100, GLOBAL),)
    tables = tuple(TablePlan(name, segments if name == names[0] else whole) for name in names)
    return ShardingPlan("tried", world_size, tables, Execution())


def problems(tried: ShardingPlan, statistics: Statistics = STATISTICS) -> list[str]:
    with pytest.raises(UserError) as caught:
        check_plan(tried, statistics, TOPOLOGY)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    "segments",
    [
        [Segment(0, 100, GLOBAL)],
        [Segment(0, 3, EVERYWHERE), Segment(3, 10, ISLAND), Segment(10, 100, GLOBAL)],
        [Segment(0, 3, EVERYWHERE), Segment(3, 40, GLOBAL)],  # rows 40 to 99 were never touched
        [Segment(0, 0, EVERYWHERE), Segment(0, 40, ISLAND)],
    ],
)
def test_rows_placed_once_and_untouched_ones_reclaimed_are_fine(segments):
    check_plan(plan(*segments), STATISTICS, TOPOLOGY)


def test_a_missing_table_is_named():
    assert problems(plan(Segment(0, 100, GLOBAL), names=("items",))) == ["plan tried: table users is missing"]


def test_a_foreign_table_is_named():
    found = problems(plan(Segment(0, 100, GLOBAL), names=("items", "users", "shops")))
    assert found == ["plan tried: table shops is not in the workload"]


def test_tables_come_in_the_workloads_order():
    found = problems(plan(Segment(0, 100, GLOBAL), names=("users", "items")))
    assert found == ["plan tried: tables are in another order than the workload's: items, users"]


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([Segment(0, 30, GLOBAL)], "table items: rows [30, 40) are looked up and have no owner"),
        ([], "table items: rows [0, 40) are looked up and have no owner"),
        ([Segment(5, 100, GLOBAL)], "table items: rows [0, 5) have no owner"),
        ([Segment(0, 9, ISLAND), Segment(12, 100, GLOBAL)], "table items: rows [9, 12) have no owner"),
        ([Segment(0, 12, ISLAND), Segment(9, 100, GLOBAL)], "table items: rows [9, 12) are placed twice"),
        ([Segment(0, 101, GLOBAL)], "table items: rows end at 100, the plan goes to 101"),
        (
            [Segment(0, 60, ISLAND), Segment(60, 50, GLOBAL)],
            "table items: a segment goes from row 60 back to 50",
        ),
    ],
)
def test_rows_without_owner_or_with_two_are_named(segments, message):
    assert problems(plan(*segments)) == [f"plan tried: {message}"]


def test_a_plan_for_another_cluster_is_refused():
    assert problems(plan(Segment(0, 100, GLOBAL), world_size=8)) == [
        "plan tried: made for 8 ranks, the topology has 4"
    ]


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (single_owner(8, 1), "a layout for 8 ranks, the topology has 4"),
        (single_owner(4, 7), "an owner is none of the ranks 0 to 3"),
        (Layout(Tier.GLOBAL, ((0, 1, 1),), (0, 0, 0, 0)), "a rank owns two blocks of one segment"),
        (Layout(Tier.GLOBAL, ((0,), ()), (0, 0, 1, 1)), "a copy has no owner"),
        (Layout(Tier.ISLAND, ((0,), (1,)), (0, 1, 2, 0)), "a rank reads a copy that is none of the 2"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(layout, message):
    assert problems(plan(Segment(0, 100, layout))) == [f"plan tried: table items: {message}"]


def test_all_problems_are_reported():
    tried = plan(Segment(0, 30, GLOBAL))
    tried = replace(tried, tables=(tried.tables[0], replace(tried.tables[1], segments=())))
    assert len(problems(tried)) == 2


def test_memory_that_does_not_fit_is_told_in_numbers():
    small = build_topology(
        TopologySpec(
            name="small",
            islands=1,
            gpus_per_island=2,
            gpu=GpuSpec(hbm_capacity="1 GB"),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )
    big = Statistics((TableStatistics("items", 100_000_000, 16, 4, 100_000_000, Uniform(100_000_000), 10.0),))
    tried = ShardingPlan(
        "row_wise", 2, (TablePlan("items", (Segment(0, 100_000_000, global_rows(small)),)),), Execution()
    )
    with pytest.raises(UserError) as caught:
        check_plan(tried, big, small)
    assert str(caught.value) == (
        "plan row_wise: does not fit: needed 3.2 GB a rank, available 1 GB, short by 2.2 GB"
    )
