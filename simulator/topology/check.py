"""Whether the figures of a topology make sense together: what no single key can tell.

Sizes are looked at first, before anything of that size is made; targets last, once there is something to name.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np

from simulator.config.errors import Finding
from simulator.config.types import LEAST_BYTES_PER_S, LEAST_FACTOR, MOST_BYTES_PER_S, MOST_FACTOR
from simulator.topology.fabrics.build import build_fabric
from simulator.topology.members import island_gpu_to_nic, members_of
from simulator.topology.parts import Targets, part_names, parts_of
from simulator.topology.spec import (
    LeafSpineSpec,
    LinkSpec,
    OverrideSpec,
    RailOnlySpec,
    ScaleOutSpec,
    TopologySpec,
    TorusSpec,
)
from simulator.units import format_bandwidth, format_bytes, format_duration

MOST_RANKS = 16_384
MOST_NICS = 4 * MOST_RANKS
_MATRIX_ENTRY_BYTES = 8


def findings(spec: TopologySpec) -> list[Finding]:
    """All that is wrong, or as much as can be told."""
    for check in (_sizes, _shape, _nics, _fabric, _targets, _rates):
        if found := list(check(spec)):
            return found
    return []


def _sizes(spec: TopologySpec) -> Iterator[Finding]:
    islands, gpus = spec.islands, spec.gpus_per_island
    if isinstance(islands, tuple) and gpus is not None:
        yield Finding(("gpus_per_island",), "stands beside a list of island sizes: leave one of the two out")
    if isinstance(islands, int) and gpus is None:
        yield Finding(
            ("gpus_per_island",), "is missing: ranks of an island, needed unless islands is a list of sizes"
        )
        return
    ranks = sum(islands) if isinstance(islands, tuple) else islands * (gpus or 0)
    if ranks > MOST_RANKS:
        yield Finding(
            ("islands",),
            f"{ranks:,} ranks are too many, allowed: {MOST_RANKS:,}; one matrix of bytes between all pairs would take "
            f"{format_bytes(ranks**2 * _MATRIX_ENTRY_BYTES)} of memory",
        )
    if spec.world_size is not None and spec.world_size != ranks:
        made = (
            f"{islands} islands of {gpus}" if isinstance(islands, int) else f"islands of {_listed(islands)}"
        )
        yield Finding(("world_size",), f"is {spec.world_size}, but {made} are {ranks} ranks")


def _shape(spec: TopologySpec) -> Iterator[Finding]:
    sizes = spec.island_sizes
    if spec.scale_up is None and max(sizes) > 1:
        yield Finding(("scale_up",), f"is missing, but an island has {max(sizes)} ranks that it must join")
    if spec.scale_out is None and len(sizes) > 1:
        yield Finding(("scale_out",), f"is missing, but it must join {len(sizes)} islands")
    yield from _hosts(spec)


def _hosts(spec: TopologySpec) -> Iterator[Finding]:
    """A host may be partly filled by a smaller island, but none is torn: not an island over uneven hosts, not a
    host over parts of islands."""
    host, sizes = spec.gpus_per_host, tuple(dict.fromkeys(spec.island_sizes))
    if host is None:
        return
    if host <= max(sizes) and (torn := [size for size in sizes if size > host and size % host]):
        yield Finding(("gpus_per_host",), f"hosts of {host} cannot make up an island of {torn[0]}")
    if host > max(sizes) and (len(sizes) > 1 or host % sizes[0]):
        yield Finding(
            ("gpus_per_host",), f"a host of {host} cannot be made up of whole islands of {_listed(sizes)}"
        )


def _nics(spec: TopologySpec) -> Iterator[Finding]:
    out = spec.scale_out
    if out is None:
        return
    path, nics = ("scale_out", "nics_per_island"), out.nics_per_island
    if isinstance(nics, tuple) and len(nics) != len(spec.island_sizes):
        yield Finding(path, f"has {len(nics)} entries for {len(spec.island_sizes)} islands")
        return
    count = sum(spec.nic_counts)
    if count > MOST_NICS:
        of_map = nics is None and out.gpu_to_nic is not None
        yield Finding(
            ("scale_out", "gpu_to_nic") if of_map else path,
            f"{count:,} NICs are too many, allowed: {MOST_NICS:,}",
        )
        return
    if (
        spec.scale_up is not None
        and max(spec.island_sizes) > 1
        and out.nic_bandwidth > spec.scale_up.bandwidth
    ):
        yield Finding(
            ("scale_out", "nic_bandwidth"),
            f"one NIC of {format_bandwidth(out.nic_bandwidth)} is faster than the scale-up port of a GPU, "
            f"{format_bandwidth(spec.scale_up.bandwidth)}: are bits and bytes swapped?",
        )
    yield from _gpu_to_nic(spec, out)


def _gpu_to_nic(spec: TopologySpec, out: ScaleOutSpec) -> Iterator[Finding]:
    path, entries, largest = ("scale_out", "gpu_to_nic"), out.gpu_to_nic, max(spec.island_sizes)
    if entries is None:
        return
    if len(entries) != largest:
        yield Finding(path, f"has {len(entries)} entries for {largest} GPUs of an island")
        return
    for nics, size in dict.fromkeys(zip(spec.nic_counts, spec.island_sizes, strict=True)):
        for gpu, entry in enumerate(entries[:size]):
            if max(entry) >= nics:
                yield Finding((*path, gpu), f"NIC {max(entry)} does not exist: allowed are 0 to {nics - 1}")
    if clash := _clash(entries):
        bonds = " and ".join(str(list(bond)) for bond in clash)
        yield Finding(path, f"the bonds {bonds} share a NIC: they must be equal or apart")


def _clash(bonds: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Two bonds that share some NIC and are not the same, if there are any."""
    owner: dict[int, tuple[int, ...]] = {}
    for bond in bonds:
        for nic in bond:
            if owner.setdefault(nic, bond) != bond:
                return owner[nic], bond
    return None


