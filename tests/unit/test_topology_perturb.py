import pytest

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import CapacityChange, Topology


def topology(perturb: list[dict[str, object]], **keys: object) -> Topology:
    spec = {
        "name": "t",
        "islands": 2,
        "gpus_per_island": 2,
        "scale_up": {"bandwidth": "100 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
        "perturb": perturb,
    }
    return build_topology(TopologySpec.model_validate(spec | keys))


def changes(made: Topology) -> list[tuple[float, str, float]]:
    return [
        (change.time_s, made.resources.names[change.resource], change.factor)
        for change in made.capacity_changes
    ]


def test_late_and_slow_ranks() -> None:
    made = topology(
        [
            {"kind": "late", "target": "rank/3", "by": "5 ms"},
            {"kind": "late", "target": "rank/3", "by": "1 ms"},
            {"kind": "slow", "target": "rank/1", "factor": 0.5},
            {"kind": "slow", "target": "rank/1", "factor": 0.5},
        ]
    )
    assert made.late_s.tolist() == [0, 0, 0, 0.006]
    assert made.compute_factor.tolist() == [1, 0.25, 1, 1]
    assert made.capacity_changes == ()


def test_a_link_for_a_time() -> None:
    made = topology([{"target": "nic/1", "from": "1 ms", "until": "3 ms", "factor": 0.5}])
    assert changes(made) == [
        (0.001, "nic/1/egress", 0.5),
        (0.001, "nic/1/ingress", 0.5),
        (0.003, "nic/1/egress", 1.0),
        (0.003, "nic/1/ingress", 1.0),
    ]


def test_one_direction_and_for_good() -> None:
    made = topology([{"kind": "link", "target": "scale_up/2/egress", "from": "1 ms", "factor": 0.25}])
    assert changes(made) == [(0.001, "scale_up/2/egress", 0.25)]


def test_a_failure_for_good_stays_a_change() -> None:
    made = topology([{"target": "nic/0/egress", "factor": 0}])
    assert changes(made) == [(0.0, "nic/0/egress", 0.0)]
    assert made.resources.capacity_bytes_per_s.min() == 10e9


def test_from_the_start_and_for_good_it_is_an_override() -> None:
    perturbed = topology([{"target": "nic/3", "from": "0 s", "factor": 0.5}])
    overridden = topology([], overrides=[{"target": "nic/3", "bandwidth": "5 GB/s"}])
    assert perturbed.capacity_changes == ()
    assert (
        perturbed.resources.capacity_bytes_per_s.tolist()
        == overridden.resources.capacity_bytes_per_s.tolist()
    )
    assert perturbed.inter_island_bytes_per_s.tolist() == [10e9, 10e9, 10e9, 5e9]


def test_overlapping_spells_multiply() -> None:
    made = topology(
        [
            {"target": "nic/0/egress", "from": "1 ms", "until": "4 ms", "factor": 0.5},
            {"target": "nic/0", "from": "2 ms", "until": "3 ms", "factor": 0.5},
        ]
    )
    assert changes(made) == [
        (0.001, "nic/0/egress", 0.5),
        (0.002, "nic/0/egress", 0.25),
        (0.002, "nic/0/ingress", 0.5),
        (0.003, "nic/0/egress", 0.5),
        (0.003, "nic/0/ingress", 1.0),
        (0.004, "nic/0/egress", 1.0),
    ]


def test_spells_that_meet_change_nothing_between() -> None:
    made = topology(
        [
            {"target": "nic/0/egress", "from": "1 ms", "until": "2 ms", "factor": 0.5},
            {"target": "nic/0/egress", "from": "2 ms", "until": "3 ms", "factor": 0.5},
        ]
    )
    assert changes(made) == [(0.001, "nic/0/egress", 0.5), (0.003, "nic/0/egress", 1.0)]


def test_a_factor_of_one_is_no_change() -> None:
    assert topology([{"target": "nic/0", "from": "1 ms", "factor": 1}]).capacity_changes == ()


def test_one_nic_of_a_bond() -> None:
    made = topology(
        [{"target": "nic/1/egress", "from": "1 ms", "until": "2 ms", "factor": 0}],
        scale_out={"nic_bandwidth": "10 GB/s", "nics_per_island": 4},
        overrides=[{"target": "nic/1/egress", "bandwidth": "30 GB/s"}],
    )
    assert changes(made) == [(0.001, "nic/0+1/egress", 0.25), (0.002, "nic/0+1/egress", 1.0)]


def test_fabric_links() -> None:
    leaves = topology(
        [{"target": "leaf/1/up", "from": "1 s", "factor": 0.5}],
        scale_out={"nic_bandwidth": "10 GB/s", "fabric": {"kind": "leaf_spine"}},
    )
    assert changes(leaves) == [(1.0, "leaf/1/up", 0.5)]
    torus = topology(
        [{"target": "torus/1", "from": "1 s", "factor": 0.5}],
        scale_out={
            "nic_bandwidth": "10 GB/s",
            "fabric": {"kind": "torus", "dims": [2], "link_bandwidth": "1 GB/s"},
        },
    )
    assert changes(torus) == [(1.0, "torus/1/+x", 0.5), (1.0, "torus/1/-x", 0.5)]


def test_changes_are_plain_values() -> None:
    (change,) = topology([{"target": "nic/0/egress", "from": "1 ms", "factor": 0.5}]).capacity_changes
    assert change == CapacityChange(time_s=0.001, resource=8, factor=0.5)


@pytest.mark.parametrize("name", ["nic/0", "nic/0/egress"])
def test_the_same_target_twice_is_both(name: str) -> None:
    made = topology([{"target": name, "factor": 0.5}, {"target": name, "factor": 0.5}])
    assert made.resources.capacity_bytes_per_s[8] == 2.5e9
