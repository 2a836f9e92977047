"""A fabric that limits nothing: a flow between islands passes the two NICs and no more."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.fabrics.fabric import NO_LINKS, Links, Ports


@dataclass(frozen=True, eq=False)
class NonBlocking:
    """Full bisection bandwidth."""

    world_size: int
    links: Links = NO_LINKS
    most_hops: int = 2
    uses_scale_up: bool = False

    def fill(
        self, ports: Ports, sources: IndexArray, destinations: IndexArray, hops: IndexArray
    ) -> FloatArray:
        """Write each route's resources into `hops` ([routes, hops]); returns [routes] seconds beyond NIC latency."""
        hops[:, 0] = ports.nic_egress[sources]
        hops[:, 1] = ports.nic_ingress[destinations]
        return np.zeros(len(sources))

    def share_bytes_per_s(self, link_bytes_per_s: FloatArray) -> FloatArray:
        return np.full(self.world_size, np.inf)
