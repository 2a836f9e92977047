"""Elasticities with known values: what a run is bound by has -1 (or 1 for a duration), what it does not need 0."""

import math
from pathlib import Path

import pytest

from simulator.explanation.elasticity import Elasticities, elasticities
from simulator.explanation.knobs import KNOBS
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.sweeps.point import Point
from simulator.topology.spec import TopologySpec
from simulator.workload.spec import WorkloadSpec

TOPOLOGY = {
    "name": "pure",
    "islands": 4,
    "gpus_per_island": 2,
    "gpu": {"hbm_bandwidth": "100 PB/s"},
    "scale_up": {"bandwidth": "1 TB/s"},
    "scale_out": {"nic_bandwidth": "1 GB/s"},
}
WORKLOAD = {
    "name": "load",
    "batch_per_rank": 100,
    "tables": [
        {"name": "items", "rows": 8000, "dim": 16, "length": 20, "popularity": {"kind": "zipf", "s": 0.8}}
    ],
}


def point(topology=None, workload=None, policy="row_wise", engine="bound", tolerance=None) -> Point:
    return Point(
        values={},
        policy=PolicyEntry.parse(policy),
        topology=TopologySpec.model_validate({**TOPOLOGY, **(topology or {})}),
        workload=WorkloadSpec.model_validate({**WORKLOAD, **(workload or {})}),
        folder=Path(),
        inputs={},
        execution=Execution(),
        engine=engine,
        tolerance=tolerance,
        iterations=1,
        seed=0,
    )


def found(own: Point, step: float = 0.1) -> Elasticities:
    return elasticities([own], step=step)[0]


def values(own: Point, step: float = 0.1) -> dict[str, float]:
    return {each.knob: each.value for each in found(own, step).of}


