"""What must be true of any tiered plan, each with its derivation."""

from itertools import pairwise

import numpy as np
import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, island
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan, Tier
from simulator.sharding.policies.hybrid import HybridOptions, count_threshold
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

DIM = 128


def cluster(islands: int = 16, gpus: int = 8, scale_up: float = 3e11, nic: float = 2.5e10):
    return uniform_topology(
        islands=islands, gpus_per_island=gpus, scale_up_bytes_per_s=scale_up, nic_bytes_per_s=nic
    )


def workload(s: float, *, rows: int = 10**6, touched: float = 0.4, lookups: float = 50_000.0) -> Statistics:
    hit = int(rows * touched)
    popularity = ZipfMandelbrot(hit, s, 2.75) if s else Uniform(hit)
    return Statistics((TableStatistics("items", rows, DIM, 2, hit, popularity, lookups),))


def planned(entry, statistics, topology, **execution):
    return make_plan(PolicyEntry.parse(entry), statistics, topology, Execution(**execution))


def seconds(entry, statistics, topology, **execution) -> float:
    return predict(planned(entry, statistics, topology, **execution), statistics, topology).total_s


def test_uniform_popularity_gains_nothing():
    """All touched rows are alike, so all or none deserve copies. Each is looked up W n / touched = 16 times in
    the cluster, N = 16 being the break-even: at less, no copy pays whatever memory there is."""
    statistics = workload(0.0, lookups=10_000.0)  # 3.2 lookups a row
    plan = planned({"name": "flexshard", "budget": "1000 %"}, statistics, cluster())
    assert [each.layout.tier for each in plan.tables[0].segments] == [Tier.GLOBAL]
    assert "replication does not pay" in plan.notes[0]


@pytest.mark.parametrize("name", ["row_wise", "table_wise", "flexshard", "two_dimensional", "data_parallel"])
def test_one_island_has_no_nic_byte(name):
    """All ranks share one island, so every copy and every owner is inside it."""
    statistics, topology = workload(1.1), cluster(islands=1)
    found = predict(planned(name, statistics, topology), statistics, topology)
    assert sum(phase.inter_island_bytes for phase in found.phases) == 0.0
    assert all(phase.nic_s == 0.0 for phase in found.phases)


def ideal_split(tiers: str) -> float:
    """The speed-up of 85 % island and 15 % global lookups over row-wise, without synchronisation."""
    topology = cluster(scale_up=210e9, nic=24e9)
    even = Uniform(10**6)
    statistics = Statistics((TableStatistics("items", 10**6, DIM, 2, 10**6, even, 1e5),))
    cut = 850_000
    execution = Execution(tiers=tiers)
    split = (Segment(0, cut, island(topology)), Segment(cut, 10**6, global_rows(topology)))
    row_wise = (Segment(0, 10**6, global_rows(topology)),)
    times = [
        predict(
            ShardingPlan("p", 128, (TablePlan("items", segments),), execution), statistics, topology
        ).without_sync_s
        for segments in (row_wise, split)
    ]
    return times[0] / times[1]


def test_the_ideal_split_is_6_67_times_as_fast_at_once():
    """p2 = 0.15 of the lookups stay global, so NICs carry 0.15 of before: 1 / 0.15 = 6.67, if NICs still decide.
    Beside them 0.85 (L - 1) / L + 0.15 (L - 1) / W over 210 GB/s is shorter: 0.75 / 210 < 0.15 * 15 / 16 / 24."""
    assert ideal_split("concurrent") == pytest.approx(1 / 0.15, rel=1e-6)


def test_the_ideal_split_is_about_4_2_times_as_fast_one_after_another():
    """Global 0.15 (N - 1) / N / 24 and then island 0.85 (L - 1) / L / 210, against (N - 1) / N / 24: with
    N = 16 and L = 8 it is 0.0390625 / (0.005859 + 0.003542) = 4.155."""
    expected = (15 / 16 / 24) / (0.15 * 15 / 16 / 24 + 0.85 * 7 / 8 / 210)
    assert expected == pytest.approx(4.155, abs=1e-3)
    assert ideal_split("serial") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("islands", "gpus"), [(4, 8), (16, 8), (64, 4)])
