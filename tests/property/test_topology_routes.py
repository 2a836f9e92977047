"""Any topology that the schema allows: its routes are well formed and are those of a plain, scalar router."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import ResourceKind, Topology

counts = st.integers(1, 5)


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """Small clusters of every kind: equal and unequal islands, NICs shared, bonded, mapped by hand."""
    dims = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    sizes = draw(st.lists(counts, min_size=int(np.prod(dims)), max_size=int(np.prod(dims))))
    if draw(st.booleans()):
        sizes = [sizes[0]] * len(sizes)
    fabric = draw(
        st.sampled_from(
            [
                {"kind": "non_blocking"},
                {"kind": "rail_only"},
                {
                    "kind": "leaf_spine",
                    "islands_per_leaf": max(1, len(sizes) // 3),
                    "oversubscription": "3:1",
                },
                {"kind": "torus", "dims": dims, "link_bandwidth": "4 GB/s", "hop_latency": "1 us"},
            ]
        )
    )
    scale_out: dict[str, Any] = {"nic_bandwidth": "10 GB/s", "latency": "5 us", "fabric": fabric}
    if len(set(sizes)) == 1 and draw(st.booleans()):
        scale_out["nics_per_island"] = draw(st.integers(1, 6))
    elif draw(st.booleans()):
        scale_out["gpu_to_nic"] = draw(st.lists(st.integers(0, 3), min_size=max(sizes), max_size=max(sizes)))
    return {
        "name": "t",
        "islands": sizes,
        "scale_up": {"bandwidth": "100 GB/s", "latency": "3 us", "message_gap": "1 us"},
        "scale_out": scale_out,
    }


def all_pairs(made: Topology) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    sources, destinations = np.divmod(np.arange(made.world_size**2), made.world_size)
    keep = sources != destinations
    return sources[keep], destinations[keep]


@settings(deadline=None)
@given(specs())
def test_routes_are_well_formed(spec: dict[str, Any]) -> None:
    made = build_topology(TopologySpec.model_validate(spec))
    sources, destinations = all_pairs(made)
    routes = made.routes(sources, destinations)
    hops, names, kinds = routes.resources, made.resources.names, made.resources.kind
    assert hops.dtype == np.int32
    assert hops.shape[0] == len(sources)
    for row, (source, destination) in enumerate(zip(sources, destinations, strict=True)):
        path = hops[row][hops[row] >= 0].tolist()
        length = len(path)
        assert length >= 2
        assert (hops[row][length:] == -1).all()
        assert len(set(path)) == length
        assert max(path) < len(names)
        inside = made.island_of[source] == made.island_of[destination]
        first, last = names[path[0]], names[path[-1]]
        assert first.split("/")[2] == "egress"
        assert last.split("/")[2] == "ingress"
        assert starts_at(made, first, source)
        assert starts_at(made, last, destination)
        nics = [kinds[hop] == ResourceKind.NIC for hop in path]
        assert sum(nics) == (0 if inside else 2)
    assert (routes.latency_s > 0).all()
    assert (routes.overhead_bytes >= 0).all()


def starts_at(made: Topology, name: str, rank: int) -> bool:
    """Whether a port is the rank's own: its scale-up port, or the NICs that its island's map gives it."""
    kind, numbers, _ = name.split("/")
    if kind == "scale_up":
        return int(numbers) == rank
    return [int(number) for number in numbers.split("+")] == nics_of(made, rank)


def nics_of(made: Topology, rank: int) -> list[int]:
    spec = made.spec
    assert spec.scale_out is not None
    island, local = made.island_of[rank], int(made.local_index[rank])
    gpus, nics = made.island_sizes[island], spec.nic_counts[island]
    first = sum(spec.nic_counts[:island])
    if spec.scale_out.gpu_to_nic is not None:
        return [first + nic for nic in spec.scale_out.gpu_to_nic[local]]
    if nics <= gpus:
        return [first + local * nics // gpus]
    return [first + nic for nic in range(nics) if nic * gpus // nics == local]


@settings(deadline=None)
@given(specs())
def test_routes_are_those_of_a_scalar_router(spec: dict[str, Any]) -> None:
    made = build_topology(TopologySpec.model_validate(spec))
    sources, destinations = all_pairs(made)
    routes = made.routes(sources, destinations)
    for row, (source, destination) in enumerate(zip(sources.tolist(), destinations.tolist(), strict=True)):
        path = [made.resources.names[hop] for hop in routes.resources[row] if hop >= 0]
        if made.island_of[source] == made.island_of[destination]:
            expected, latency_s = [f"scale_up/{source}/egress", f"scale_up/{destination}/ingress"], 3e-6
        else:
            expected, latency_s = between(made, source, destination)
        assert path == expected
        assert abs(routes.latency_s[row] - latency_s) < 1e-15


def nic(made: Topology, rank: int, way: str) -> str:
    return f"nic/{'+'.join(map(str, nics_of(made, rank)))}/{way}"


def between(made: Topology, source: int, destination: int) -> tuple[list[str], float]:
    assert made.spec.scale_out is not None
    fabric = made.spec.scale_out.fabric
    ends = nic(made, source, "egress"), nic(made, destination, "ingress")
    if fabric.kind == "leaf_spine":
        up, down = (int(made.island_of[rank]) // fabric.islands_per_leaf for rank in (source, destination))
        links = [f"leaf/{up}/up", f"leaf/{down}/down"] if up != down else []
        return [ends[0], *links, ends[1]], 5e-6
    if fabric.kind == "torus":
        links = torus_links(made, source, destination, fabric.dims)
        return [ends[0], *links, ends[1]], 5e-6 + 1e-6 * len(links)
    if fabric.kind == "rail_only":
        return rails(made, source, destination)
    return [*ends], 5e-6


def rails(made: Topology, source: int, destination: int) -> tuple[list[str], float]:
    def rail(rank: int) -> list[int]:
        first = sum(made.spec.nic_counts[: made.island_of[rank]])
        return [number - first for number in nics_of(made, rank)]

    def mate(island: int, of: int) -> int | None:
        on_rail = [rank for rank in made.islands[island] if rail(rank) == rail(of)]
        twins = [rank for rank in on_rail if made.local_index[rank] == made.local_index[of]]
        return (twins or on_rail or [None])[0]

    if rail(source) == rail(destination):
        return [nic(made, source, "egress"), nic(made, destination, "ingress")], 5e-6
    near = mate(made.island_of[source], destination)
    if near is not None:
        over = [f"scale_up/{source}/egress", f"scale_up/{near}/ingress"]
        return [*over, nic(made, near, "egress"), nic(made, destination, "ingress")], 8e-6
    far = mate(made.island_of[destination], source)
    over = [f"scale_up/{far}/egress", f"scale_up/{destination}/ingress"]
    assert far is not None
    return [nic(made, source, "egress"), nic(made, far, "ingress"), *over], 8e-6


def torus_links(made: Topology, source: int, destination: int, dims: tuple[int, ...]) -> list[str]:
    def place(rank: int) -> list[int]:
        island, coordinates = int(made.island_of[rank]), []
        for size in dims:
            coordinates.append(island % size)
            island //= size
        return coordinates

    here, there = place(source), place(destination)
    parity = sum(here) + sum(there) + int(made.local_index[source]) + int(made.local_index[destination])
    links = []
    for axis, size in enumerate(dims):
        ahead = (there[axis] - here[axis]) % size
        back = 2 * ahead > size or (2 * ahead == size and (parity - there[axis]) % 2 == 1)
        for _ in range(size - ahead if back else ahead):
            island = sum(at * int(np.prod(dims[:number])) for number, at in enumerate(here))
            links.append(f"torus/{island}/{'-' if back else '+'}{'xyz'[axis]}")
            here[axis] = (here[axis] + (-1 if back else 1)) % size
    return links


@settings(deadline=None)
@given(specs())
def test_resources_and_rates_are_positive_and_complete(spec: dict[str, Any]) -> None:
    made = build_topology(TopologySpec.model_validate(spec))
    resources = made.resources
    assert len(resources.names) == len(set(resources.names)) == len(resources.kind)
    assert (resources.capacity_bytes_per_s > 0).all()
    assert sum(made.island_sizes) == made.world_size == len(made.inter_island_bytes_per_s)
    assert np.isfinite(made.inter_island_bytes_per_s).all()
    assert (made.inter_island_bytes_per_s > 0).all()
    assert [rank for island in made.islands for rank in island] == list(range(made.world_size))


@settings(deadline=None)
@given(specs())
def test_a_dumped_spec_is_the_same_spec(spec: dict[str, Any]) -> None:
    checked = TopologySpec.model_validate(spec)
    assert (
        TopologySpec.model_validate(checked.model_dump(mode="json", by_alias=True, exclude_none=True))
        == checked
    )
