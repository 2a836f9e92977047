"""What every fabric can do, and the ports that its paths begin and end with."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simulator.arrays import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Ports:
    """Resource numbers of the ports that each rank uses; all [world_size], empty where there are no such ports."""

    scale_up_egress: IndexArray
    scale_up_ingress: IndexArray
    nic_egress: IndexArray
    nic_ingress: IndexArray
    fabric: int  # the number of the fabric's first link


@dataclass(frozen=True, eq=False)
class Links:
    """The links that a fabric owns, in the order of their resource numbers."""

    names: tuple[str, ...]
    bytes_per_s: FloatArray  # [links] nominal: before efficiency


NO_LINKS = Links((), np.empty(0))


class Fabric(Protocol):
    """Paths between islands. Built from a spec; knows no capacity but its links' nominal one."""

    @property
    def links(self) -> Links: ...

    @property
    def most_hops(self) -> int:
        """The most resources that a path passes."""

    @property
    def uses_scale_up(self) -> bool:
        """Whether a path may pass scale-up ports on its way between islands."""

    def fill(
        self, ports: Ports, sources: IndexArray, destinations: IndexArray, hops: IndexArray
    ) -> FloatArray:
        """Write the paths of pairs of ranks in different islands to `hops` [pairs, at least most_hops], which
        comes filled with -1. What is written for pairs of one island does not matter. Returns the latency [pairs]
        in seconds that a path has beyond the scale-out latency."""

    def share_bytes_per_s(self, link_bytes_per_s: FloatArray) -> FloatArray:
        """What the links leave each rank [world_size] when every rank sends alike to all ranks of other islands."""
