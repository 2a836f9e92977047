from itertools import product

import numpy as np
import pytest

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def topology(dims: list[int], gpus: int = 1, **fabric: object) -> Topology:
    return build_topology(
        TopologySpec.model_validate(
            {
                "name": "t",
                "islands": int(np.prod(dims)),
                "gpus_per_island": gpus,
                "scale_up": {"bandwidth": "100 GB/s"},
                "scale_out": {
                    "nic_bandwidth": "10 GB/s",
                    "latency": "2 us",
                    "fabric": {"kind": "torus", "dims": dims, "link_bandwidth": "5 GB/s", **fabric},
                },
            }
        )
    )


def path(made: Topology, source: int, destination: int) -> list[str]:
    return [
        made.resources.names[hop] for hop in made.routes([source], [destination]).resources[0] if hop >= 0
    ]


def test_links_are_numbered_by_island_axis_and_way() -> None:
    names = [name for name in topology([3, 2]).resources.names if name.startswith("torus")]
    assert names[:4] == ["torus/0/+x", "torus/0/-x", "torus/0/+y", "torus/0/-y"]
    assert len(names) == 6 * 4
    assert names[-1] == "torus/5/-y"


def test_a_dimension_of_one_has_no_links() -> None:
    names = [name for name in topology([1, 3, 1]).resources.names if name.startswith("torus")]
    assert names == [f"torus/{island}/{way}y" for island in range(3) for way in "+-"]


def test_the_shorter_way_round() -> None:
    made = topology([5])
    assert path(made, 0, 2) == ["nic/0/egress", "torus/0/+x", "torus/1/+x", "nic/2/ingress"]
    assert path(made, 0, 3) == ["nic/0/egress", "torus/0/-x", "torus/4/-x", "nic/3/ingress"]
    assert path(made, 4, 0) == ["nic/4/egress", "torus/4/+x", "nic/0/ingress"]


def test_x_before_y_before_z() -> None:
    made = topology([3, 3, 3])
    assert path(made, 0, 1 + 3 + 9) == [
        "nic/0/egress",
        "torus/0/+x",
        "torus/1/+y",
        "torus/4/+z",
        "nic/13/ingress",
    ]
    assert path(made, 0, 2 + 2 * 3) == ["nic/0/egress", "torus/0/-x", "torus/2/-y", "nic/8/ingress"]


def test_both_links_of_a_dimension_of_two_are_used() -> None:
    made = topology([2], gpus=2)
    ways = {(path(made, source, destination)[1]) for source, destination in product((0, 1), (2, 3))}
    assert ways == {"torus/0/+x", "torus/0/-x"}


def test_a_tie_goes_either_way_but_never_both() -> None:
    made = topology([4, 4])
    ways = [path(made, source, (source + 2) % 4 + source // 4 * 4) for source in range(16)]
    assert all(len(way) == 4 for way in ways)
    assert {way[1][-2:] for way in ways} == {"+x", "-x"}
    assert all(way[1][-2:] == way[2][-2:] for way in ways)


def test_every_path_goes_from_neighbour_to_neighbour() -> None:
    dims = [4, 3, 2]
    made = topology(dims)
    strides = [1, 4, 12]
    for source, destination in product(range(24), repeat=2):
        if source == destination:
            continue
        first, *links, last = path(made, source, destination)
        assert (first, last) == (f"nic/{source}/egress", f"nic/{destination}/ingress")
        place = source
        for link in links:
            _, island, way = link.split("/")
            assert int(island) == place
            axis = "xyz".index(way[1])
            here = place // strides[axis] % dims[axis]
            there = (here + (1 if way[0] == "+" else -1)) % dims[axis]
            place += (there - here) * strides[axis]
        assert place == destination


def test_paths_are_as_short_as_they_can_be() -> None:
    dims = (4, 3, 2)
    made = topology(list(dims))
    sources, destinations = np.divmod(np.arange(24 * 24), 24)
    keep = sources != destinations
    hops = (made.routes(sources[keep], destinations[keep]).resources >= 0).sum(axis=1) - 2
    strides = np.array([1, 4, 12])
    apart = np.abs(
        sources[keep][:, None] // strides % np.array(dims)
        - destinations[keep][:, None] // strides % np.array(dims)
    )
    assert hops.tolist() == np.minimum(apart, np.array(dims) - apart).sum(axis=1).tolist()


def test_each_hop_adds_its_latency() -> None:
    made = topology([5], hop_latency="0.5 us")
    assert made.routes([0, 0, 0], [1, 2, 4]).latency_s.tolist() == pytest.approx([2.5e-6, 3e-6, 2.5e-6])


def test_ranks_of_one_island_stay_inside() -> None:
    assert path(topology([2], gpus=2), 0, 1) == ["scale_up/0/egress", "scale_up/1/ingress"]


def test_links_have_one_rate_and_can_be_overridden() -> None:
    made = topology([3])
    rates = made.with_(overrides=[{"target": "torus/1", "factor": 0.5}]).resources
    slow = [name for name, rate in zip(rates.names, rates.capacity_bytes_per_s, strict=True) if rate == 2.5e9]
    assert slow == ["torus/1/+x", "torus/1/-x"]


def test_unequal_islands() -> None:
    made = build_topology(
        TopologySpec.model_validate(
            {
                "name": "t",
                "islands": [2, 1, 3],
                "scale_up": {"bandwidth": "100 GB/s"},
                "scale_out": {
                    "nic_bandwidth": "10 GB/s",
                    "fabric": {"kind": "torus", "dims": [3], "link_bandwidth": "5 GB/s"},
                },
            }
        )
    )
    assert path(made, 1, 5) == ["nic/1/egress", "torus/0/-x", "nic/5/ingress"]
    assert made.inter_island_bytes_per_s.min() > 0
