"""Routes of ordered pairs, computed a chunk of pairs at a time so that temporaries stay small.

Theory of operation. Inside an island a flow passes the source's scale-up egress and the destination's ingress.
Between islands the fabric writes its path. The latency is that of the tier, and whatever the fabric adds. The
pair cap is that of the tier; a path that takes scale-up ports on its way between islands is under both caps.
A message keeps a port busy for the tier's message gap besides its bytes: it counts as the bytes that the
tightest port of its route (links are wider than a message) could have moved meanwhile.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.topology.fabrics.fabric import Fabric, Ports
from simulator.topology.topology import Routes

_CHUNK_PAIRS = 1 << 16


@dataclass(frozen=True)
class TierFigures:
    """What one tier does to a flow besides its ports' rates."""

    latency_s: float = 0.0
    cap_bytes_per_s: float = np.inf
    message_gap_s: float = 0.0


@dataclass(frozen=True, eq=False)
class PairRouter:
    """Routes pairs over scale-up ports and a fabric."""

    island_of: IndexArray
    ports: Ports
    fabric: Fabric
    inside: TierFigures
    between: TierFigures
    port_bytes_per_s: FloatArray  # [resources] effective capacity; inf for the fabric's links

    def routes(self, sources: IndexArray, destinations: IndexArray) -> Routes:
        """See `Topology.routes`. Memory: 4 bytes a hop and 24 bytes a pair, and a chunk's temporaries."""
        pairs = len(sources)
        result = Routes(
            resources=np.full((pairs, max(2, self.fabric.most_hops)), -1, np.int32),
            cap_bytes_per_s=np.empty(pairs),
            latency_s=np.empty(pairs),
            overhead_bytes=np.empty(pairs),
        )
        for start in range(0, pairs, _CHUNK_PAIRS):
            chunk = slice(start, start + _CHUNK_PAIRS)
            part = Routes(
                result.resources[chunk],
                result.cap_bytes_per_s[chunk],
                result.latency_s[chunk],
                result.overhead_bytes[chunk],
            )
            self._write(sources[chunk], destinations[chunk], part)
        return result

    def _write(self, sources: IndexArray, destinations: IndexArray, routes: Routes) -> None:
        """Route a chunk as if all of it went between islands, then write over what stays inside one."""
        self._write_between(sources, destinations, routes)
        rows = np.flatnonzero(self.island_of[sources] == self.island_of[destinations])
        if len(rows):
            self._write_inside(sources[rows], destinations[rows], rows, routes)

    def _write_between(self, sources: IndexArray, destinations: IndexArray, routes: Routes) -> None:
        hops = routes.resources
        routes.cap_bytes_per_s[:] = self.between.cap_bytes_per_s
        routes.latency_s[:] = self.between.latency_s
        if not len(self.ports.nic_egress):  # one island, nothing to leave it by
            return
        routes.latency_s[:] += self.fabric.fill(self.ports, sources, destinations, hops)
        if np.isfinite(self.inside.cap_bytes_per_s) and self.fabric.uses_scale_up:
            over_scale_up = ((hops >= 0) & (hops < 2 * len(self.ports.scale_up_egress))).any(axis=1)
            routes.cap_bytes_per_s[over_scale_up] = min(
                self.inside.cap_bytes_per_s, self.between.cap_bytes_per_s
            )
        routes.overhead_bytes[:] = self._overhead(self.between, hops)

    def _write_inside(
        self, sources: IndexArray, destinations: IndexArray, rows: IntArray, routes: Routes
    ) -> None:
        hops = np.full((len(rows), routes.resources.shape[1]), -1, np.int32)
        hops[:, 0] = self.ports.scale_up_egress[sources]
        hops[:, 1] = self.ports.scale_up_ingress[destinations]
        routes.resources[rows] = hops
        routes.cap_bytes_per_s[rows] = self.inside.cap_bytes_per_s
        routes.latency_s[rows] = self.inside.latency_s
        routes.overhead_bytes[rows] = self._overhead(self.inside, hops)

    def _overhead(self, tier: TierFigures, hops: IndexArray) -> FloatArray | float:
        """The message gap as bytes of the port of least capacity on each path."""
        if tier.message_gap_s == 0:
            return 0.0
        tightest = np.full(len(hops), np.inf)
        for hop in hops.T:  # a few long columns: numpy is slow at many short rows
            np.minimum(tightest, np.where(hop >= 0, self.port_bytes_per_s[hop], np.inf), out=tightest)
        return tier.message_gap_s * tightest
