"""A cluster as the network sees it: resources with capacities, and a route for every ordered pair of ranks.

A *resource* is anything that bytes pass through at a limited rate: one direction of a GPU's scale-up port,
one direction of a NIC, a fabric link. Capacities are effective: bandwidth times efficiency, overrides applied.
A `Topology` is frozen; `with_` makes a changed copy. It knows no policy and owns no clock.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.spec import TopologySpec


class ResourceKind(IntEnum):
    """Where in the cluster a resource sits; byte counts are reported by this."""

    SCALE_UP = 0
    NIC = 1
    FABRIC = 2


@dataclass(frozen=True, eq=False)
class Resources:
    """Everything that bytes pass through. All arrays have one entry a resource."""

    names: tuple[str, ...]  # "scale_up/3/egress", "nic/3/ingress", "leaf/0/up", "torus/3/+x"
    kind: IndexArray  # [resources] ResourceKind
    capacity_bytes_per_s: FloatArray  # [resources]


@dataclass(frozen=True, eq=False)
class Routes:
    """How each of some ordered pairs travels. Rows follow the order of the pairs asked for."""

    resources: IndexArray  # [pairs, hops] resource indices, -1 pads the end
    cap_bytes_per_s: FloatArray  # [pairs] the pair cap; inf where there is none
    latency_s: FloatArray  # [pairs]
    overhead_bytes: FloatArray  # [pairs] the message gap, as the bytes its port could have moved meanwhile


@dataclass(frozen=True)
class Startup:
    """Start-up time of one collective: alpha + gamma * sqrt(bytes of the busiest rank)."""

    alpha_s: float = 0.0
    gamma_s_per_sqrt_byte: float = 0.0

    def after_s(self, busiest_rank_bytes: float) -> float:
        return self.alpha_s + self.gamma_s_per_sqrt_byte * float(np.sqrt(busiest_rank_bytes))


@dataclass(frozen=True)
class CapacityChange:
    """From `time_s` on, a resource runs at `factor` of its capacity (0 = failed, 1 = whole again)."""

    time_s: float
    resource: int
    factor: float


class Router(Protocol):
    """Finds the route of ordered pairs of different ranks."""

    def routes(self, sources: IndexArray, destinations: IndexArray) -> Routes: ...


@dataclass(frozen=True, eq=False)
class Topology:
    """One cluster. Arrays [world_size] have one entry a rank; ranks are numbered island by island."""

    name: str
    source: str
    spec: TopologySpec
    island_sizes: tuple[int, ...]
    islands: tuple[tuple[int, ...], ...]  # the ranks of each
    island_of: IndexArray  # [world_size]
    local_index: IndexArray  # [world_size] within the island
    host_of: IndexArray  # [world_size]
    resources: Resources
    router: Router
    hbm_capacity_bytes: int
    hbm_bandwidth_bytes_per_s: float
    host_bandwidth_bytes_per_s: float  # of one GPU to its host's memory
    scale_up_startup: Startup
    scale_out_startup: Startup  # of any collective that crosses islands
    scale_up_bytes_per_s: (
        FloatArray  # [world_size] one direction of a rank's port, effective; inf without one
    )
    inter_island_bytes_per_s: (
        FloatArray  # [world_size] when every rank sends alike to all other islands; inf with one
    )
    late_s: FloatArray  # [world_size] how late each rank starts
    compute_factor: FloatArray  # [world_size] durations of compute are divided by it; 1 normally
    capacity_changes: tuple[CapacityChange, ...]  # sorted by time

    @property
    def world_size(self) -> int:
        return len(self.island_of)

    @property
    def island_count(self) -> int:
        return len(self.island_sizes)

    def routes(self, sources: ArrayLike, destinations: ArrayLike) -> Routes:
        """Routes of the pairs (sources[k], destinations[k]), which must be ranks and differ."""
        return self.router.routes(np.asarray(sources, np.int32), np.asarray(destinations, np.int32))

    def with_(self, **changes: Any) -> "Topology":
        """A changed copy, for what-if studies: `with_(nic_bandwidth="400 Gbit/s", islands=32)`. Keys are those of
        the topology file, with their path where a name is ambiguous: `with_(**{"scale_up.latency": "2 us"})` or
        `with_(scale_up__latency="2 us")`. Raises ConfigError (a UserError) for what a file would be refused for."""
        from simulator.topology.build import build_topology
        from simulator.topology.edit import edited_spec

        return build_topology(edited_spec(self.spec, changes))
