"""A torus of islands: each has links to its neighbours, both ways in every dimension.

Theory of operation. Islands are numbered with x running fastest. A flow leaves by its NIC (the injection port),
goes along x, then y, then z, each the shorter way round, and enters by the destination's NIC. When both ways
round are equally long, the way alternates with the parity of the pair's other coordinates and local indices, so
that even traffic loads both ways alike. Along a dimension of 2 both links lead to the same neighbour and both
are used; along a dimension of 1 there are none. Links are shared fairly and a flow takes one path: there is no
adaptive routing and no blocking of buffers.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.fabrics.fabric import Links, Ports
from simulator.topology.members import Members
from simulator.topology.spec import TorusSpec

_AXES = "xyz"


@dataclass(frozen=True, eq=False)
class Torus:
    """Link (island, axis, way) is number (island * axes + axis) * 2 + way, way 0 = plus, over axes longer than 1."""

    dims: tuple[int, ...]
    axes: tuple[int, ...]  # the dimensions longer than 1
    coordinates: IndexArray  # [world_size, dims] of each rank's island
    local_index: IndexArray  # [world_size]
    island_sizes: tuple[int, ...]
    links: Links
    hop_latency_s: float
    uses_scale_up: bool = False

    @classmethod
    def of(cls, members: Members, spec: TorusSpec) -> "Torus":
        """Built from who sits where."""
        axes = tuple(axis for axis, size in enumerate(spec.dims) if size > 1)
        names = tuple(
            f"torus/{island}/{way}{_AXES[axis]}"
            for island in range(prod(spec.dims))
            for axis in axes
            for way in "+-"
        )
        strides = np.cumprod((1, *spec.dims[:-1]))
        coordinates = (members.island_of[:, None] // strides) % np.asarray(spec.dims)
        return cls(
            dims=spec.dims,
            axes=axes,
            coordinates=coordinates.astype(np.int32),
            local_index=members.local_index,
            island_sizes=members.island_sizes,
            links=Links(names, np.full(len(names), spec.link_bandwidth)),
            hop_latency_s=spec.hop_latency,
        )

    @property
    def most_hops(self) -> int:
        return 2 + sum(size // 2 for size in self.dims)

    def fill(
        self, ports: Ports, sources: IndexArray, destinations: IndexArray, hops: IndexArray
    ) -> FloatArray:
        """Write each route's resources into `hops` ([routes, hops]); returns [routes] seconds beyond NIC latency."""
        steps = self._steps(sources, destinations)
        place = self.coordinates[sources].copy()
        filled = np.ones(len(sources), np.int32)
        hops[:, 0] = ports.nic_egress[sources]
        for number, axis in enumerate(self.axes):
            distance, way = np.abs(steps[:, axis]), np.sign(steps[:, axis])
            for step in range(self.dims[axis] // 2):
                rows = np.flatnonzero(distance > step)
                link = (self._islands(place[rows]) * len(self.axes) + number) * 2 + (way[rows] < 0)
                hops[rows, filled[rows]] = ports.fabric + link
                filled[rows] += 1
                place[rows, axis] = (place[rows, axis] + way[rows]) % self.dims[axis]
        hops[np.arange(len(sources)), filled] = ports.nic_ingress[destinations]
        return np.multiply(filled - 1, self.hop_latency_s, dtype=np.float64)

    def share_bytes_per_s(self, link_bytes_per_s: FloatArray) -> FloatArray:
        """Mean hops along an axis of n are n/4 (n even) or (n^2 - 1)/(4n) (odd) over all pairs, own island included.
        A rank's rate times the ranks of an island times those hops, over two links, is a link's load. Islands of
        unequal size count with their mean."""
        ranks, islands = len(self.local_index), len(self.island_sizes)
        share = np.inf
        for number, axis in enumerate(self.axes):
            size = self.dims[axis]
            mean_hops = (size**2 - size % 2) / (4 * size) * islands / (islands - 1)
            link = link_bytes_per_s.reshape(islands, len(self.axes), 2)[:, number].min()
            share = min(share, 2 * link / (mean_hops * ranks / islands))
        return np.full(ranks, share)

    def _steps(self, sources: IndexArray, destinations: IndexArray) -> IndexArray:
        """Signed hops [pairs, dims] along each dimension."""
        start, stop = self.coordinates[sources], self.coordinates[destinations]
        size = np.asarray(self.dims, np.int32)
        forward = (stop - start) % size
        others = (
            start.sum(axis=1) + stop.sum(axis=1) + self.local_index[sources] + self.local_index[destinations]
        )
        tie_goes_back = (others[:, None] - stop) % 2 == 1
        back = (2 * forward > size) | ((2 * forward == size) & tie_goes_back)
        return np.where(back, forward - size, forward).astype(np.int32)

    def _islands(self, place: IndexArray) -> IndexArray:
        strides = np.cumprod((1, *self.dims[:-1])).astype(np.int32)
        islands: IndexArray = (place * strides).sum(axis=1, dtype=np.int32)
        return islands
