"""Practitioners' cases 4, 5 and 11, as far as a topology alone can tell: shapes, and whose bytes pass where."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.config.errors import ConfigError
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import ResourceKind, Topology


def topology(**keys: object) -> Topology:
    spec: dict[str, Any] = {
        "name": "t",
        "scale_up": {"bandwidth": "400 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
    }
    return build_topology(TopologySpec.model_validate(spec | keys))


def resource_bytes(made: Topology, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bytes through each resource when the matrix is sent directly."""
    sources, destinations = np.nonzero(matrix - np.diag(np.diag(matrix)))
    hops = made.routes(sources, destinations).resources
    total = np.zeros(len(made.resources.names), np.int64)
    for column in hops.T:
        used = column >= 0
        np.add.at(total, column[used], matrix[sources, destinations][used])
    return total


def bytes_by_kind(made: Topology, matrix: NDArray[np.int64], kind: ResourceKind) -> int:
    return int(resource_bytes(made, matrix)[made.resources.kind == kind].sum()) // 2  # egress and ingress


def bound_s(made: Topology, matrix: NDArray[np.int64], kind: ResourceKind) -> float:
    of_kind = made.resources.kind == kind
    return float((resource_bytes(made, matrix) / made.resources.capacity_bytes_per_s)[of_kind].max())


def even(world_size: int, size: int = 1000) -> NDArray[np.int64]:
    return np.full((world_size, world_size), size, np.int64)


# 4. Sizes.


def test_world_size_is_derived_and_checked() -> None:
    assert topology(islands=3, gpus_per_island=5).world_size == 15
    assert topology(islands=3, gpus_per_island=5, world_size=15).world_size == 15
    with pytest.raises(ConfigError, match="world_size: is 16, but 3 islands of 5 are 15 ranks"):
        topology(islands=3, gpus_per_island=5).with_(world_size=16)


def test_islands_of_unequal_size_are_real() -> None:
    made = topology(islands=[8, 4])
    matrix = even(12, 1)
    # Between islands: 8 x 4 pairs both ways. Within: 8 x 7 and 4 x 3.
    assert bytes_by_kind(made, matrix, ResourceKind.NIC) == 2 * 8 * 4
    assert bytes_by_kind(made, matrix, ResourceKind.SCALE_UP) == 8 * 7 + 4 * 3
    per_port = resource_bytes(made, matrix)[made.resources.kind == ResourceKind.NIC]
    assert per_port.tolist() == [4] * 8 + [8] * 4 + [4] * 8 + [8] * 4


@pytest.mark.parametrize("sizes", [[3], [5], [7], [12], [3, 5, 7], [1, 1, 1], [12, 1], [2, 3, 1, 1]])
def test_odd_sizes_work(sizes: list[int]) -> None:
    made = topology(islands=sizes)
    matrix = even(sum(sizes), 1)
    inside = sum(size * (size - 1) for size in sizes)
    assert bytes_by_kind(made, matrix, ResourceKind.SCALE_UP) == inside
    assert bytes_by_kind(made, matrix, ResourceKind.NIC) == sum(sizes) * (sum(sizes) - 1) - inside


# 5. One of something.


def test_one_gpu_sends_nothing() -> None:
    made = topology(islands=1, gpus_per_island=1)
    assert resource_bytes(made, even(1)).sum() == 0


def test_one_island_has_no_byte_on_a_nic() -> None:
    made = topology(islands=1, gpus_per_island=8)
    assert bytes_by_kind(made, even(8), ResourceKind.NIC) == 0
    assert bytes_by_kind(made, even(8), ResourceKind.SCALE_UP) == 56_000


# 11. NICs and rails.


@pytest.mark.parametrize("nics", [1, 2, 4, 8])
def test_fewer_nics_take_longer_in_exact_proportion(nics: int) -> None:
    made = topology(
        islands=2, gpus_per_island=8, scale_out={"nic_bandwidth": "10 GB/s", "nics_per_island": nics}
    )
    matrix = even(16)
    each_s = 8 * 1000 / 10e9  # every rank sends to eight others over a NIC of its own
    assert bound_s(made, matrix, ResourceKind.NIC) == pytest.approx(each_s * 8 / nics, rel=1e-15)
    assert made.inter_island_bytes_per_s.tolist() == [10e9 * nics / 8] * 16


def test_more_nics_than_gpus_make_one_wide_port() -> None:
    narrow = uniform_topology(islands=2, gpus_per_island=4, scale_up_bytes_per_s=4e11, nic_bytes_per_s=1e10)
    wide = narrow.with_(nics_per_island=8)
    matrix = even(8)
    assert bound_s(wide, matrix, ResourceKind.NIC) == bound_s(narrow, matrix, ResourceKind.NIC) / 2


def test_cross_rail_bytes_pass_the_source_islands_scale_up() -> None:
    free = topology(islands=2, gpus_per_island=4)
    rails = topology(
        islands=2, gpus_per_island=4, scale_out={"nic_bandwidth": "10 GB/s", "fabric": {"kind": "rail_only"}}
    )
    matrix = np.random.default_rng(3).integers(1, 1000, (8, 8))
    island, rail = np.arange(8) // 4, np.arange(8) % 4
    crosses = (island[:, None] != island) & (rail[:, None] != rail)
    added = bytes_by_kind(rails, matrix, ResourceKind.SCALE_UP) - bytes_by_kind(
        free, matrix, ResourceKind.SCALE_UP
    )
    assert added == matrix[crosses].sum()
    assert bytes_by_kind(rails, matrix, ResourceKind.NIC) == bytes_by_kind(free, matrix, ResourceKind.NIC)


def test_a_rail_only_fabric_cannot_go_direct() -> None:
    made = topology(islands=2, gpus_per_island=4)
    with pytest.raises(
        ConfigError, match="cross_rail: found 'direct': a rail-only fabric has no path from rail to rail"
    ):
        made.with_(fabric={"kind": "rail_only", "cross_rail": "direct"})
    assert made.with_(fabric={"kind": "rail_only", "cross_rail": "scale_up"}).world_size == 8
