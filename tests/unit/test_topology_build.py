import numpy as np
import pytest

from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import ResourceKind, Startup, Topology


def topology(**keys: object) -> Topology:
    spec = {
        "name": "t",
        "islands": 2,
        "gpus_per_island": 2,
        "scale_up": {"bandwidth": "100 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
    }
    return build_topology(TopologySpec.model_validate(spec | keys))


def capacity(made: Topology, name: str) -> float:
    return float(made.resources.capacity_bytes_per_s[made.resources.names.index(name)])


def path(made: Topology, source: int, destination: int) -> list[str]:
    routes = made.routes([source], [destination])
    return [made.resources.names[hop] for hop in routes.resources[0] if hop >= 0]


def test_resources_are_named_and_told_apart() -> None:
    resources = topology(islands=2, gpus_per_island=1).resources
    assert resources.names == (
        "scale_up/0/egress",
        "scale_up/1/egress",
        "scale_up/0/ingress",
        "scale_up/1/ingress",
        "nic/0/egress",
        "nic/1/egress",
        "nic/0/ingress",
        "nic/1/ingress",
    )
    assert resources.kind.tolist() == [ResourceKind.SCALE_UP] * 4 + [ResourceKind.NIC] * 4
    assert resources.capacity_bytes_per_s.tolist() == [100e9] * 4 + [10e9] * 4
    assert resources.kind.dtype == np.int32


def test_what_a_topology_holds() -> None:
    made = topology(
        source="here",
        gpu={"hbm_capacity": "40 GB", "hbm_bandwidth": "1.5 TB/s"},
        scale_up={"bandwidth": "100 GB/s", "startup": {"alpha": "8 us", "gamma": "0.0045 us"}},
        scale_out={"nic_bandwidth": "10 GB/s", "startup": {"alpha": "20 us"}},
    )
    assert (made.name, made.source, made.world_size, made.island_count) == ("t", "here", 4, 2)
    assert made.island_sizes == (2, 2)
    assert made.islands == ((0, 1), (2, 3))
    assert made.hbm_capacity_bytes == 40 * 10**9
    assert made.hbm_bandwidth_bytes_per_s == 1.5e12
    assert made.scale_up_startup == Startup(8e-6, 4.5e-9)
    assert made.scale_out_startup == Startup(20e-6, 0.0)
    assert made.late_s.tolist() == [0] * 4
    assert made.compute_factor.tolist() == [1] * 4
    assert made.capacity_changes == ()


def test_startup_grows_with_the_root_of_the_bytes() -> None:
    assert Startup(8e-6, 4.5e-9).after_s(1e6) == pytest.approx(12.5e-6)
    assert Startup().after_s(1e12) == 0


def test_paths_within_and_between_islands() -> None:
    made = topology()
    assert path(made, 0, 1) == ["scale_up/0/egress", "scale_up/1/ingress"]
    assert path(made, 1, 2) == ["nic/1/egress", "nic/2/ingress"]


def test_routes_follow_the_order_of_the_pairs() -> None:
    made = topology()
    sources, destinations = [3, 0, 1], [0, 1, 3]
    together = made.routes(sources, destinations)
    for row, pair in enumerate(zip(sources, destinations, strict=True)):
        alone = made.routes([pair[0]], [pair[1]])
        assert alone.resources[0].tolist() == together.resources[row].tolist()


def test_no_pairs_have_no_routes() -> None:
    routes = topology().routes([], [])
    assert routes.resources.shape == (0, 2)
    assert len(routes.latency_s) == len(routes.cap_bytes_per_s) == len(routes.overhead_bytes) == 0


def test_efficiency_lowers_capacity_and_nothing_else() -> None:
    made = topology(
        scale_up={"bandwidth": "100 GB/s", "efficiency": 0.8, "pair_cap": "30 GB/s"},
        scale_out={"nic_bandwidth": "10 GB/s", "efficiency": 0.5},
    )
    assert capacity(made, "scale_up/3/ingress") == 80e9
    assert capacity(made, "nic/3/egress") == 5e9
    assert made.routes([0], [1]).cap_bytes_per_s.tolist() == [30e9]
    assert made.scale_up_bytes_per_s.tolist() == [80e9] * 4
    assert made.inter_island_bytes_per_s.tolist() == [5e9] * 4


def test_latencies_caps_and_gaps_are_those_of_the_tier() -> None:
    made = topology(
        scale_up={"bandwidth": "100 GB/s", "latency": "1 us", "pair_cap": "60 GB/s", "message_gap": "1 ns"},
        scale_out={
            "nic_bandwidth": "10 GB/s",
            "latency": "2 us",
            "pair_cap": "6 GB/s",
            "message_gap": "1 us",
        },
    )
    routes = made.routes([0, 0], [1, 2])
    assert routes.latency_s.tolist() == [1e-6, 2e-6]
    assert routes.cap_bytes_per_s.tolist() == [60e9, 6e9]
    assert routes.overhead_bytes.tolist() == pytest.approx([100.0, 10_000.0])


def test_without_caps_and_gaps() -> None:
    routes = topology().routes([0, 0], [1, 2])
    assert routes.cap_bytes_per_s.tolist() == [np.inf, np.inf]
    assert routes.overhead_bytes.tolist() == [0, 0]
    assert routes.latency_s.tolist() == [0, 0]


def test_a_gap_counts_at_the_tightest_port_of_the_route() -> None:
    made = topology(
        scale_out={"nic_bandwidth": "10 GB/s", "message_gap": "1 us"},
        overrides=[{"target": "nic/2/ingress", "bandwidth": "4 GB/s"}],
    )
    assert made.routes([0, 0, 2], [2, 3, 0]).overhead_bytes.tolist() == pytest.approx([4e3, 10e3, 10e3])


def test_nics_shared_and_bonded() -> None:
    shared = topology(scale_out={"nics_per_island": 1, "nic_bandwidth": "10 GB/s"})
    assert path(shared, 1, 3) == ["nic/0/egress", "nic/1/ingress"]
    assert shared.inter_island_bytes_per_s.tolist() == [5e9] * 4
    bonded = topology(scale_out={"nics_per_island": 4, "nic_bandwidth": "10 GB/s"})
    assert path(bonded, 1, 3) == ["nic/2+3/egress", "nic/6+7/ingress"]
    assert capacity(bonded, "nic/2+3/egress") == 20e9
    assert bonded.inter_island_bytes_per_s.tolist() == [20e9] * 4


def test_unequally_shared_nics() -> None:
    made = topology(gpus_per_island=3, scale_out={"nics_per_island": 2, "nic_bandwidth": "10 GB/s"})
    assert made.inter_island_bytes_per_s.tolist() == [5e9, 5e9, 10e9] * 2


def test_overrides_come_before_efficiency_and_act_in_order() -> None:
    made = topology(
        scale_out={"nic_bandwidth": "10 GB/s", "efficiency": 0.5},
        overrides=[
            {"target": "nic/1", "bandwidth": "8 GB/s"},
            {"target": "nic/1/egress", "factor": 0.5},
            {"target": "scale_up/0", "factor": 2},
        ],
    )
    assert capacity(made, "nic/0/egress") == 5e9
    assert capacity(made, "nic/1/ingress") == 4e9
    assert capacity(made, "nic/1/egress") == 2e9
    assert capacity(made, "scale_up/0/egress") == 200e9
    assert made.inter_island_bytes_per_s.tolist() == [5e9, 2e9, 5e9, 5e9]
    assert made.scale_up_bytes_per_s.tolist() == [200e9, 100e9, 100e9, 100e9]


def test_an_override_of_one_bonded_nic() -> None:
    made = topology(
        scale_out={"nics_per_island": 4, "nic_bandwidth": "10 GB/s"},
        overrides=[{"target": "nic/3", "bandwidth": "1 GB/s"}],
    )
    assert capacity(made, "nic/2+3/egress") == 11e9
    assert capacity(made, "nic/0+1/egress") == 20e9


def test_an_idle_nic_can_be_named() -> None:
    made = topology(
        scale_out={"nics_per_island": 3, "gpu_to_nic": [0, 2], "nic_bandwidth": "10 GB/s"},
        overrides=[{"target": "nic/1", "bandwidth": "1 GB/s"}],
        perturb=[{"target": "nic/1", "from": "1 s", "factor": 0.5}],
    )
    assert not any("/1/" in name for name in made.resources.names if name.startswith("nic"))
    assert made.inter_island_bytes_per_s.tolist() == [10e9] * 4
    assert made.capacity_changes == ()


def test_islands_of_one_gpu_need_no_scale_up() -> None:
    made = topology(islands=3, gpus_per_island=1, scale_up=None)
    assert all(name.startswith("nic/") for name in made.resources.names)
    assert path(made, 0, 2) == ["nic/0/egress", "nic/2/ingress"]
    assert made.scale_up_bytes_per_s.tolist() == [np.inf] * 3
    assert made.scale_up_startup == Startup()


def test_one_island_needs_no_scale_out() -> None:
    made = topology(islands=1, gpus_per_island=3, scale_out=None)
    assert path(made, 2, 0) == ["scale_up/2/egress", "scale_up/0/ingress"]
    assert made.inter_island_bytes_per_s.tolist() == [np.inf] * 3
    assert made.routes([0], [1]).overhead_bytes.tolist() == [0]
    assert made.scale_out_startup == Startup()


def test_one_gpu_alone() -> None:
    made = topology(islands=1, gpus_per_island=1, scale_up=None, scale_out=None)
    assert made.world_size == 1
    assert made.resources.names == ()
    assert made.routes([], []).resources.shape == (0, 2)


def test_the_uniform_topology_is_the_pure_model() -> None:
    made = uniform_topology(
        islands=3, gpus_per_island=4, scale_up_bytes_per_s=1 / 3, nic_bytes_per_s=0.1, nics_per_island=2
    )
    assert made.scale_up_bytes_per_s.tolist() == [1 / 3] * 12
    assert made.inter_island_bytes_per_s.tolist() == [0.05] * 12
    assert made.routes([0], [11]).latency_s.tolist() == [0]
    late = uniform_topology(
        islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9, latency_s=1e-6
    )
    assert late.routes([0, 0], [1, 2]).latency_s.tolist() == [1e-6, 1e-6]


def test_sixteen_thousand_ranks_build_and_route() -> None:
    made = uniform_topology(islands=2048, gpus_per_island=8, scale_up_bytes_per_s=3e11, nic_bytes_per_s=25e9)
    assert made.world_size == 16_384
    assert path(made, 0, 16_383) == ["nic/0/egress", "nic/16383/ingress"]


def test_many_pairs_are_routed_like_few() -> None:
    made = topology(
        islands=40, gpus_per_island=8, scale_out={"nic_bandwidth": "1 GB/s", "fabric": {"kind": "rail_only"}}
    )
    ranks = np.arange(320, dtype=np.int32)
    sources, destinations = np.repeat(ranks, 320), np.tile(ranks, 320)
    keep = sources != destinations
    many = made.routes(sources[keep], destinations[keep])  # more than one chunk
    picked = np.arange(0, keep.sum(), 997)
    few = made.routes(sources[keep][picked], destinations[keep][picked])
    assert np.array_equal(many.resources[picked], few.resources)
    assert np.array_equal(many.latency_s[picked], few.latency_s)
