"""FlexShard's plans: tiers, memory to the byte, and what is said when copies do not pay."""

import pytest

from simulator.errors import UserError
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, island, replicated
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import Tier
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import GpuSpec, ScaleOutSpec, ScaleUpSpec, StartupSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=8, gpus_per_island=4, scale_up_bytes_per_s=2e11, nic_bytes_per_s=2e10)


def table(
    name: str = "items", *, rows: int = 1_000_000, touched: float = 0.4, s: float = 1.1, lookups: float = 5e4
):
    hit = int(rows * touched)
    popularity = ZipfMandelbrot(hit, s, 2.0) if s else Uniform(hit)
    return TableStatistics(name, rows, 64, 2, hit, popularity, lookups)


def made(statistics, *, topology=TOPOLOGY, **keys):
    plan = make_plan(PolicyEntry.parse({"name": "flexshard", **keys}), statistics, topology, Execution())
    check_plan(plan, statistics, topology)
    return plan


def row_wise(statistics, topology=TOPOLOGY, **keys):
    return make_plan(PolicyEntry.parse({"name": "row_wise", **keys}), statistics, topology, Execution())


def most_bytes(plan, statistics, topology=TOPOLOGY) -> int:
    return memory_bytes(plan, statistics, topology).max_bytes


def segments(plan, index=0):
    return [(each.start, each.stop, each.layout) for each in plan.tables[index].segments]


ONE = Statistics((table(),))
SEVERAL = Statistics((table(), table("users", lookups=5e3, s=0.9), table("shops", rows=1000, lookups=9e4)))


def test_hot_rows_are_replicated_warm_ones_in_islands_and_the_rest_global():
    plan = made(ONE)
    (_, hot, first), (start, warm, second), (begin, end, third) = segments(plan)
    assert (first, second, third) == (replicated(TOPOLOGY), island(TOPOLOGY), global_rows(TOPOLOGY))
    assert 0 < hot == start < warm == begin < end == 400_000