class TestBandwidths:
    @pytest.mark.parametrize("step", [0.01, 0.1, 1.0])
    def test_of_a_run_bound_by_nics(self, step):
        of = values(point(), step)
        assert of["NIC bandwidth"] == pytest.approx(-1, abs=1e-6)
        assert of["scale-up bandwidth"] == pytest.approx(0, abs=1e-6)
        assert of["HBM bandwidth"] == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize("tolerance", [None, 0.01])
    def test_of_the_fluid_engine_too(self, tolerance):
        of = values(point(engine="fluid", tolerance=tolerance))
        assert of["NIC bandwidth"] == pytest.approx(-1, abs=0.02)
        assert of["scale-up bandwidth"] == pytest.approx(0, abs=0.02)

    def test_of_one_island_there_is_no_nic(self):
        of = values(point({"islands": 1, "gpus_per_island": 8, "scale_out": None}))
        assert of["scale-up bandwidth"] == pytest.approx(-1, abs=1e-5)  # the rest waits for HBM
        assert not {"NIC bandwidth", "scale-out latency", "island size"} & set(of)

    def test_of_a_run_bound_by_a_pair_cap(self):
        up = {"bandwidth": "1 TB/s", "pair_cap": "10 MB/s"}
        of = values(point({"islands": 1, "gpus_per_island": 8, "scale_up": up, "scale_out": None}))
        assert of["scale-up pair cap"] == pytest.approx(-1, abs=1e-6)
        assert of["scale-up bandwidth"] == pytest.approx(0, abs=1e-6)

    def test_of_a_run_bound_by_the_uplinks_of_leaves(self):
        fabric = {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": "50:1"}
        of = values(point({"scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric}}))
        assert of["fabric bandwidth"] == pytest.approx(-1, abs=1e-6)
        assert of["NIC bandwidth"] == pytest.approx(0, abs=1e-6)  # uplinks do not grow with it

    def test_of_a_run_bound_by_the_links_of_a_torus(self):
        fabric = {"kind": "torus", "dims": [2, 2], "link_bandwidth": "10 MB/s"}
        of = values(point({"scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric}}))
        assert of["fabric bandwidth"] == pytest.approx(-1, abs=1e-6)
        assert of["NIC bandwidth"] == pytest.approx(0, abs=1e-6)
        assert "island size" not in of

    def test_of_a_run_bound_by_an_uplink_with_a_rate_of_its_own(self):
        fabric = {"kind": "leaf_spine", "islands_per_leaf": 2}
        slow = [{"target": "leaf/1", "bandwidth": "10 MB/s"}, {"target": "nic/0", "bandwidth": "2 GB/s"}]
        of = values(point({"scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric}, "overrides": slow}))
        assert of["fabric bandwidth"] == pytest.approx(-1, abs=1e-6)
        assert of["NIC bandwidth"] == pytest.approx(0, abs=1e-6)

    def test_of_a_run_bound_by_nics_below_leaves_with_room(self):
        fabric = {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": 0.5}
        of = values(point({"scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric}}))
        assert of["NIC bandwidth"] == pytest.approx(-1, abs=1e-6)
        assert of["fabric bandwidth"] == pytest.approx(0, abs=1e-6)

    def test_an_override_turns_with_its_like(self):
        slow = [{"target": "nic/3", "bandwidth": "1 MB/s"}, {"target": "scale_up/0", "bandwidth": "2 TB/s"}]
        of = values(point({"overrides": slow}))
        assert of["NIC bandwidth"] == pytest.approx(-1, abs=1e-6)


class TestDurations:
    def test_latency_alone(self):
        fast = {"nic_bandwidth": "1 PB/s", "latency": "1 ms"}
        up = {"bandwidth": "100 PB/s", "latency": "1 us"}
        of = values(point({"scale_out": fast, "scale_up": up}))
        assert of["scale-out latency"] == pytest.approx(1, abs=1e-3)
        assert of["scale-up latency"] == pytest.approx(0, abs=1e-3)
        assert of["NIC bandwidth"] == pytest.approx(0, abs=1e-3)

    def test_start_up_alone(self):
        fast = {"nic_bandwidth": "1 PB/s", "startup": {"alpha": "1 ms"}}
        of = values(point({"scale_out": fast, "scale_up": {"bandwidth": "100 PB/s"}}))
        assert of["start-up times"] == pytest.approx(1, abs=1e-6)

    def test_message_gaps_alone(self):
        fast = {"nic_bandwidth": "1 PB/s", "message_gap": "1 ms"}
        of = values(point({"scale_out": fast, "scale_up": {"bandwidth": "100 PB/s"}}))
        assert of["message gaps"] == pytest.approx(1, abs=1e-3)

    def test_halves_add_up_to_one(self):
        """T = bytes / bandwidth + latency: the elasticities are the shares of both."""
        of = values(point({"scale_out": {"nic_bandwidth": "1 GB/s", "latency": "100 us"}}), step=0.001)
        assert of["scale-out latency"] - of["NIC bandwidth"] == pytest.approx(1, abs=1e-3)
        assert 0.2 < of["scale-out latency"] < 0.8


class TestWorkload:
    def test_bytes_follow_the_batch(self):
        assert values(point(), step=1.0)["batch a rank"] == pytest.approx(1, abs=0.03)

    def test_a_batch_turns_by_whole_samples(self):
        (own,) = [
            each for each in found(point(workload={"batch_per_rank": 7})).of if each.knob == "batch a rank"
        ]
        assert own.factor == pytest.approx(8 / 7)

    def test_a_batch_of_one_cannot_turn_a_little(self):
        assert "batch a rank" not in values(point(workload={"batch_per_rank": 1}))

    def test_skew_makes_a_row_wise_plan_slower(self):
        assert values(point())["skew (Zipf's s)"] > 0.05

    def test_without_a_zipf_table_there_is_no_skew(self):
        table = {**WORKLOAD["tables"][0], "popularity": {"kind": "uniform"}}
        assert "skew (Zipf's s)" not in values(point(workload={"tables": [table]}))

    def test_memory_has_an_effect_only_on_policies_that_have_a_rule(self):
        assert "memory budget" not in values(point())
        of = values(point(policy={"name": "flexshard", "memory": "hbm"}))
        assert of["memory budget"] == pytest.approx(0, abs=1e-9)  # there is more than it needs

    def test_memory_helps_where_it_is_scarce(self):
        table = {**WORKLOAD["tables"][0], "popularity": {"kind": "zipf", "s": 1.2}, "touched": 0.9}
        of = values(point(workload={"tables": [table]}, policy="flexshard"), step=0.5)
        assert of["memory budget"] < -0.01


class TestIslandSize:
    def test_twice_the_size_of_islands_of_equal_ranks(self):
        (own,) = [each for each in found(point()).of if each.knob == "island size"]
        assert own.factor == 2
        kept, before = 1 - 3 / 7, 1 - 1 / 7  # of a rank's remote bytes, those that stay inside its island
        assert own.changed_s / own.base_s == pytest.approx(kept / before, rel=0.1)

    @pytest.mark.parametrize("changes", [{"islands": 3}, {"islands": [2, 2], "gpus_per_island": None}])
    def test_islands_that_cannot_be_joined(self, changes):
        assert "island size" not in values(point(changes))


def test_a_run_without_communication_has_no_elasticities(tmp_path):
    one = {"islands": 1, "gpus_per_island": 1, "scale_up": None, "scale_out": None}
    assert all(each.value is None for each in found(point(one)).of)


def test_a_knob_that_cannot_be_turned_so_far_is_told():
    near = point({"scale_out": {"nic_bandwidth": "950 GB/s"}})
    of = found(near)
    assert "NIC bandwidth" not in {each.knob for each in of.of}
    assert [name for name, _ in of.refused] == ["NIC bandwidth"]
    assert "faster than the scale-up port" in of.refused[0][1]


def test_a_knob_that_breaks_the_point_is_told():
    full = point({"gpu": {"hbm_capacity": "66 kB"}}, policy={"name": "row_wise"})
    of = found(full, step=1.0)
    assert all(math.isfinite(each.value) for each in of.of)
    names = {name for name, _ in of.refused} | {each.knob for each in of.of}
    assert names <= {knob.name for knob in KNOBS}