def test_a_row_breaks_even_at_about_n_lookups(islands, gpus):
    """Without dedup. A row with c lookups in the cluster takes c (8 + 2 b) bytes to and from its owners, of which
    (N - 1) / N cross, over W NICs. A copy in every island costs 2 (N - 1) / N b / L on each NIC instead. They
    are equal at c = 2 b W / (L (8 + 2 b)) = N b / (b + 4), a little below N (and scale-up bytes count little)."""
    topology = cluster(islands, gpus, scale_up=1e15)
    statistics = workload(1.0, lookups=20_000.0)
    plan = planned({"name": "flexshard", "budget": "1000 %"}, statistics, topology)
    warm = max(
        each.stop for each in plan.tables[0].segments if each.layout.tier in (Tier.ISLAND, Tier.REPLICATED)
    )
    share = statistics.tables[0].popularity.share_between([warm], [warm + 1])[0]
    count = share * 20_000.0 * topology.world_size
    row_bytes = 2 * DIM
    assert count == pytest.approx(islands * row_bytes / (row_bytes + 4), rel=0.01)
    assert count == pytest.approx(islands, rel=0.05)


def test_a_replicated_and_an_island_row_cost_the_nics_the_same():
    """Hierarchical synchronisation sends 2 (N - 1) / N b / L of a replicated row over each NIC; an island row is on
    one rank of L, which sends 2 (N - 1) / N b."""
    statistics, topology = workload(1.15), cluster()
    crossing = [
        sum(phase.inter_island_bytes for phase in found.phases if phase.step == "replica_sync")
        for entry in ("data_parallel", {"name": "two_dimensional", "group_size": 8})
        for found in [predict(planned(entry, statistics, topology), statistics, topology)]
    ]
    assert crossing[0] == pytest.approx(crossing[1])


def test_replicating_further_pays_from_about_one_lookup_a_rank():
    """It saves scale-up bytes alone. A rank's v lookups of an island row take v (8 + 2 b) (L - 1) / L bytes of the
    island's ports; the reduce-scatter and all-gather of a replicated row take 2 (L - 1) / L b. Equal at
    v = 2 b / (8 + 2 b): W lookups in the cluster, but for the ids, on ports of any speed."""
    for scale_up in (3e11, 1e15):
        topology, statistics = cluster(scale_up=scale_up), workload(1.1)
        entry = {"name": "flexshard", "budget": "1000 %"}
        hot = planned(entry, statistics, topology).tables[0].segments[0]
        assert hot.layout.tier is Tier.REPLICATED
        share = statistics.tables[0].popularity.share_between([hot.stop], [hot.stop + 1])[0]
        row_bytes = 2 * DIM
        assert share * 50_000 == pytest.approx(2 * row_bytes / (8 + 2 * row_bytes), rel=0.01)


def test_with_rank_dedup_a_row_saves_at_most_l_times_its_cost():
    """A rank asks for a row at most once, so a row takes at most W (8 + 2 b) bytes of all-to-all, (N - 1) / N of
    them over NICs. A copy costs the cluster 2 (N - 1) / N b / L on each of W NICs. The ratio is at most
    L (8 + 2 b) / (2 b), L but for the ids."""
    islands, gpus = 16, 8
    topology = cluster(islands, gpus, scale_up=1e15)
    certain = Statistics((TableStatistics("items", 1000, DIM, 2, 10, Uniform(10), 1e6),))
    plan = planned({"name": "row_wise", "dedup": "rank"}, certain, topology)
    saved_s = predict(plan, certain, topology).total_s  # ten rows that every rank asks for
    segments = (Segment(0, 10, island(topology)), Segment(10, 1000, global_rows(topology)))
    tiered = ShardingPlan("p", 128, (TablePlan("items", segments),), Execution(dedup="rank"))
    cost_s = predict(tiered, certain, topology).sync_s
    row_bytes = 2 * DIM
    assert saved_s / cost_s == pytest.approx(gpus * (8 + 2 * row_bytes) / (2 * row_bytes), rel=1e-6)


