"""Two layers of switches: islands hang on leaves, leaves hang on spines.

Theory of operation. The uplinks of a leaf are one link each way with their summed capacity, as if traffic spread
over them perfectly; the spines limit nothing. A flow between islands of one leaf passes the two NICs only.
Uplink capacity = NICs below x NIC bandwidth / oversubscription, counting NICs at their nominal rate: an override
of one NIC leaves the switches as they are.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.fabrics.fabric import Links, Ports
from simulator.topology.members import Members


@dataclass(frozen=True, eq=False)
class LeafSpine:
    """Links 2*leaf = up, 2*leaf + 1 = down."""

    leaf_of: IndexArray  # [world_size]
    island_of: IndexArray  # [world_size]
    links: Links
    most_hops: int = 4
    uses_scale_up: bool = False

    @classmethod
    def of(cls, members: Members, islands_per_leaf: int, uplink_bytes_per_s_per_nic: float) -> "LeafSpine":
        """Built from who sits where."""
        leaf_of_island = np.arange(len(members.island_sizes), dtype=np.int32) // np.int32(islands_per_leaf)
        nics_below = np.zeros(int(leaf_of_island[-1]) + 1)
        np.add.at(nics_below, leaf_of_island[members.nic_island], 1)
        names = tuple(f"leaf/{leaf}/{way}" for leaf in range(len(nics_below)) for way in ("up", "down"))
        rates = np.repeat(nics_below * uplink_bytes_per_s_per_nic, 2)
        return cls(leaf_of_island[members.island_of], members.island_of, Links(names, rates))

    def fill(
        self, ports: Ports, sources: IndexArray, destinations: IndexArray, hops: IndexArray
    ) -> FloatArray:
        """Write each route's resources into `hops` ([routes, hops]); returns [routes] seconds beyond NIC latency."""
        up, down = self.leaf_of[sources], self.leaf_of[destinations]
        crosses = up != down
        hops[:, 0] = ports.nic_egress[sources]
        hops[:, 1] = np.where(crosses, ports.fabric + 2 * up, ports.nic_ingress[destinations])
        hops[crosses, 2] = ports.fabric + 2 * down[crosses] + 1
        hops[crosses, 3] = ports.nic_ingress[destinations[crosses]]
        return np.zeros(len(sources))

    def share_bytes_per_s(self, link_bytes_per_s: FloatArray) -> FloatArray:
        """Uplink over the sum, of all ranks below the leaf, of the share of their bytes that leaves it."""
        below = np.bincount(self.leaf_of)[self.leaf_of]
        beside = np.bincount(self.island_of)[self.island_of]
        world_size = len(self.leaf_of)
        leaving = (world_size - below) / np.maximum(world_size - beside, 1)
        uplink = np.minimum(link_bytes_per_s[0::2], link_bytes_per_s[1::2])
        with np.errstate(divide="ignore"):
            return (uplink / np.bincount(self.leaf_of, weights=leaving))[self.leaf_of]
