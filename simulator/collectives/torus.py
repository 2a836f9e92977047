"""All-reduce on a torus of islands: a reduce-scatter along each dimension, then all-gathers back.

Theory of operation. After a reduce-scatter within each island, members with equal local index hold equal
shards and form one torus over the islands. Along dimension k, lines of d_k of them reduce-scatter what they
hold, half of it each way round so that the links of both directions work; each is left with 1 / d_k of it for
the next dimension. The all-gathers undo this in reverse order, that of the last dimension in the same stage as
its reduce-scatter. So, of a shard of v bytes, a reduce-scatter or all-gather along dimension k puts

    v / (d_0 ... d_(k-1)) * (d_k - 1) / d_k / 2

on each link of that dimension; along a dimension of 2 both ways lead to the same neighbour.
"""

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.collectives.pairs import spread
from simulator.collectives.ring import Rings, side_by_side
from simulator.network.flows import Flows


def torus_parts(grids: IndexArray, shard_bytes: IntArray) -> list[tuple[Flows, int]]:
    """(flows, latency steps) of each stage that sums `shard_bytes` [grids] over the tori `grids` [*dims, grids].

    Each grid is a torus of global ranks, all of the same dimensions.
    """
    axes = [axis for axis, length in enumerate(grids.shape[:-1]) if length > 1]
    held = np.broadcast_to(shard_bytes, grids.shape)
    scatters, gathers = [], []
    for axis in axes:
        rings, held = _lines(grids, held, axis)
        if axis == axes[-1]:
            scatters.append(side_by_side(rings, "all_reduce"))
        else:
            scatters.append(side_by_side(rings, "reduce_scatter"))
            gathers.append(side_by_side(rings, "all_gather"))
    return scatters + gathers[::-1]


def _lines(grids: IndexArray, held: IntArray, axis: int) -> tuple[list[Rings], IntArray]:
    """Rings along an axis, half of the bytes each way round, and what a rank holds after their reduce-scatter."""
    order = np.moveaxis(grids, axis, -1)
    chunks = spread(np.moveaxis(held, axis, -1)[..., 0], order.shape[-1])
    lines, line_chunks = order.reshape(-1, order.shape[-1]), chunks.reshape(-1, order.shape[-1])
    back = line_chunks // 2
    rings = [Rings(lines, line_chunks - back), Rings(lines[:, ::-1], back[:, ::-1])]
    return rings, np.moveaxis(chunks, -1, axis)
