"""Rails that do not meet: a NIC reaches only the NICs of equal local index, its rail.

Theory of operation. A flow to another rail goes over scale-up first, to a rank of the source's island on the
destination's rail (its *rail-mate*, of the destination's local index if there is one), and leaves by the mate's
NIC. The mate forwards while it receives: the flow is one flow over all four ports. Where the source's island is
smaller and has no such rail, the source's own NIC is used, and the flow changes rails by scale-up in the
destination's island. Rails of islands are nested (a smaller island has the first ones), so one of both works.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.fabrics.fabric import NO_LINKS, Links, Ports
from simulator.topology.members import Members


@dataclass(frozen=True, eq=False)
class RailOnly:
    """The places of ranks on rails."""

    island_of: IndexArray  # [world_size]
    rail_of: IndexArray  # [world_size]
    local_index: IndexArray  # [world_size]
    first_on_rail: IndexArray  # [islands, rails] first rank of a rail, -1 where an island has no such rail
    island_start: IndexArray  # [islands]
    island_size: IndexArray  # [islands]
    scale_up_latency_s: float
    links: Links = NO_LINKS
    most_hops: int = 4
    uses_scale_up: bool = True

    @classmethod
    def of(cls, members: Members, scale_up_latency_s: float) -> "RailOnly":
        """Built from who sits where."""
        rail_of = members.port_rail[members.port_of]
        sizes = np.asarray(members.island_sizes, np.int32)
        first = np.full((len(sizes), int(rail_of.max()) + 1), -1, np.int32)
        for rank in range(members.world_size - 1, -1, -1):
            first[members.island_of[rank], rail_of[rank]] = rank
        starts = np.cumsum(sizes, dtype=np.int32) - sizes
        return cls(members.island_of, rail_of, members.local_index, first, starts, sizes, scale_up_latency_s)

    def fill(
        self, ports: Ports, sources: IndexArray, destinations: IndexArray, hops: IndexArray
    ) -> FloatArray:
        """Write each route's resources into `hops` ([routes, hops]); returns [routes] seconds beyond NIC latency."""
        near = self._mates(self.island_of[sources], destinations)
        far = self._mates(self.island_of[destinations], sources)
        straight = self.rail_of[sources] == self.rail_of[destinations]
        early = ~straight & (near >= 0)
        late = ~straight & (near < 0)
        for rows, path in (
            (straight, (ports.nic_egress[sources], ports.nic_ingress[destinations])),
            (early, self._early(ports, sources, near, destinations)),
            (late, self._late(ports, sources, far, destinations)),
        ):
            for hop, resources in enumerate(path):
                hops[rows, hop] = resources[rows]
        return np.where(straight, 0.0, self.scale_up_latency_s)

    def share_bytes_per_s(self, link_bytes_per_s: FloatArray) -> FloatArray:
        return np.full(len(self.island_of), np.inf)

    def _mates(self, islands: IndexArray, others: IndexArray) -> IndexArray:
        """For each of `others` a rank on its rail in another island, -1 where there is none."""
        rails, local = self.rail_of[others], self.local_index[others]
        twin = self.island_start[islands] + np.minimum(local, self.island_size[islands] - 1)
        same = (local < self.island_size[islands]) & (self.rail_of[twin] == rails)
        return np.where(same, twin, self.first_on_rail[islands, rails])

    @staticmethod
    def _early(
        ports: Ports, sources: IndexArray, mates: IndexArray, destinations: IndexArray
    ) -> list[IndexArray]:
        return [
            ports.scale_up_egress[sources],
            ports.scale_up_ingress[mates],
            ports.nic_egress[mates],
            ports.nic_ingress[destinations],
        ]

    @staticmethod
    def _late(
        ports: Ports, sources: IndexArray, mates: IndexArray, destinations: IndexArray
    ) -> list[IndexArray]:
        return [
            ports.nic_egress[sources],
            ports.nic_ingress[mates],
            ports.scale_up_egress[mates],
            ports.scale_up_ingress[destinations],
        ]
