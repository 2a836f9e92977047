"""TorchRec's cost formulas against its own figures, and the choice made by them."""

import csv
from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import Tier
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.sharding.torchrec_cost import Cluster, shard_cost
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data" / "ground_truth" / "torchrec_planner.csv"
BATCH = 512

# What TorchRec 1.8's planner printed (BSD-3 software, run on a CPU; batch 512 a rank, 8 ranks a host, fp32,
# intra 300 GB/s, inter 25 GB/s): ranks, pooled, type, columns of the shard, lookups a sample, then forward,
# backward and ids in ms.
PRINTED = [
    (128, True, "table_row_wise", 256, 428.0, 0.5592405333333333, 0.7302968321070235, 8.97581056),
    (128, True, "table_row_wise", 192, 360.0, 0.4194304, 0.5477226240802675, 7.5497472),
    (128, False, "row_wise", 256, 428.0, 8.97581056, 9.547780059024525, 8.97581056),
    (1024, False, "row_wise", 256, 428.0, 8.97581056, 9.547780059024525, 71.80648448),
    (128, False, "table_wise", 256, 286.0, 767.72540416, 767.72540416, 5.99785472),
    (128, False, "column_wise", 128, 189.0, 253.67150592, 253.67150592, 3.96361728),
]


def assert_costs(ranks, pooled, kind, columns, lookups, forward_ms, backward_ms, ids_ms):
    cost = shard_cost(
        kind,
        Cluster(ranks, 8, intra_bytes_per_s=300e9, inter_bytes_per_s=25e9),
        lookups_per_rank=BATCH * lookups,
        columns=columns,
        element_bytes=4,
        outputs_per_rank=BATCH if pooled else None,
    )
    assert cost.forward_s == pytest.approx(forward_ms * 1e-3, rel=1e-6)
    assert cost.backward_s == pytest.approx(backward_ms * 1e-3, rel=1e-6)
    assert cost.ids_s == pytest.approx(ids_ms * 1e-3, rel=1e-6)
    assert cost.total_s == pytest.approx(cost.forward_s + cost.backward_s + cost.ids_s)


@pytest.mark.parametrize("printed", PRINTED)
def test_costs_are_those_that_torchrec_printed(printed):
    assert_costs(*printed)


@pytest.mark.skipif(not SHARED_DATA.exists(), reason="the measured data is not at hand")
def test_costs_are_those_of_every_line_of_the_file():
    with SHARED_DATA.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) >= 15
    for line in lines:
        kind, _, shards = line["sharding_type"].partition(" ")
        assert_costs(
            int(line["world_size"]),
            line["model"] == "pooled",
            kind,
            int(line["dim"]) // (int(shards[1]) if shards else 1),
            float(line["lookups_per_sample"]),
            float(line["forward_comms_ms"]),
            float(line["backward_comms_ms"]),
            float(line["input_dist_ms"]),
        )


def test_table_row_wise_un_pooled_spares_the_hosts_nothing():
    """(n W / G) D e intra + n (W / G) D e inter, by hand: 16 ranks, 8 a host, 1,000 lookups of 400 B."""
    cost = shard_cost(
        "table_row_wise",
        Cluster(16, 8, 4e9, 1e9),
        lookups_per_rank=1000.0,
        columns=100,
        element_bytes=4,
    )
    assert cost.forward_s == pytest.approx(2000 * 400 / 4e9 + 2000 * 400 / 1e9)


@pytest.mark.parametrize(("ranks", "seconds"), [(8, 1.0), (16, 1.5), (24, 3.0)])
def test_data_parallel_reduces_the_whole_table(ranks, seconds):
    """T (2 k - 1) / k / (inter G), k = min(N, 2), doubled beyond two hosts; here T = inter * G."""
    cost = shard_cost(
        "data_parallel",
        Cluster(ranks, 8, 1e9, 1e9),
        lookups_per_rank=5.0,
        columns=1,
        element_bytes=4,
        table_bytes=8 * 10**9,
    )
    assert cost.total_s == cost.backward_s == pytest.approx(seconds)


def test_within_one_host_the_inner_bandwidth_counts():
    cost = shard_cost("row_wise", Cluster(8, 8, 2e9, 1e9), lookups_per_rank=10.0, columns=50, element_bytes=4)
    assert cost.forward_s == pytest.approx(10 * 200 / 2e9)


def table(name: str, rows: int, lookups: float, dim: int = 64) -> TableStatistics:
    return TableStatistics(name, rows, dim, 4, rows, Uniform(rows), lookups)


def cluster(islands: int, gpus: int, hbm: str = "80 GB"):
    return build_topology(
        TopologySpec(
            name="made",
            islands=islands,
            gpus_per_island=gpus,
            gpu=GpuSpec(hbm_capacity=hbm),
            scale_up=ScaleUpSpec(bandwidth="300 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="25 GB/s"),
        )
    )


def planned(tables, topology, **options):
    statistics = Statistics(tuple(tables))
    plan = make_plan(
        PolicyEntry.parse({"name": "planner_torchrec", **options}), statistics, topology, Execution()
    )
    check_plan(plan, statistics, topology)
    return plan


def test_small_busy_tables_are_replicated_and_large_ones_are_not():
    topology = cluster(4, 8)
    plan = planned([table("small", 100, 1e5), table("large", 10**8, 1e5)], topology)
    small, large = (each.segments[0].layout for each in plan.tables)
    assert small.tier is Tier.REPLICATED
    assert large is global_rows(topology)


def test_it_falls_back_to_types_that_fit():
    """Replicated, 10 tables of 256 kB take 2.56 MB a rank; at 400 kB a rank they are spread."""
    tables = [table(f"t{index}", 1000, 1e6) for index in range(10)]
    roomy = planned(tables, cluster(2, 4))
    assert {each.segments[0].layout.tier for each in roomy.tables} == {Tier.REPLICATED}
    tight = planned(tables, cluster(2, 4, hbm="400 kB"))
    assert Tier.GLOBAL in {each.segments[0].layout.tier for each in tight.tables}
    statistics = Statistics(tuple(tables))
    assert memory_bytes(tight, statistics, cluster(2, 4)).max_bytes <= 400_000


def test_what_fits_in_no_way_is_refused():
    with pytest.raises(UserError, match="planner_torchrec: no proposal fits 1 kB a rank"):
        planned([table("t0", 10**6, 10.0)], cluster(2, 4, hbm="1 kB"))


def test_the_notes_say_what_the_planner_says():
    """One table, 8 ranks in one island, 100 lookups x 256 B: row-wise 2 x 25.6 kB / 600 GiB/s and a copy."""
    topology = uniform_topology(
        islands=1, gpus_per_island=8, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9
    )
    plan = planned([table("t0", 10**8, 1e6)], topology)
    assert plan.tables[0].segments[0].layout is global_rows(topology)
    assert plan.notes == ("the planner says 1.55 ms of communication on its most loaded rank",)


def test_it_may_believe_in_the_topologys_bandwidths():
    slow, fast = planned([table("t0", 10**8, 1e6)], cluster(4, 8)), None
    fast = planned([table("t0", 10**8, 1e6)], cluster(4, 8), bandwidths="topology")
    assert slow.notes != fast.notes
