"""Rings: reduce-scatter and all-gather by passing chunks to the next member, step by step.

Theory of operation. n members in a ring own one chunk each. In a reduce-scatter of n - 1 steps a member passes
on every chunk but its own, and the last to come to it is its own, summed. In an all-gather of n - 1 steps it
passes on every chunk but the one its successor owns. So the edge r -> r + 1 carries, of a total of T bytes,

    reduce-scatter   T - chunk[r]
    all-gather       T - chunk[r + 1]
    all-reduce       their sum, which is 2 (n - 1) / n T when the chunks are equal

All steps of a ring are one stage: equal steps in a row move as one fluid, only their latencies add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.collectives.communicator import Communicator
from simulator.collectives.pairs import merged
from simulator.network.flows import Flows

Pattern = Literal["reduce_scatter", "all_gather", "all_reduce"]


@dataclass(frozen=True, eq=False)
class Rings:
    """Rings of n ranks each: `order` [rings, n] global ranks, `chunk_bytes` [rings, n] what each owns."""

    order: IndexArray
    chunk_bytes: IntArray

    def edge_bytes(self, pattern: Pattern) -> IntArray:
        """[rings, n] bytes from each rank to the next of its ring."""
        scattered: IntArray = self.chunk_bytes.sum(axis=1, keepdims=True) - self.chunk_bytes
        gathered = np.roll(scattered, -1, axis=1)
        return {"reduce_scatter": scattered, "all_gather": gathered, "all_reduce": scattered + gathered}[
            pattern
        ]

    def steps(self, pattern: Pattern) -> int:
        """Messages that follow one another."""
        return (int(self.order.shape[1]) - 1) * (2 if pattern == "all_reduce" else 1)


def side_by_side(rings: Sequence[Rings], pattern: Pattern) -> tuple[Flows, int]:
    """The flows of rings that run at once, and the steps of the longest."""
    sources = np.concatenate([each.order.ravel() for each in rings])
    destinations = np.concatenate([np.roll(each.order, -1, axis=1).ravel() for each in rings])
    edges = np.concatenate([each.edge_bytes(pattern).ravel() for each in rings])
    return merged(sources, destinations, edges), max(each.steps(pattern) for each in rings)


def single_ring(members: Communicator, chunk_bytes: IntArray) -> Rings:
    """One ring over the members in their order; `chunk_bytes` [members]."""
    return Rings(members.ranks[None, :], chunk_bytes[None, :])


def island_rings(members: Communicator, chunk_bytes: IntArray) -> Rings:
    """A ring for each local index, island by island, as NCCL lays its channels; `chunk_bytes` [members].

    Ring c comes into its first island on local rank c and leaves it on c - 1; the next island is passed the
    other way round. So all NICs of an island carry the same, and with islands of equal size and of an even
    number no ring changes its rail. Each ring carries its share of every chunk.
    """
    rings = int(members.island_sizes.min())
    position = np.zeros(members.ranks.max() + 1, dtype=np.int64)
    position[members.ranks] = np.arange(len(members))
    order = np.array([_ring_order(members, ring) for ring in range(rings)])
    share, rest = np.divmod(chunk_bytes[position[order]], rings)
    return Rings(order, share + (np.arange(rings)[:, None] < rest))


def _ring_order(members: Communicator, ring: int) -> IndexArray:
    turned = [np.roll(island, -ring) for island in members.islands]
    return np.concatenate([island[::-1] if place % 2 else island for place, island in enumerate(turned)])
