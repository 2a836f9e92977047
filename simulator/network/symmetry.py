"""Flows that are alike, gathered into classes: what a uniform all-to-all of 16,384 ranks comes down to.

Theory of operation. Colour the resources so that those of a colour have the same capacity and are crossed by the
same number of flows of each kind, a flow's kind being its bytes, cap, latency and gap and the colours that it
crosses. Starting from capacities alone, colours are refined until this holds. Then progressive filling treats all
resources of a colour and all flows of a kind alike at every instant, so one flow of each kind stands for all of
them, exactly. Nothing is assumed of the fabric and no flow is kept: rows of the matrix pass by, and what remains
are counts. Traffic that is not symmetric has many kinds, which is found out early.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, FloatArray, IndexArray, IntArray
from simulator.network.census import Counts, KeyArray, add_colours, count_kinds
from simulator.network.flows import Flows
from simulator.network.load import volume_bytes
from simulator.topology.topology import Routes, Topology

Rows = Callable[[int, int], Flows]  # the flows of the sources from the first number to before the second

_CHUNK_FLOWS = 1 << 16
_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)


@dataclass(frozen=True, eq=False)
class Kinds:
    """Flows of like kinds over resources of like colours; all that a simulation needs to know."""

    flows: IntArray  # [kinds] how many there are
    example: Flows  # [kinds] one of each
    routes: Routes  # [kinds] of the examples
    crossings: IntArray  # [kinds, colours] flows of a kind on each resource of a colour
    capacity_bytes_per_s: FloatArray  # [colours]
    resources: IndexArray  # [colours] one of each
    rank_has: BoolArray  # [world_size, kinds] whether a rank sends or receives flows of a kind

    @property
    def volume_bytes(self) -> FloatArray:
        """Of one flow of each kind, its message gap included."""
        return volume_bytes(self.routes, self.example.bytes)


def uniform_rows(topology: Topology, *, inside_bytes: int, between_bytes: int) -> Rows:
    """Every rank sends `inside_bytes` to each other of its island and `between_bytes` to each outside."""
    everyone = np.arange(topology.world_size, dtype=np.int32)

    def rows(start: int, stop: int) -> Flows:
        """The flows of the senders from `start` to `stop`."""
        sources = everyone[start:stop, None]
        others = everyone[:-1] + (everyone[:-1] >= sources)
        inside = topology.island_of[others] == topology.island_of[sources]
        sizes = np.where(inside, np.int64(inside_bytes), np.int64(between_bytes))
        flows = Flows(np.repeat(sources, others.shape[1]), others.ravel(), sizes.ravel())
        return flows if sizes.all() else _pick(flows, flows.bytes > 0)

    return rows


def find_kinds(topology: Topology, rows: Rows, *, most_kinds: int = 64) -> Kinds | None:
    """The kinds of the flows that `rows` gives, or None when there are more than `most_kinds`.

    A topology whose capacities change in time has no kinds that last: None.
    """
    if topology.capacity_changes:
        return None
    colours = _numbered(topology.resources.capacity_bytes_per_s[:, None])
    while True:
        census = _Census(topology, colours, most_kinds)
        if not census.take_all(rows):
            return None
        refined = _numbered(np.column_stack((colours, census.crossings)))
        if refined.max(initial=0) == colours.max(initial=0):
            return census.kinds()
        colours = refined


def _numbered(rows: NDArray[Any]) -> IndexArray:
    """Equal rows get equal numbers, from 0 without gaps."""
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.int32)


class _Census:
    """One pass over all flows under given colours."""

    def __init__(self, topology: Topology, colours: IndexArray, most_kinds: int) -> None:
        self._topology, self._colours = topology, colours
        rng = np.random.Generator(np.random.PCG64(0))
        self._weights = rng.integers(0, 2**64, int(colours.max(initial=0)) + 1, np.uint64)
        self._examples: list[Flows] = []
        self._found = 0
        self._counts = Counts(
            keys=np.zeros(most_kinds, np.uint64),
            flows=np.zeros(most_kinds, np.int64),
            crossings=np.zeros((len(colours), most_kinds), np.int64),
            rank_has=np.zeros((topology.world_size, most_kinds), np.bool_),
        )

    @property
    def crossings(self) -> IntArray:
        """[resources, kinds found]"""
        return self._counts.crossings[:, : self._found]

    def take_all(self, rows: Rows) -> bool:
        """Whether there are few enough kinds."""
        world_size = self._topology.world_size
        step = max(1, _CHUNK_FLOWS // world_size)
        return all(
            self._take(rows(start, min(start + step, world_size))) for start in range(0, world_size, step)
        )

    def _take(self, flows: Flows) -> bool:
        routes = self._topology.routes(flows.sources, flows.destinations)
        keys = _keys(flows, routes)
        add_colours(keys, routes.resources, self._colours, self._weights)
        first = count_kinds(
            keys, flows.sources, flows.destinations, routes.resources, self._found, self._counts
        )
        fits = len(first) == 0 or first[-1] >= 0
        self._examples.append(_pick(flows, first if fits else first[:-1]))
        self._found += len(first)
        return bool(fits)

    def kinds(self) -> Kinds:
        """What was found: one example a kind of flow, and one resource a colour."""
        count, resources = self._found, np.unique(self._colours, return_index=True)[1]
        example = Flows(
            np.concatenate([np.empty(0, np.int32), *(one.sources for one in self._examples)]),
            np.concatenate([np.empty(0, np.int32), *(one.destinations for one in self._examples)]),
            np.concatenate([np.empty(0, np.int64), *(one.bytes for one in self._examples)]),
        )
        return Kinds(
            flows=self._counts.flows[:count],
            example=example,
            routes=self._topology.routes(example.sources, example.destinations),
            crossings=self.crossings[resources].T.copy(),
            capacity_bytes_per_s=self._topology.resources.capacity_bytes_per_s[resources],
            resources=resources.astype(np.int32),
            rank_has=self._counts.rank_has[:, :count],
        )


def _pick(flows: Flows, which: NDArray[Any]) -> Flows:
    return Flows(flows.sources[which], flows.destinations[which], flows.bytes[which])


def _keys(flows: Flows, routes: Routes) -> KeyArray:
    """What tells kinds apart but for the routes, mixed into 64 bits."""
    keys = np.zeros(len(flows), np.uint64)
    columns = (flows.bytes, routes.cap_bytes_per_s, routes.latency_s, routes.overhead_bytes)
    for column, odd in zip(columns, _ODD, strict=True):
        keys += column.view(np.uint64) * odd
    return keys
