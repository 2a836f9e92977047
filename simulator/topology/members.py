"""Who belongs where: the ranks of islands and hosts, and the NIC port that each rank uses.

A *NIC port* is what a rank injects into: one NIC, or all NICs of a GPU that has several, bonded into one port
with their summed capacity. Ranks that share a NIC share its port. Ports, NICs, hosts and islands are numbered
through the whole cluster, island by island.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from simulator.arrays import IndexArray
from simulator.topology.spec import TopologySpec


@dataclass(frozen=True, eq=False)
class Members:
    """Membership of a cluster; arrays are [world_size]."""

    island_sizes: tuple[int, ...]
    island_of: IndexArray
    local_index: IndexArray
    host_of: IndexArray
    port_of: IndexArray
    port_nics: tuple[tuple[int, ...], ...]  # the NICs that each port bonds
    port_island: IndexArray  # [ports]
    port_rail: IndexArray  # [ports] alike where the local numbers of the port's NICs are alike
    nic_island: IndexArray  # [nics]

    @property
    def islands(self) -> tuple[tuple[int, ...], ...]:
        """The ranks of each island."""
        edges = np.concatenate(([0], np.cumsum(self.island_sizes))).tolist()
        return tuple(tuple(range(start, stop)) for start, stop in pairwise(edges))

    @property
    def nic_count(self) -> int:
        return len(self.nic_island)

    @property
    def world_size(self) -> int:
        return len(self.island_of)


def derived_gpu_to_nic(gpus: int, nics: int) -> tuple[tuple[int, ...], ...]:
    """For each GPU of an island its NICs: GPU g shares NIC g*nics//gpus, or owns all n with n*gpus//nics = g."""
    if nics <= gpus:
        return tuple((gpu * nics // gpus,) for gpu in range(gpus))
    owners = [nic * gpus // nics for nic in range(nics)]
    return tuple(tuple(nic for nic, owner in enumerate(owners) if owner == gpu) for gpu in range(gpus))


def island_gpu_to_nic(spec: TopologySpec, gpus: int, nics: int) -> tuple[tuple[int, ...], ...]:
    """The NICs, locally numbered, of each GPU of an island of `gpus` and `nics`."""
    if spec.scale_out is not None and spec.scale_out.gpu_to_nic is not None:
        return spec.scale_out.gpu_to_nic[:gpus]
    return derived_gpu_to_nic(gpus, nics)


def members_of(spec: TopologySpec) -> Members:
    """Membership as a checked spec describes it."""
    sizes = np.asarray(spec.island_sizes, np.int32)
    island_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    starts = np.cumsum(sizes, dtype=np.int32) - sizes
    local_index = np.arange(int(sizes.sum()), dtype=np.int32) - starts[island_of]
    port_of, port_nics, port_island, port_rail = _ports(spec)
    return Members(
        island_sizes=spec.island_sizes,
        island_of=island_of,
        local_index=local_index,
        host_of=_hosts(spec, island_of, local_index),
        port_of=np.asarray(port_of, np.int32),
        port_nics=tuple(port_nics),
        port_island=np.asarray(port_island, np.int32),
        port_rail=np.asarray(port_rail, np.int32),
        nic_island=_nic_islands(spec),
    )


def _ports(spec: TopologySpec) -> tuple[list[int], list[tuple[int, ...]], list[int], list[int]]:
    """The port of each rank; then the NICs, the island and the rail of each port."""
    port_of: list[int] = []
    port_nics: list[tuple[int, ...]] = []
    port_island: list[int] = []
    local_bonds: list[tuple[int, ...]] = []
    if spec.scale_out is None:
        return port_of, port_nics, port_island, []
    first_nic = 0
    for island, (gpus, nics) in enumerate(zip(spec.island_sizes, spec.nic_counts, strict=True)):
        gpu_nics = island_gpu_to_nic(spec, gpus, nics)
        ports = {bond: len(port_nics) + number for number, bond in enumerate(sorted(set(gpu_nics)))}
        port_of += [ports[bond] for bond in gpu_nics]
        port_nics += [tuple(first_nic + nic for nic in bond) for bond in ports]
        port_island += [island] * len(ports)
        local_bonds += ports
        first_nic += nics
    rails = {bond: rail for rail, bond in enumerate(sorted(set(local_bonds)))}
    return port_of, port_nics, port_island, [rails[bond] for bond in local_bonds]


def _nic_islands(spec: TopologySpec) -> IndexArray:
    counts = spec.nic_counts if spec.scale_out is not None else (0,) * len(spec.island_sizes)
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _hosts(spec: TopologySpec, island_of: IndexArray, local_index: IndexArray) -> IndexArray:
    """The host of each rank: the blocks of `gpus_per_host` ranks that an island is cut into, or of whole islands."""
    if spec.gpus_per_host is None:
        return island_of
    if spec.gpus_per_host > max(spec.island_sizes):
        return np.arange(len(island_of), dtype=np.int32) // np.int32(spec.gpus_per_host)
    first_of_host = local_index % spec.gpus_per_host == 0
    return np.cumsum(first_of_host, dtype=np.int32) - np.int32(1)
