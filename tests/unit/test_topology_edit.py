import pytest

from simulator.config.errors import ConfigError
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


@pytest.fixture
def made() -> Topology:
    return build_topology(
        TopologySpec.model_validate(
            {
                "name": "t",
                "islands": 4,
                "gpus_per_island": 2,
                "world_size": 8,
                "gpu": {"hbm_capacity": "40 GB"},
                "scale_up": {"bandwidth": "300 GB/s", "startup": {"alpha": "8 us", "gamma": "0.0045 us"}},
                "scale_out": {
                    "nic_bandwidth": "200 Gbit/s",
                    "efficiency": 0.88,
                    "fabric": {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": "7:1"},
                },
                "overrides": [{"target": "nic/3", "bandwidth": "100 Gbit/s"}],
                "perturb": [{"target": "nic/2", "from": "1 ms", "factor": 0.5}],
            }
        )
    )


def test_no_change_is_the_same(made: Topology) -> None:
    again = made.with_()
    assert again is not made
    assert again.spec == made.spec
    assert again.resources.names == made.resources.names
    assert again.resources.capacity_bytes_per_s.tolist() == made.resources.capacity_bytes_per_s.tolist()
    assert again.capacity_changes == made.capacity_changes


@pytest.mark.parametrize("key", ["nic_bandwidth", "scale_out.nic_bandwidth", "scale_out__nic_bandwidth"])
def test_one_key_by_name_or_path(made: Topology, key: str) -> None:
    faster = made.with_(**{key: "400 Gbit/s"})
    assert faster.spec.scale_out is not None
    assert made.spec.scale_out is not None
    assert faster.spec.scale_out.nic_bandwidth == 50e9
    assert made.spec.scale_out.nic_bandwidth == 25e9
    assert faster.spec.scale_up == made.spec.scale_up


def test_several_keys(made: Topology) -> None:
    changed = made.with_(
        **{
            "islands": 6,
            "scale_up.latency": "3 us",
            "oversubscription": "2:1",
            "scale_up.startup.gamma": "0 s",
            "hbm_capacity": "80 GB",
            "name": "u",
        }
    )
    assert changed.name == "u"
    assert changed.world_size == 12
    assert changed.hbm_capacity_bytes == 80 * 10**9
    assert changed.scale_up_startup.gamma_s_per_sqrt_byte == 0
    assert changed.scale_up_startup.alpha_s == 8e-6
    assert changed.routes([0], [1]).latency_s.tolist() == [3e-6]


def test_a_whole_block(made: Topology) -> None:
    flat = made.with_(fabric={"kind": "non_blocking"})
    assert not any(name.startswith("leaf") for name in flat.resources.names)
    assert made.with_(perturb=[]).capacity_changes == ()


def test_sizes_change_without_the_old_world_size(made: Topology) -> None:
    assert made.with_(gpus_per_island=4).world_size == 16
    assert made.with_(islands=[2, 2, 2, 3]).island_sizes == (2, 2, 2, 3)
    assert made.with_(islands=2, world_size=4).world_size == 4
    uneven = made.with_(islands=[2, 2, 2, 3])
    assert uneven.with_(islands=4, gpus_per_island=2).island_sizes == (2, 2, 2, 2)


def test_a_missing_block_is_made(made: Topology) -> None:
    alone = build_topology(TopologySpec.model_validate({"name": "a", "islands": 1, "gpus_per_island": 1}))
    wide = alone.with_(**{"islands": 2, "scale_out.nic_bandwidth": "10 GB/s"})
    assert wide.inter_island_bytes_per_s.tolist() == [10e9, 10e9]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"latency": "1 us"},
            "the key 'latency' is ambiguous, allowed: scale_up.latency or scale_out.latency",
        ),
        (
            {"nic_bandwith": "1 GB/s"},
            "unknown key 'nic_bandwith', allowed: name, source, islands, gpus_per_island, gpus_per_host, world_size, "
            "gpu, scale_up, scale_out, overrides, perturb, did you mean scale_out.nic_bandwidth?",
        ),
        (
            {"scale_up.nope": 1},
            "unknown key 'scale_up.nope', allowed: bandwidth, latency, efficiency, pair_cap, startup, message_gap",
        ),
        ({"a.b.c": 1}, "unknown key 'a.b.c'"),
        ({"name.x": 1}, "unknown key 'name.x'"),
        ({"nic_bandwidth": 25}, "scale_out.nic_bandwidth: the bare number 25 has no unit: write '25 Gbit/s'"),
        ({"world_size": 9}, "world_size: is 9, but 4 islands of 2 are 8 ranks"),
        ({"islands": 1}, "overrides[0].target: 'nic/3' does not exist: allowed are nic/0 to nic/1"),
        (
            {"scale_out": "fast", "nic_bandwidth": "1 GB/s"},
            "scale_out.nic_bandwidth cannot be changed: scale_out holds",
        ),
        ({"scale_out": "fast"}, "scale_out: found 'fast', allowed: a mapping with the keys nics_per_island"),
    ],
)
def test_refusals(made: Topology, changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made.with_(**changes)
    assert expected in str(caught.value)


def test_all_problems_are_told_at_once(made: Topology) -> None:
    with pytest.raises(ConfigError) as caught:
        made.with_(nope=1, latency="1 us")
    assert len(caught.value.problems) == 2
