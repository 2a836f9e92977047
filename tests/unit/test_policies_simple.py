"""The policies without a planner: where they put tables, and what they refuse."""

import numpy as np
import pytest

from simulator.errors import UserError
from simulator.sharding.balance import Item, Shelf, least_loaded
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import column_owners, global_rows, groups, island, replicated, single_owner
from simulator.sharding.policies.column_wise import ColumnWiseOptions, shard_columns
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=4, gpus_per_island=2, scale_up_bytes_per_s=1e10, nic_bytes_per_s=1e9)


def table(name: str, *, lookups: float = 10.0, rows: int = 1000, dim: int = 64) -> TableStatistics:
    return TableStatistics(name, rows, dim, 2, rows, Uniform(rows), lookups)


def cluster(*islands: int, hbm: str = "80 GB"):
    return build_topology(
        TopologySpec(
            name="made",
            islands=islands,
            gpu=GpuSpec(hbm_capacity=hbm),
            scale_up=ScaleUpSpec(bandwidth="10 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="1 GB/s"),
        )
    )


def layouts(entry, tables, topology=TOPOLOGY):
    statistics = Statistics(tuple(tables))
    plan = make_plan(PolicyEntry.parse(entry), statistics, topology, Execution())
    check_plan(plan, statistics, topology)
    assert [each.table for each in plan.tables] == [each.name for each in tables]
    return [[segment.layout for segment in each.segments] for each in plan.tables]


TABLES = [table(f"t{index}", lookups=load) for index, load in enumerate((5, 9, 2, 7))]


def test_row_wise_and_data_parallel_place_all_tables_alike():
    assert layouts("row_wise", TABLES) == [[global_rows(TOPOLOGY)]] * 4
    assert layouts("data_parallel", TABLES) == [[replicated(TOPOLOGY)]] * 4


def test_table_wise_puts_the_busiest_first_and_spreads_over_islands():
    owners = [layout.copies[0] for (layout,) in layouts("table_wise", TABLES)]
    assert owners == [(4,), (0,), (6,), (2,)]


def test_table_wise_balances_bytes_not_tables():
    tables = [table("big", lookups=8.0), *(table(f"s{index}", lookups=1.0) for index in range(7))]
    owners = [layout.copies[0][0] for (layout,) in layouts("table_wise", tables, cluster(1, 1))]
    assert owners[0] == 0
    assert owners[1:] == [1] * 7


def test_table_wise_counts_the_columns_too():
    tables = [
        table("wide", lookups=1.0, dim=640),
        table("narrow", lookups=5.0, dim=64),
        table("n2", lookups=4.0),
    ]
    owners = [layout.copies[0][0] for (layout,) in layouts("table_wise", tables, cluster(1, 1))]
    assert owners == [0, 1, 1]


def test_table_wise_packs_by_size_where_the_busiest_first_would_not_fit():
    """Tables of 1, 1 and 2 kB on two ranks of 2.5 kB fit only if the busy ones share a rank."""
    tables = [
        table("hot", lookups=10.0, rows=8),
        table("warm", lookups=1.0, rows=8),
        table("cold", lookups=0.1, rows=16),
    ]
    owners = [layout.copies[0][0] for (layout,) in layouts("table_wise", tables, cluster(1, 1, hbm="2500 B"))]
    assert owners == [1, 1, 0]


def test_a_table_that_fits_nowhere_is_named_with_numbers():
    with pytest.raises(
        UserError, match=r"table t1 does not fit: needed 128 kB a rank, available 100 kB, short by"
    ):
        layouts("table_wise", [table("t0", rows=10), table("t1", rows=1000)], cluster(1, 1, hbm="100 kB"))


@pytest.mark.parametrize(
    ("dim", "ranks", "options", "sizes"),
    [
        (128, 8, {}, [32, 32, 32, 32]),
        (128, 2, {}, [64, 64]),
        (16, 8, {}, [16]),
        (10, 8, {"shards": 4}, [3, 3, 3, 1]),
        (5, 8, {"shards": 4}, [2, 2, 1]),
        (3, 8, {"shards": 8}, [1, 1, 1]),
        (64, 8, {"min_columns": 16}, [16, 16, 16, 16]),
    ],
)
def test_columns_are_cut_in_blocks_none_empty(dim, ranks, options, sizes):
    assert shard_columns(dim, ranks, ColumnWiseOptions(**options)) == sizes
    assert sum(sizes) == dim


def test_column_wise_gives_each_shard_of_a_table_its_own_rank():
    (found,) = layouts({"name": "column_wise", "shards": 3}, [table("t0", dim=10)])
    assert found[0].split == "columns"
    assert len(set(found[0].copies[0])) == 3
    assert found[0] is column_owners(8, found[0].copies[0])


def test_column_wise_balances_shards():
    tables = [table("t0", dim=64), table("t1", dim=64)]
    found = layouts({"name": "column_wise", "shards": 4}, tables)
    assert sorted(owner for (layout,) in found for owner in layout.copies[0]) == list(range(8))


def test_table_row_wise_puts_a_table_in_one_island():
    found = [layout.copies[0] for (layout,) in layouts("table_row_wise", TABLES)]
    assert sorted(found) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert found[1] == (0, 1)


def test_table_row_wise_loads_islands_by_their_ranks():
    """The larger island has less load a rank, so it gets the busiest table."""
    (found,) = layouts("table_row_wise", [table("t0")], cluster(2, 4))
    assert found[0].copies[0] == (2, 3, 4, 5)


@pytest.mark.parametrize("size", [2, 4])
def test_two_dimensional_makes_groups_in_a_row(size):
    assert layouts({"name": "two_dimensional", "group_size": size}, TABLES) == [[groups(8, size)]] * 4


def test_two_dimensional_with_one_group_is_row_wise():
    assert layouts({"name": "two_dimensional", "group_size": 8}, TABLES[:1]) == [[global_rows(TOPOLOGY)]]


def test_two_dimensional_refuses_groups_that_do_not_divide():
    message = "group_size 3 does not divide 8 ranks; allowed: 1, 2, 4, 8"
    with pytest.raises(UserError, match=message):
        layouts({"name": "two_dimensional", "group_size": 3}, TABLES)


def test_two_dimensional_picks_groups_that_fit():
    """1,000 rows x 128 B: groups of 2 need 64 kB a rank, of 4 half of it."""
    found = layouts("two_dimensional", [table("t0", lookups=1e6)], cluster(2, 2, 2, 2, hbm="40 kB"))
    assert found == [[groups(8, 4)]]


@pytest.mark.parametrize(("islands", "size"), [((8, 8, 4), 10), ((8, 8, 4, 4), 8), ((4, 4), 4)])
def test_two_dimensional_takes_multiples_of_the_largest_island_where_ranks_divide_so(islands, size):
    topology = cluster(*islands)
    found = layouts("two_dimensional", [table("t0", lookups=1e6, rows=100)], topology)
    assert found == [[groups(sum(islands), size)]]


def test_two_dimensional_picks_the_groups_predicted_fastest():
    """Many lookups of few rows: copies are cheap, so the smallest groups; few lookups of many: the largest."""
    assert layouts("two_dimensional", [table("t0", lookups=1e6, rows=100)]) == [[groups(8, 2)]]
    assert layouts("two_dimensional", [table("t0", lookups=1.0, rows=10**6)]) == [[groups(8, 4)]]


def test_one_gpu_can_run_every_policy():
    for name in (
        "row_wise",
        "table_wise",
        "column_wise",
        "table_row_wise",
        "data_parallel",
        "two_dimensional",
    ):
        (found,) = layouts(name, [table("t0")], cluster(1))
        assert found[0].copies[0] == (0,)
    for name in ("hybrid", "flexshard", "recshard", "planner_torchrec"):
        layouts(name, [table("t0")], cluster(1))


def test_items_go_to_the_least_loaded_place():
    items = [Item(str(load), load=load, memory_bytes=1) for load in (1.0, 5.0, 3.0, 4.0)]
    assert least_loaded(items, [0, 0, 1], 10) == [1, 0, 1, 2]


def test_load_and_memory_may_differ_by_place():
    shelf = Shelf([0, 1], capacity_bytes=10)
    item = Item("t", load=np.array([4.0, 2.0]), memory_bytes=np.array([1, 20]))
    assert shelf.put(item) == 0
    with pytest.raises(UserError, match="table t does not fit"):
        shelf.put(item, not_on=[0])


def test_plans_of_islands_and_single_ranks_share_layouts():
    (one,), (other,) = layouts("table_wise", [table("t0"), table("t1")])
    assert one is single_owner(8, one.copies[0][0])
    assert other is not one
    assert island(TOPOLOGY) is island(TOPOLOGY)
