"""Routes of ordered pairs, computed a chunk of pairs at a time so that temporaries stay small.

Theory of operation. Inside an island a flow passes the source's scale-up egress and the destination's ingress.
Between islands the fabric writes its path. The latency is that of the tier, and whatever the fabric adds. The
pair cap is that of the tier; a path that takes scale-up ports on its way between islands is under both caps.
A message keeps a port busy for the tier's message gap besides its bytes: it counts as the bytes that the
tightest port of its route (links are wider than a message) could have moved meanwhile.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IndexArray, IntArray
from simulator.topology.fabrics.fabric import Fabric, Ports
from simulator.topology.topology import Routes

_CHUNK_PAIRS = 1 << 18


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
            self._route_chunk(sources[chunk], destinations[chunk], result, chunk)
        return result

    def _route_chunk(
        self, sources: IndexArray, destinations: IndexArray, result: Routes, chunk: slice
    ) -> None:
        within: BoolArray = self.island_of[sources] == self.island_of[destinations]
        self._write_inside(sources, destinations, np.flatnonzero(within), result, chunk)
        self._write_between(sources, destinations, np.flatnonzero(~within), result, chunk)

    def _write_inside(
        self, sources: IndexArray, destinations: IndexArray, rows: IntArray, result: Routes, chunk: slice
    ) -> None:
        if not len(rows):
            return
        hops = result.resources[chunk]
        hops[rows, 0] = self.ports.scale_up_egress[sources[rows]]
        hops[rows, 1] = self.ports.scale_up_ingress[destinations[rows]]
        result.latency_s[chunk][rows] = self.inside.latency_s
        result.cap_bytes_per_s[chunk][rows] = self.inside.cap_bytes_per_s
        result.overhead_bytes[chunk][rows] = self.inside.message_gap_s * self._tightest(hops[rows, :2])

    def _write_between(
        self, sources: IndexArray, destinations: IndexArray, rows: IntArray, result: Routes, chunk: slice
    ) -> None:
        if not len(rows):
            return
        path = np.full((len(rows), result.resources.shape[1]), -1, np.int32)
        added_s = self.fabric.fill(self.ports, sources[rows], destinations[rows], path)
        result.resources[chunk][rows] = path
        result.latency_s[chunk][rows] = self.between.latency_s + added_s
        result.cap_bytes_per_s[chunk][rows] = self._cap_between(path)
        result.overhead_bytes[chunk][rows] = self.between.message_gap_s * self._tightest(path)

    def _cap_between(self, path: IndexArray) -> FloatArray:
        caps = np.full(len(path), self.between.cap_bytes_per_s)
        if np.isfinite(self.inside.cap_bytes_per_s):
            over_scale_up = ((path >= 0) & (path < 2 * len(self.ports.scale_up_egress))).any(axis=1)
            caps[over_scale_up] = np.minimum(caps[over_scale_up], self.inside.cap_bytes_per_s)
        return caps

    def _tightest(self, path: IndexArray) -> FloatArray:
        """The least capacity of the ports on each path."""
        tightest: FloatArray = np.where(path >= 0, self.port_bytes_per_s[path], np.inf).min(axis=1)
        return tightest