def _fabric(spec: TopologySpec) -> Iterator[Finding]:
    if spec.scale_out is None:
        return
    path, fabric, islands = ("scale_out", "fabric"), spec.scale_out.fabric, len(spec.island_sizes)
    if isinstance(fabric, TorusSpec) and prod(fabric.dims) != islands:
        product = " x ".join(map(str, fabric.dims))
        yield Finding(
            (*path, "dims"), f"{product} are {prod(fabric.dims):,} islands, but there are {islands:,}"
        )
    if isinstance(fabric, RailOnlySpec):
        shapes = dict.fromkeys(zip(spec.island_sizes, spec.nic_counts, strict=True))
        bonds = (bond for gpus, nics in shapes for bond in island_gpu_to_nic(spec, gpus, nics))
        if clash := _clash(bonds):
            one, other = (list(bond) for bond in clash)
            yield Finding(
                path, f"rails do not line up: a GPU port has NICs {one} in one island, {other} in another"
            )
    if isinstance(fabric, LeafSpineSpec) and fabric.islands_per_leaf > islands > 1:
        yield Finding(
            (*path, "islands_per_leaf"), f"{fabric.islands_per_leaf:,} are more than all islands, {islands:,}"
        )


def _targets(spec: TopologySpec) -> Iterator[Finding]:
    if not spec.overrides and not spec.perturb:
        return
    members = members_of(spec)
    targets = Targets(part_names(spec, members, build_fabric(spec, members).links), members.world_size)
    for number, override in enumerate(spec.overrides):
        yield from _override(override, number)
        yield from _fast_nic(spec, override, number)
        yield from _missing(("overrides", number, "target"), override.target, targets, of_rank=False)
    for number, entry in enumerate(spec.perturb):
        yield from _missing(
            ("perturb", number, "target"), entry.target, targets, of_rank=not isinstance(entry, LinkSpec)
        )
        if isinstance(entry, LinkSpec):
            yield from _link(entry, number)


def _link(entry: LinkSpec, number: int) -> Iterator[Finding]:
    if entry.until is not None and entry.until <= entry.from_:
        times = f"until {format_duration(entry.until)}, from {format_duration(entry.from_)}"
        yield Finding(("perturb", number, "until"), f"ends before it begins: {times}")
    if 0 < entry.factor < LEAST_FACTOR:
        yield Finding(
            ("perturb", number, "factor"),
            f"found {entry.factor:g}: must be 0, which is failed, or at least {LEAST_FACTOR:g}",
        )


def _rates(spec: TopologySpec) -> Iterator[Finding]:
    """Factors multiply, so that many of them may leave nothing, or more than there is."""
    if not spec.overrides and not spec.perturb:
        return
    members = members_of(spec)
    parts = parts_of(spec, members, build_fabric(spec, members).links)
    least, most = LEAST_BYTES_PER_S * LEAST_FACTOR, MOST_BYTES_PER_S * MOST_FACTOR
    for part in np.flatnonzero((parts.bytes_per_s < least) | (parts.bytes_per_s > most))[:1]:
        key = "overrides" if spec.overrides else "perturb"
        rate = f"{parts.bytes_per_s[part]:g} B/s"
        yield Finding((key,), f"leave {parts.names[part]} with {rate}, allowed: {least:g} to {most:g} B/s")


def _override(override: OverrideSpec, number: int) -> Iterator[Finding]:
    if (override.bandwidth is None) == (override.factor is None):
        yield Finding(("overrides", number), "needs bandwidth or factor, one of the two")


def _fast_nic(spec: TopologySpec, override: OverrideSpec, number: int) -> Iterator[Finding]:
    """An override may not make a NIC faster than the key for all of them may."""
    if spec.scale_out is None or spec.scale_up is None or not override.target.startswith("nic/"):
        return
    rate = override.bandwidth or spec.scale_out.nic_bandwidth * (override.factor or 1)
    if max(spec.island_sizes) > 1 and rate > spec.scale_up.bandwidth:
        yield Finding(
            ("overrides", number, "bandwidth" if override.bandwidth else "factor"),
            f"makes {override.target} a NIC of {format_bandwidth(rate)}, faster than the scale-up port of a GPU, "
            f"{format_bandwidth(spec.scale_up.bandwidth)}",
        )


def _missing(
    path: tuple[str | int, ...], target: str, targets: Targets, *, of_rank: bool
) -> Iterator[Finding]:
    try:
        _ = targets.rank(target) if of_rank else targets.parts(target)
    except ValueError as error:
        yield Finding(path, str(error))


def _listed(numbers: Sequence[int]) -> str:
    shown = [str(number) for number in numbers[:8]]
    return ", ".join(shown) + (", ..." if len(numbers) > len(shown) else "")
