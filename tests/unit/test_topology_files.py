"""The shipped topologies: each loads, says where its figures come from, and is what its name says."""

from pathlib import Path

import numpy as np
import pytest

from simulator.topology.load import load_topology
from simulator.topology.topology import Topology

FOLDER = Path(__file__).parents[2] / "topologies"
FILES = sorted(FOLDER.glob("*.yaml"))


def loaded(name: str) -> Topology:
    return load_topology(FOLDER / f"{name}.yaml")


def test_all_kinds_of_cluster_are_there() -> None:
    assert {file.stem for file in FILES} >= {
        "zionex_16x8",
        "dgx_a100_16x8",
        "dgx_h100_16x8",
        "h100_pod_64x8_7to1",
        "gb200_nvl72_2x72",
        "b200_16x8",
        "pcie_box",
        "tpu_v3_torus",
        "uneven",
        "teaching_2x2",
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_loads_and_names_its_source(file: Path) -> None:
    topology = load_topology(file)
    assert topology.name == file.stem
    assert len(topology.source) > 20
    assert file.read_text().startswith("# ")
    assert topology.world_size == sum(topology.island_sizes)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_routes_all_pairs(file: Path) -> None:
    topology = load_topology(file)
    ranks = np.arange(topology.world_size)
    sources, destinations = np.repeat(ranks, len(ranks)), np.tile(ranks, len(ranks))
    keep = sources != destinations
    routes = topology.routes(sources[keep], destinations[keep])
    assert (routes.resources[:, :2] >= 0).all()
    assert routes.resources.max() < len(topology.resources.names)
    assert np.isfinite(routes.latency_s).all()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_is_unchanged_by_an_empty_edit(file: Path) -> None:
    topology = load_topology(file)
    assert topology.with_().spec == topology.spec


def rates(topology: Topology) -> tuple[float, float]:
    """Nominal rate of a scale-up port and of a NIC."""
    assert topology.spec.scale_up is not None
    assert topology.spec.scale_out is not None
    return topology.spec.scale_up.bandwidth, topology.spec.scale_out.nic_bandwidth


@pytest.mark.parametrize(
    ("name", "scale_up", "nic", "capacity"),
    [
        ("zionex_16x8", 300e9, 25e9, 40e9),
        ("dgx_a100_16x8", 300e9, 25e9, 80e9),
        ("dgx_h100_16x8", 450e9, 50e9, 80e9),
        ("b200_16x8", 900e9, 50e9, 180e9),
    ],
)
def test_sixteen_nodes_of_eight(name: str, scale_up: float, nic: float, capacity: float) -> None:
    topology = loaded(name)
    assert topology.island_sizes == (8,) * 16
    assert rates(topology) == (scale_up, nic)
    assert topology.hbm_capacity_bytes == capacity
    assert topology.scale_up_bytes_per_s.max() < scale_up
    assert topology.inter_island_bytes_per_s.max() < nic


def test_a_pair_is_slower_than_a_port() -> None:
    for name in ("zionex_16x8", "dgx_a100_16x8", "dgx_h100_16x8", "b200_16x8"):
        topology = loaded(name)
        within, between = topology.routes([0, 0], [1, 8]).cap_bytes_per_s
        assert within < topology.scale_up_bytes_per_s[0]
        assert between == np.inf


def test_the_oversubscribed_pod_has_a_seventh_between_leaves() -> None:
    topology = loaded("h100_pod_64x8_7to1")
    assert topology.island_count == 64
    capacity = topology.resources.capacity_bytes_per_s
    nic, uplink = (capacity[topology.resources.names.index(name)] for name in ("nic/0/egress", "leaf/3/up"))
    assert uplink == pytest.approx(16 * 8 * nic / 7)


def test_an_nvl72_island_spans_eighteen_hosts() -> None:
    topology = loaded("gb200_nvl72_2x72")
    assert topology.island_sizes == (72, 72)
    assert len(set(topology.host_of.tolist())) == 36
    assert len(set(topology.host_of[:72].tolist())) == 18


def test_b200_goes_faster_to_seven_peers_than_to_one() -> None:
    topology = loaded("b200_16x8")
    assert topology.scale_up_bytes_per_s[0] > 500e9
    assert topology.routes([0], [1]).cap_bytes_per_s.tolist() == [331e9]


def test_the_pcie_box_shares_a_nic_among_four() -> None:
    topology = loaded("pcie_box")
    nic = topology.resources.capacity_bytes_per_s[topology.resources.names.index("nic/0/egress")]
    assert topology.inter_island_bytes_per_s.tolist() == [nic / 4] * 32


def test_the_torus_gives_a_rank_half_of_what_its_chip_has() -> None:
    topology = loaded("tpu_v3_torus")
    assert topology.world_size == 128
    assert sum(name.startswith("torus") for name in topology.resources.names) == 64 * 4
    # 2 hops on average along each axis of 8, over two links of 82 GB/s, shared by two ranks.
    assert topology.inter_island_bytes_per_s.tolist() == pytest.approx([82e9 * 63 / 64 / 2] * 128)


def test_the_uneven_one_is_uneven() -> None:
    topology = loaded("uneven")
    assert topology.island_sizes == (8, 8, 4)
    assert topology.islands[2] == (16, 17, 18, 19)
    names = [topology.resources.names[hop] for hop in topology.routes([7], [16]).resources[0]]
    assert names == ["scale_up/7/egress", "scale_up/0/ingress", "nic/0/egress", "nic/16/ingress"]
    back = [topology.resources.names[hop] for hop in topology.routes([16], [7]).resources[0]]
    assert back == ["nic/16/egress", "nic/0/ingress", "scale_up/0/egress", "scale_up/7/ingress"]


def test_the_teaching_one_is_pure() -> None:
    topology = loaded("teaching_2x2")
    routes = topology.routes([0, 0], [1, 2])
    assert routes.latency_s.tolist() == [0, 0]
    assert routes.overhead_bytes.tolist() == [0, 0]
    assert topology.scale_up_startup.alpha_s == topology.scale_out_startup.alpha_s == 0
    assert set(topology.resources.capacity_bytes_per_s.tolist()) == {100e9, 10e9}