@pytest.mark.parametrize("statistics", [ONE, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("optimizer", ["none", "rowwise_adagrad", "adam"])
def test_baseline_takes_no_more_memory_than_row_wise_on_any_rank(statistics, optimizer):
    plan = made(statistics, optimizer=optimizer)
    assert most_bytes(plan, statistics) <= most_bytes(row_wise(statistics, optimizer=optimizer), statistics)
    assert [each.segments[-1].stop for each in plan.tables] == [
        each.touched_rows for each in statistics.tables
    ]


def test_baseline_without_never_touched_rows_is_row_wise():
    statistics = Statistics((table(touched=1.0),))
    plan = made(statistics)
    assert segments(plan) == segments(row_wise(statistics))
    assert plan.notes == ("row-wise: no memory is left for copies",)


@pytest.mark.parametrize("budget", ["0 %", "0 B", 0])
def test_a_budget_of_nothing_is_row_wise_to_the_byte(budget):
    plan = made(SEVERAL, budget=budget)
    for index in range(3):
        assert segments(plan, index) == segments(row_wise(SEVERAL), index)
    used = memory_bytes(plan, SEVERAL, TOPOLOGY).total_bytes.tolist()
    assert used == memory_bytes(row_wise(SEVERAL), SEVERAL, TOPOLOGY).total_bytes.tolist()


@pytest.mark.parametrize("percent", [0.1, 1, 5, 30])
def test_a_budget_is_kept_and_used_up_where_memory_is_scarce(percent):
    plan = made(ONE, budget=f"{percent} %")
    limit = most_bytes(row_wise(ONE), ONE) * (1 + percent / 100)
    used = most_bytes(plan, ONE)
    assert used <= limit
    assert plan.prices is not None
    if plan.prices.memory_s_per_byte > 0:
        assert used >= limit - 3 * 128
    assert plan.tables[0].segments[-1].stop == 1_000_000


def test_hbm_uses_what_the_gpu_has():
    spec = TopologySpec(
        name="small",
        islands=8,
        gpus_per_island=4,
        gpu=GpuSpec(hbm_capacity="5 MB"),
        scale_up=ScaleUpSpec(bandwidth="200 GB/s"),
        scale_out=ScaleOutSpec(nic_bandwidth="20 GB/s"),
    )
    small = build_topology(spec)
    plan = made(ONE, topology=small, memory="hbm")
    assert 4_000_000 < most_bytes(plan, ONE, small) <= 0.85 * 5_000_000
    tighter = made(ONE, topology=small, memory="hbm", hbm_share=0.81)
    assert most_bytes(tighter, ONE, small) <= 0.81 * 5_000_000


def test_hbm_that_does_not_hold_one_copy_is_left_to_the_check():
    statistics = Statistics((table(rows=10**9, touched=0.5),))
    plan = make_plan(
        PolicyEntry.parse({"name": "flexshard", "memory": "hbm", "hbm_share": 1e-6}),
        statistics,
        TOPOLOGY,
        Execution(),
    )
    assert segments(plan) == segments(row_wise(statistics))


def test_a_few_rows_are_planned_whole():
    """8 rows on 32 ranks, all lookups on few of them: whatever is chosen fits and covers."""
    tiny = Statistics((table(rows=8, touched=0.5, lookups=100.0),))
    plan = made(tiny)
    assert most_bytes(plan, tiny) <= most_bytes(row_wise(tiny), tiny)


def test_uniform_popularity_gains_nothing_and_says_so():
    flat = Statistics((table(s=0.0, lookups=1e3),))
    plan = made(flat)
    assert segments(plan) == segments(row_wise(flat))
    assert len(plan.notes) == 1
    assert plan.notes[0].startswith(
        "row-wise: replication does not pay: a copy of the hottest row of table items"
    )


def test_where_no_table_is_looked_up_nothing_is_planned():
    idle = Statistics((table(lookups=0.0),))
    assert segments(made(idle)) == segments(row_wise(idle))


def test_one_island_has_no_island_tier():
    topology = uniform_topology(islands=1, gpus_per_island=8, scale_up_bytes_per_s=2e11, nic_bytes_per_s=2e10)
    plan = made(ONE, topology=topology)
    assert {each.layout.tier for each in plan.tables[0].segments} == {Tier.REPLICATED, Tier.GLOBAL}


def test_islands_of_one_have_no_island_tier():
    topology = uniform_topology(islands=8, gpus_per_island=1, scale_up_bytes_per_s=2e11, nic_bytes_per_s=2e10)
    plan = made(ONE, topology=topology)
    assert {each.layout.tier for each in plan.tables[0].segments} == {Tier.REPLICATED, Tier.GLOBAL}


def test_tiers_at_once_need_no_replicas_while_scale_up_ports_have_room():
    plan = made(ONE, tiers="concurrent")
    assert {each.layout.tier for each in plan.tables[0].segments} == {Tier.ISLAND, Tier.GLOBAL}
    assert plan.prices is not None
    assert plan.prices.nic_shares == (1.0,)


def test_tiers_at_once_balance_nics_and_slow_scale_up_ports():
    """With ports no faster than NICs, island rows cost as much: some rows are replicated to relieve the ports."""
    slow = uniform_topology(islands=8, gpus_per_island=4, scale_up_bytes_per_s=2e10, nic_bytes_per_s=2e10)
    plan = made(ONE, topology=slow, tiers="concurrent")
    assert plan.tables[0].segments[0].layout.tier is Tier.REPLICATED
    assert plan.prices is not None
    assert 0.0 < plan.prices.nic_shares[0] < 1.0


def test_unequal_islands_are_limited_by_the_smallest():
    spec = TopologySpec(
        name="uneven",
        islands=(8, 2, 6),
        scale_up=ScaleUpSpec(bandwidth="200 GB/s"),
        scale_out=ScaleOutSpec(nic_bandwidth="20 GB/s"),
    )
    topology = build_topology(spec)
    plan = made(SEVERAL, topology=topology)
    use = memory_bytes(plan, SEVERAL, topology)
    assert use.max_bytes <= most_bytes(row_wise(SEVERAL, topology), SEVERAL, topology)
    assert plan.notes[0].startswith("memory:")


def test_start_up_decides_whether_a_tier_is_worth_its_collectives():
    """The same few lookups: copies pay on a network that starts at once, not on one that takes a second."""
    spec = TopologySpec(
        name="slow to start",
        islands=8,
        gpus_per_island=4,
        scale_up=ScaleUpSpec(bandwidth="200 GB/s", startup=StartupSpec(alpha="1000 ms")),
        scale_out=ScaleOutSpec(nic_bandwidth="20 GB/s", startup=StartupSpec(alpha="1000 ms")),
    )
    slow = build_topology(spec)
    assert len(made(ONE).tables[0].segments) == 3
    plan = made(ONE, topology=slow)
    assert segments(plan) == segments(row_wise(ONE, slow))
    assert plan.notes[0].startswith("row-wise: copies save less than their collectives take to start up")


def test_a_tier_is_left_out_where_its_start_up_is_dear():
    """Island rows need three all-to-alls of their own; at 10 us for each, replicas alone are better."""
    spec = TopologySpec(
        name="slow islands",
        islands=8,
        gpus_per_island=4,
        scale_up=ScaleUpSpec(bandwidth="200 GB/s", startup=StartupSpec(alpha="10 us")),
        scale_out=ScaleOutSpec(nic_bandwidth="20 GB/s"),
    )
    plan = made(ONE, topology=build_topology(spec))
    assert [each.layout.tier for each in plan.tables[0].segments] == [Tier.REPLICATED, Tier.GLOBAL]


@pytest.mark.parametrize("dedup", ["none", "rank", "island"])
@pytest.mark.parametrize("sync", ["dense", "sparse"])
@pytest.mark.parametrize("tiers", ["serial", "concurrent"])
def test_it_is_never_predicted_worse_than_row_wise(dedup, sync, tiers):
    keys = {"dedup": dedup, "sync": sync, "tiers": tiers}
    best, base = (
        predict(plan, SEVERAL, TOPOLOGY, hot_owners=True).total_s
        for plan in (made(SEVERAL, **keys), row_wise(SEVERAL, **keys))
    )
    assert best <= base


def test_the_notes_say_memory_and_gain():
    plan = made(ONE)
    assert plan.notes[0] == "memory: row-wise's 4 MB a rank, never-touched rows reclaimed"
    best, base = (predict(each, ONE, TOPOLOGY).total_s for each in (plan, row_wise(ONE)))
    assert plan.notes[1].endswith(f"({base / best:.2f} times)")


def test_the_same_inputs_give_the_same_plan():
    one, other = made(SEVERAL), made(SEVERAL)
    assert [segments(one, index) for index in range(3)] == [segments(other, index) for index in range(3)]
    assert one.prices == other.prices


class TestScaledMemory:
    FLAT = Statistics((table(s=0.0, lookups=1e3),))  # copies do not pay, however much memory there is

    @pytest.mark.parametrize("rule", [{"memory": "hbm"}, {"budget": "50 %"}])
    def test_less_of_a_limit_that_still_holds_row_wise_is_planned_row_wise(self, rule):
        plan = made(self.FLAT, memory_scale=0.9, **rule)
        assert segments(plan) == segments(row_wise(self.FLAT))
        assert plan.notes[0].startswith("row-wise: replication does not pay")

    @pytest.mark.parametrize("rule", [{"memory": "baseline"}, {"budget": "50 %", "memory_scale": 0.6}])
    def test_less_than_row_wise_takes_is_refused(self, rule):
        with pytest.raises(UserError, match=r"is too little: .* row-wise takes 4 MB a rank"):
            made(self.FLAT, **{"memory_scale": 0.9, **rule})

    def test_the_limit_of_row_wise_itself_is_enough(self):
        most = most_bytes(row_wise(self.FLAT), self.FLAT)
        plan = made(self.FLAT, budget=f"{most} B", memory_scale=0.5)
        assert most_bytes(plan, self.FLAT) == most
