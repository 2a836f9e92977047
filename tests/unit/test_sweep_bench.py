"""What a bench keeps changes no answer, whatever was computed on it before."""

import random

import pytest
from sweep_inputs import small_sweep

from simulator.experiment.simulate import simulate
from simulator.sweeps.bench import Bench, Kept, identity
from simulator.sweeps.point import Point
from simulator.topology.build import build_topology
from simulator.workload.build import build_workload

VARY = {
    "topology.scale_out.nic_bandwidth": ["100 Gbit/s", "200 Gbit/s"],
    "topology.scale_up.latency": ["1 us", "3 us"],
    "workload.batch_per_rank": [16, 32],
    "workload.tables.items.popularity.s": [0.5, 1.1],
    "execution.pipelining": [False, True],
}


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    made = small_sweep(
        tmp_path_factory.mktemp("sweep"), vary=VARY, iterations=2, policies=["row_wise", "flexshard"]
    ).points("bound")
    assert len(made) == 64
    return made


@pytest.fixture(scope="module")
def results(points):
    bench = Bench()
    return {point.key: bench.result(point) for point in points}


def test_points_are_answered_as_if_each_were_alone(points, results):
    for point in points[::7]:
        assert Bench().result(point) == results[point.key]


def test_the_order_of_points_changes_nothing(points, results):
    shuffled = list(points)
    random.Random(3).shuffle(shuffled)
    bench = Bench()
    assert {result.key: result for result in bench.results(shuffled)} == results


def test_a_point_is_what_compare_says(points, results):
    for point in (points[0], points[9], points[-1]):
        topology, workload = build_topology(point.topology), build_workload(point.workload, point.folder)
        comparison = simulate(point.experiment(topology, workload))
        summary = comparison.summaries[0]
        figures = results[point.key].figures
        assert figures["communication_s"] == summary.mean("communication_s")
        assert figures["inter_island_bytes"] == summary.mean("inter_island_bytes")
        assert figures["memory_bytes_per_rank_max"] == summary.memory_bytes_per_rank_max
        assert figures["bottleneck"] == summary.bottleneck


def test_points_that_differ_in_speeds_alone_share_a_placement_and_draws(points):
    bench = Bench()
    own = [point for point in points if point.label == "row_wise" and not point.execution.pipelining]
    slow = next(point for point in own if point.values["topology.scale_out.nic_bandwidth"] == "100 Gbit/s")
    fast = next(
        point
        for point in own
        if point.values
        == slow.values | {"topology.scale_out.nic_bandwidth": "200 Gbit/s", "execution.pipelining": False}
    )
    made = []
    for point in (slow, fast):
        experiment, setup = bench.set_up(point)
        made.append((setup.placement.tables, bench.iteration(point, experiment, setup, 0).traffic))
        assert experiment.topology.spec == point.topology
    assert made[0][0] is made[1][0]
    assert made[0][1] is made[1][1]


def test_another_batch_shares_tables_but_no_draw(points):
    bench = Bench()
    own = [point for point in points if point.label == "row_wise"]
    small, large = (
        next(point for point in own if point.values == {**own[0].values, "workload.batch_per_rank": batch})
        for batch in (16, 32)
    )
    setups = [bench.set_up(point) for point in (small, large)]
    assert setups[0][1].placement.tables is setups[1][1].placement.tables
    assert [setup.placement.samples[0] for _, setup in setups] == [16, 32]


def test_what_is_kept_does_not_grow_with_the_points(tmp_path, monkeypatch):
    """Also where ranks are so few that a draw is small: a day's sweep must fit in memory."""
    monkeypatch.setattr("simulator.sweeps.bench.DRAWS_KEPT", 5)
    vary = {"workload.batch_per_rank": list(range(1, 21))}
    bench = Bench()
    for point in small_sweep(tmp_path, policies=["row_wise"], vary=vary).points("bound"):
        assert not bench.result(point).error
    kept = (bench._topologies, bench._workloads, bench._placements, bench._draws)
    assert [len(values._values) for values in kept] == [1, 8, 1, 5]


def test_an_error_is_a_result_in_a_line(tmp_path):
    (point,) = small_sweep(
        tmp_path, vary={"topology.gpu.hbm_capacity": ["1 kB"]}, policies=["row_wise"]
    ).points("bound")
    result = Bench().result(point)
    assert result.figures == {}
    assert result.error.startswith("plan row_wise: does not fit")
    assert "\n" not in result.error


def test_an_error_that_is_no_users_is_a_result_too(tmp_path, monkeypatch):
    (point,) = small_sweep(tmp_path, vary={"seed": [0]}, policies=["row_wise"]).points("bound")

    def fail(self: Bench, point: Point) -> dict[str, object]:
        raise MemoryError("too much")

    monkeypatch.setattr(Bench, "figures", fail)
    assert Bench().result(point).error == "MemoryError: too much"


class TestKept:
    def test_the_least_recently_used_goes_first(self):
        kept = Kept()
        for key in ("a", "b", "a", "c"):
            kept.get(key, lambda key=key: [key], at_most=2)
        assert kept.last() == ["c"]
        assert kept.get("a", lambda: ["new a"], at_most=2) == ["a"]
        assert kept.get("b", lambda: ["new b"], at_most=2) == ["new b"]

    def test_nothing_was_kept_at_first(self):
        assert Kept().last() is None


def test_plans_that_place_alike_are_alike(points):
    bench = Bench()
    tiers = [point for point in points if point.label == "flexshard"]
    same = [identity(bench.set_up(tiers[0])[1].plan) for _ in range(2)]
    assert same[0] == same[1]
    piped = next(point for point in tiers if point.execution.pipelining)
    assert identity(bench.set_up(piped)[1].plan) != same[0]