def test_with_island_dedup_a_copy_hardly_pays():
    """An island asks for a row at most once, so its NICs carry at most (N - 1) / N (8 + 2 b) of it, and a copy
    costs them 2 (N - 1) / N b: equal but for the ids, whatever the popularity."""
    statistics, topology = workload(1.2, lookups=1e6), cluster(scale_up=1e15)
    row_wise = seconds({"name": "row_wise", "dedup": "island"}, statistics, topology)
    flexshard = seconds({"name": "flexshard", "dedup": "island"}, statistics, topology)
    assert row_wise / flexshard <= 1 + 8 / (4 * DIM)


def test_table_row_wise_saves_nothing_un_pooled():
    """Each lookup's own row must travel, (N - 1) / N of them between islands, wherever the table is."""
    tables = tuple(
        TableStatistics(f"t{index}", 10**6, DIM, 2, 10**6, Uniform(10**6), 1e4) for index in range(16)
    )
    statistics, topology = Statistics(tables), cluster()
    row_wise, by_island = (
        predict(planned(name, statistics, topology), statistics, topology)
        for name in ("row_wise", "table_row_wise")
    )
    crossing = [sum(phase.inter_island_bytes for phase in each.phases) for each in (row_wise, by_island)]
    assert crossing[0] == pytest.approx(crossing[1])
    assert by_island.total_s >= row_wise.total_s * (1 - 1e-9)


@pytest.mark.parametrize(("islands", "threshold"), [(2, 4.0), (4, 16 / 3), (16, 256 / 15)])
def test_hugectrs_threshold(islands, threshold):
    """HugeCTR, several nodes: a category is frequent from iterations x N x (all-to-all over all-reduce bandwidth)
    x N / (N - 1) counts on; per iteration and at equal bandwidths N^2 / (N - 1), a little above our N."""
    table = workload(1.0).tables[0]
    assert count_threshold(table, cluster(islands), HybridOptions()) == pytest.approx(threshold)


@pytest.mark.parametrize("tiers", ["serial", "concurrent"])
def test_more_memory_never_hurts(tiers):
    """A larger limit admits every plan that a smaller one does."""
    statistics, topology = workload(1.1), cluster()
    times = [
        seconds({"name": "flexshard", "budget": f"{percent} %"}, statistics, topology, tiers=tiers)
        for percent in (0, 0.01, 0.1, 0.5, 1, 2, 5, 10, 50, 200)
    ]
    assert times == sorted(times, reverse=True)
    assert times[-1] < 0.5 * times[0]


@pytest.mark.parametrize("keys", [{}, {"dedup": "rank"}, {"tiers": "concurrent"}, {"sync": "sparse"}])
def test_more_skew_never_slows_flexshard_in_expectation(keys):
    """A more skewed Zipf over the same rows majorises a less skewed one: any cut leaves less to the tail, and
    copies of the same rows cost the same, so the old cuts already do no worse. Row-wise moves the same bytes
    whatever the skew (with dedup fewer)."""
    times = [
        seconds({"name": "flexshard", **keys}, workload(s), cluster())
        for s in (0.0, 0.5, 0.8, 0.9, 1.0, 1.1, 1.3)
    ]
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(times))
    assert times[-1] < 0.7 * times[0]


@pytest.mark.parametrize("stale_s", [0.7, 0.9, 1.3])
def test_a_stale_plan_never_beats_the_fresh_one_in_expectation(stale_s):
    """The fresh plan is the best for the statistics that hold; the stale one is feasible, so no better."""
    topology, fresh_statistics = cluster(), workload(1.1)
    fresh = planned("flexshard", fresh_statistics, topology)
    stale = planned("flexshard", workload(stale_s), topology)
    times = [predict(plan, fresh_statistics, topology).total_s for plan in (fresh, stale)]
    assert times[0] <= times[1]
    assert times[1] > 1.001 * times[0]


def test_dedup_and_flexshard_gain_from_the_same_rows():
    """Both spare a rank the second lookup of a hot row, so FlexShard gains less over row-wise with dedup."""
    statistics, topology = workload(1.15), cluster()
    gains = [
        seconds({"name": "row_wise", "dedup": dedup}, statistics, topology)
        / seconds({"name": "flexshard", "dedup": dedup}, statistics, topology)
        for dedup in ("none", "rank", "island")
    ]
    assert gains == sorted(gains, reverse=True)
    assert np.all(np.array(gains) >= 1.0)
