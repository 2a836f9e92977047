"""`inter_island_bytes_per_s` against the loads of a uniform all-to-all, summed link by link over its routes."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import ResourceKind, Topology


def topology(
    islands: int, gpus: int, fabric: dict[str, Any], nics: int | None = None, **keys: object
) -> Topology:
    scale_out = {"nic_bandwidth": "10 GB/s", "fabric": fabric} | ({"nics_per_island": nics} if nics else {})
    spec = {"name": "t", "islands": islands, "gpus_per_island": gpus, "scale_up": {"bandwidth": "1 TB/s"}}
    return build_topology(TopologySpec.model_validate(spec | {"scale_out": scale_out} | keys))


def loads_bytes(made: Topology) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Bytes through each resource when every rank sends one byte to every rank of another island."""
    ranks = np.arange(made.world_size)
    sources, destinations = np.repeat(ranks, len(ranks)), np.tile(ranks, len(ranks))
    keep = made.island_of[sources] != made.island_of[destinations]
    hops = made.routes(sources[keep], destinations[keep]).resources
    return np.bincount(hops[hops >= 0], minlength=len(made.resources.names)).astype(np.float64)


def bound_s(made: Topology) -> float:
    crossing = made.resources.kind != ResourceKind.SCALE_UP
    return float((loads_bytes(made) / made.resources.capacity_bytes_per_s)[crossing].max())


LEAVES = [
    {"kind": "leaf_spine", "islands_per_leaf": per_leaf, "oversubscription": ratio}
    for per_leaf, ratio in product((1, 2, 4), ("1:1", "3:1", "7:1"))
]


@pytest.mark.parametrize("fabric", [{"kind": "non_blocking"}, {"kind": "rail_only"}, *LEAVES])
@pytest.mark.parametrize("nics", [1, 2, 4])
def test_the_share_is_what_a_uniform_all_to_all_reaches(fabric: dict[str, Any], nics: int) -> None:
    made = topology(8, 4, fabric, nics)
    expected_s = (made.world_size - 4) / made.inter_island_bytes_per_s
    assert expected_s.tolist() == pytest.approx([bound_s(made)] * 32, rel=1e-12)


@pytest.mark.parametrize(
    "dims", [[3], [4], [5], [8], [2, 2], [3, 3], [4, 4], [2, 4], [4, 3], [2, 2, 2], [3, 2, 4], [4, 1, 4]]
)
def test_the_share_on_a_torus(dims: list[int]) -> None:
    fabric = {"kind": "torus", "dims": dims, "link_bandwidth": "1 MB/s"}
    made = topology(int(np.prod(dims)), 2, fabric)
    expected_s = (made.world_size - 2) / made.inter_island_bytes_per_s
    assert expected_s.tolist() == pytest.approx([bound_s(made)] * made.world_size, rel=1e-12)


@pytest.mark.parametrize("dims", [[4], [6], [8], [4, 4], [6, 6], [2, 6], [2, 2, 2], [4, 4, 2], [6, 2, 3]])
def test_ties_load_the_links_of_a_dimension_alike(dims: list[int]) -> None:
    fabric = {"kind": "torus", "dims": dims, "link_bandwidth": "1 MB/s"}
    made = topology(int(np.prod(dims)), 2, fabric)
    names, loads = made.resources.names, loads_bytes(made)
    for axis in range(len(dims)):
        alike = {loads[number] for number, name in enumerate(names) if name.endswith("xyz"[axis])}
        assert len(alike) == 1


def test_uniform_loads_on_a_ring_by_hand() -> None:
    # Six islands of one rank: 1 + 2 + 3 + 2 + 1 = 9 hops from each, 54 in all, over 12 links: 4.5 a link.
    made = topology(6, 2, {"kind": "torus", "dims": [6], "link_bandwidth": "1 MB/s"})
    links = loads_bytes(made)[made.resources.kind == ResourceKind.FABRIC]
    assert links.tolist() == [4 * 4.5] * 12


def test_the_slowest_direction_limits() -> None:
    made = topology(2, 2, {"kind": "non_blocking"}, overrides=[{"target": "nic/1/ingress", "factor": 0.5}])
    assert made.inter_island_bytes_per_s.tolist() == [10e9, 5e9, 10e9, 10e9]
    leaves = topology(2, 2, {"kind": "leaf_spine"}, overrides=[{"target": "leaf/1/down", "factor": 0.5}])
    assert leaves.inter_island_bytes_per_s.tolist() == [10e9, 10e9, 5e9, 5e9]
