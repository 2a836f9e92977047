"""RecShard: which rows are in HBM, and where tables go."""

import numpy as np
import pytest

from simulator.errors import UserError
from simulator.sharding.balance import Item
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.memory import memory_bytes
from simulator.sharding.placement_program import place_whole
from simulator.sharding.policies.recshard import hot_rows
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)


def table(
    name: str, *, rows: int = 1000, touched: int = 800, s: float = 1.0, dim: int = 8, lookups: float = 100.0
):
    popularity = ZipfMandelbrot(touched, s) if s else Uniform(touched)
    return TableStatistics(name, rows, dim, 2, touched, popularity, lookups)


def cluster(hbm: str):
    return build_topology(
        TopologySpec(
            name="made",
            islands=2,
            gpus_per_island=2,
            gpu=GpuSpec(hbm_capacity=hbm),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )


def test_everything_is_in_hbm_where_everything_fits():
    statistics = Statistics((table("t0"), table("t1")))
    assert hot_rows(statistics, Execution(), 10**6, 4 * 10**6) == [1000, 1000]


def test_rows_with_most_reads_a_byte_are_in_hbm():
    """The row that is in is read at least as often a byte as the row that is out, whatever the table."""
    statistics = Statistics((table("hot", lookups=1000.0), table("wide", dim=64), table("flat", s=0.6)))
    rows = hot_rows(statistics, Execution(), 10**6, 20_000)
    used = sum(count * each.row_bytes for count, each in zip(rows, statistics.tables, strict=True))
    assert 20_000 - 128 < used <= 20_000
    reads = [
        each.lookups_per_rank * each.popularity.share_between([count - 1, count], [count, count + 1])
        for count, each in zip(rows, statistics.tables, strict=True)
    ]
    assert min(last for last, _ in reads) >= 0.99 * max(first for _, first in reads)


def test_optimizer_state_makes_a_narrow_row_dearer():
    """Reads a byte of HBM: a row-wise state of 4 B weighs on 4-byte rows, not on 128-byte ones."""
    statistics = Statistics((table("narrow", dim=2), table("wide", dim=64)))
    plain = hot_rows(statistics, Execution(), 10**6, 10_000)
    kept = hot_rows(statistics, Execution(optimizer="rowwise_adagrad"), 10**6, 10_000)
    assert kept[0] < plain[0]


def test_equally_popular_rows_fill_the_budget():
    statistics = Statistics((table("t0", s=0.0),))
    assert hot_rows(statistics, Execution(), 10**6, 16 * 300) == [300]


def test_a_table_has_no_more_than_a_ranks_hbm():
    assert hot_rows(Statistics((table("t0"),)), Execution(), 16 * 50, 10**6) == [50]


def planned(tables, topology, **options):
    statistics = Statistics(tuple(tables))
    plan = make_plan(PolicyEntry.parse({"name": "recshard", **options}), statistics, topology, Execution())
    check_plan(plan, statistics, topology)
    return plan, memory_bytes(plan, statistics, topology)


def test_cold_rows_go_to_the_host_of_the_same_rank():
    plan, use = planned([table(f"t{index}") for index in range(6)], cluster("20 kB"), hbm_share=1.0)
    assert use.max_bytes <= 20_000
    assert use.total_bytes.sum() + use.host_bytes.sum() == 6 * 16_000
    for each in plan.tables:
        hot, cold = each.segments
        assert (hot.memory, cold.memory) == ("hbm", "host")
        assert hot.layout is cold.layout
        assert len(hot.layout.copies[0]) == 1


def test_without_shortage_it_is_table_wise():
    plan, use = planned([table("t0"), table("t1")], cluster("80 GB"))
    assert [len(each.segments) for each in plan.tables] == [1, 1]
    assert use.host_bytes.sum() == 0
    assert plan.notes[0] == "no row in host memory"


def test_the_notes_say_what_reading_cold_rows_takes():
    """One table of even rows, half of them in HBM: 4 ranks x 100 lookups x 16 B, half of them over 1 MB/s."""
    flat = table("t0", s=0.0, touched=1000)
    slow = cluster("8 kB").with_(**{"gpu.host_bandwidth": "1 MB/s"})
    plan, _ = planned([flat], slow, hbm_share=1.0)
    assert plan.tables[0].segments[0].stop == 500
    assert plan.notes[0] == "500 rows in host memory; reading them takes the busiest rank 3.2 ms"


def test_hot_parts_shrink_until_they_can_be_packed():
    """Five hot parts of 4/5 of a rank each cannot be packed into four ranks; of 1/2 they can, two on one."""
    plan, use = planned(
        [table(f"t{index}", touched=1000) for index in range(5)], cluster("16 kB"), hbm_share=1.0
    )
    hot = [each.segments[0].stop for each in plan.tables]
    assert use.max_bytes <= 16_000
    assert max(hot) <= 500
    assert min(hot) >= 0.95 * 490
    assert sorted(each.segments[0].layout.copies[0][0] for each in plan.tables) == [0, 0, 1, 2, 3]


def items(loads, memory=1):
    return [Item(str(index), load=float(load), memory_bytes=memory) for index, load in enumerate(loads)]


def test_the_program_beats_the_busiest_first():
    """Loads 3 3 2 2 2 on two ranks: the busiest first gives 7 to 5, the optimum is 6 to 6."""
    two = uniform_topology(islands=2, gpus_per_island=1, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
    places, note = place_whole(items([3, 3, 2, 2, 2]), two, 10, nodes=100)
    assert np.bincount(places, [3, 3, 2, 2, 2]).tolist() == [6, 6]
    assert "mixed-integer program, 14.3 % below greedy" in note


def test_the_program_keeps_to_memory():
    two = uniform_topology(islands=2, gpus_per_island=1, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
    places, _ = place_whole(items([3, 3, 2, 2, 2], memory=3), two, 9, nodes=100)
    assert max(np.bincount(places)) <= 3


def test_nothing_is_solved_where_the_bound_is_reached():
    places, note = place_whole(items([4, 4, 4, 4]), TOPOLOGY, 10, nodes=100)
    assert sorted(places) == [0, 1, 2, 3]
    assert "which no placement beats" in note


def test_an_item_that_fits_nowhere_is_named():
    with pytest.raises(UserError, match="table 0 does not fit"):
        place_whole(items([1], memory=11), TOPOLOGY, 10, nodes=100)
