"""The busiest owner: what is expected of chance, and plans that take hot rows off it."""

import numpy as np
import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.hot_owners import busiest_over_mean
from simulator.sharding.hot_rows import block_rows_at_least, rows_at_least
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=16, gpus_per_island=8, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9)


def table(popularity, *, rows=1_000_000, lookups=25_600.0, name="t"):
    return TableStatistics(name, rows, 128, 2, popularity.rows, popularity, lookups)


def planned(name, statistics):
    return make_plan(PolicyEntry.parse(name), statistics, TOPOLOGY, Execution())


def both_s(plan, statistics):
    """Predicted seconds with balanced owners and with the busiest one."""
    return tuple(predict(plan, statistics, TOPOLOGY, hot_owners=hot).total_s for hot in (False, True))


def test_one_owner_or_even_rows_have_no_busiest():
    assert busiest_over_mean([np.array([0.9])], 1.0, 1) == 1.0
    assert busiest_over_mean([np.full(1000, 1e-7)], 1.0, 128) == 1.0
    assert busiest_over_mean([], 0.0, 128) == 1.0


def test_a_row_that_is_everything_loads_one_owner_of_all():
    assert busiest_over_mean([np.array([1.0])], 1.0, 128) == pytest.approx(128.0)


def test_one_hot_row_adds_to_an_owners_fair_part_of_the_rest():
    assert busiest_over_mean([np.array([0.1])], 1.0, 10) == pytest.approx((0.1 + 0.9 / 10) / 0.1)


def test_two_equal_rows_meet_with_the_chance_of_two_dice():
    factors = [busiest_over_mean([np.full(2, 0.5)], 1.0, owners) for owners in (2, 3, 5)]
    for factor, owners in zip(factors, (2, 3, 5), strict=True):
        expected = owners * (0.5 * (1 - 1 / owners) + 1.0 / owners)
        assert factor == pytest.approx(expected, rel=0.35)  # of 16 deals


def test_it_agrees_with_many_deals_of_a_whole_table():
    popularity = ZipfMandelbrot(400_000, 1.15, 2.75)
    shares = np.diff(popularity.cumulative_share(np.arange(400_001)))
    rng = np.random.default_rng(1)
    deals = [np.bincount(rng.integers(128, size=400_000), shares, 128).max() * 128 for _ in range(50)]
    assert busiest_over_mean([shares[:512]], 1.0, 128) == pytest.approx(np.mean(deals), rel=0.1)


def test_uniform_popularity_is_predicted_the_same_either_way():
    statistics = Statistics((table(Uniform(1_000_000)),))
    even_s, busiest_s = both_s(planned("row_wise", statistics), statistics)
    assert busiest_s == pytest.approx(even_s)


def test_skew_makes_row_wise_slower_and_flexshard_hardly():
    statistics = Statistics((table(ZipfMandelbrot(400_000, 1.15, 2.75)),))
    row_wise, flexshard = (
        both_s(planned(name, statistics), statistics) for name in ("row_wise", "flexshard")
    )
    assert row_wise[1] > 4 * row_wise[0]
    assert flexshard[1] < 1.2 * flexshard[0]


def test_bytes_are_those_of_all_ranks_whoever_is_busiest():
    statistics = Statistics((table(ZipfMandelbrot(400_000, 1.15, 2.75)),))
    plan = planned("row_wise", statistics)
    even, busiest = (predict(plan, statistics, TOPOLOGY, hot_owners=hot) for hot in (False, True))
    for one, other in zip(even.phases, busiest.phases, strict=True):
        assert one.inter_island_bytes == pytest.approx(other.inter_island_bytes)
        assert one.intra_island_bytes == pytest.approx(other.intra_island_bytes)


def test_a_small_hot_table_leaves_the_global_tier_though_balanced_owners_would_not_pay():
    slow_start = TOPOLOGY.with_(
        **{"scale_out.startup": {"alpha": "200 us"}, "scale_up.startup": {"alpha": "50 us"}}
    )
    statistics = Statistics((table(ZipfMandelbrot(40_000, 1.15, 2.75), rows=40_000, lookups=4_000.0),))
    entry = PolicyEntry.parse({"name": "flexshard", "memory": "hbm"})
    plan = make_plan(entry, statistics, slow_start, Execution())
    base = make_plan(PolicyEntry.parse("row_wise"), statistics, slow_start, Execution())
    own_s, base_s = (predict(each, statistics, slow_start, hot_owners=True).total_s for each in (plan, base))
    assert own_s < base_s
    assert len(plan.tables[0].segments) >= 1
    assert plan.notes


@pytest.mark.parametrize("s", [0.0, 0.8, 1.2])
def test_several_limits_at_once_give_what_one_by_one_does_to_a_block(s):
    one = table(ZipfMandelbrot(400_000, s, 2.75))
    limits = np.geomspace(1e-3, 1e3, 13)
    at_once = block_rows_at_least(one, limits)
    assert at_once == sorted(at_once, reverse=True)
    for rows, limit in zip(at_once, limits, strict=True):
        assert rows == pytest.approx(rows_at_least(one, float(limit)), rel=0.025, abs=1)
