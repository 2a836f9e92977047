"""A cluster as the network sees it: resources with capacities, and a route for every ordered pair of ranks.

A *resource* is anything that bytes pass through at a limited rate: one direction of a GPU's scale-up port,
one direction of a NIC, a fabric link. Capacities are effective: bandwidth times efficiency, overrides applied.
A `Topology` is frozen; `with_` makes a changed copy. It knows no policy and owns no clock.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from simulator.arrays import FloatArray, IndexArray


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
