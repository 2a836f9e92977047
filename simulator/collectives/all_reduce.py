"""All-reduce, reduce-scatter and all-gather over the ranks of a group.

    ring          a ring for each local index, so that all NICs of an island carry the same (NCCL's channels)
    flat_ring     one ring in the order of the ranks: one NIC in and one out of each island carry everything
    hierarchical  within islands, among equal local ranks of all islands, within islands
    torus         within islands, along each dimension of a torus of islands in turn, within islands
                  (all-reduce alone)

`vector_bytes` is the whole vector, which a rank holds before a reduce-scatter and after an all-gather: the size
column of nccl-tests. Shares of it are whole bytes that differ by 1 at the most.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.communicator import Communicator, communicator
from simulator.collectives.copies import sum_copies
from simulator.collectives.hierarchical_ring import column_rings, rings_within_islands
from simulator.collectives.pairs import spread, stages
from simulator.collectives.ring import Pattern, Rings, island_rings, side_by_side, single_ring
from simulator.collectives.stage import Stage
from simulator.collectives.torus import torus_parts
from simulator.errors import UserError
from simulator.topology.spec import TorusSpec
from simulator.topology.topology import Topology

RingAlgorithm = Literal["ring", "flat_ring", "hierarchical"]
AllReduceAlgorithm = Literal["ring", "flat_ring", "hierarchical", "torus"]


def all_reduce(
    topology: Topology, ranks: Sequence[int], vector_bytes: int, *, algorithm: AllReduceAlgorithm = "ring"
) -> tuple[Stage, ...]:
    """Every rank ends with the sum of all ranks' vectors."""
    members = communicator(topology, ranks)
    if algorithm == "hierarchical":
        copies = [island.tolist() for island in members.islands]
        return _all_reduce_in_levels(members, vector_bytes, partial(sum_copies, topology, copies))
    if algorithm == "torus":
        return _all_reduce_in_levels(members, vector_bytes, partial(_sum_on_torus, topology, members))
    return _rings("all_reduce", members, spread(vector_bytes, len(members)), algorithm)


def reduce_scatter(
    topology: Topology, ranks: Sequence[int], vector_bytes: int, *, algorithm: RingAlgorithm = "ring"
) -> tuple[Stage, ...]:
    """Every rank ends with its share of the sum of all ranks' vectors."""
    members = communicator(topology, ranks)
    chunks = spread(vector_bytes, len(members))
    if algorithm == "hierarchical":
        return _two_levels("reduce_scatter", members, chunks)[::-1]
    return _rings("reduce_scatter", members, chunks, algorithm)


def all_gather(
    topology: Topology, ranks: Sequence[int], vector_bytes: int, *, algorithm: RingAlgorithm = "ring"
) -> tuple[Stage, ...]:
    """Every rank begins with its share of a vector and ends with all of it."""
    return all_gather_v(topology, ranks, spread(vector_bytes, max(len(ranks), 1)), algorithm=algorithm)


def all_gather_v(
    topology: Topology, ranks: Sequence[int], bytes_per_rank: IntArray, *, algorithm: RingAlgorithm = "ring"
) -> tuple[Stage, ...]:
    """Every rank begins with its own bytes, [ranks] int64 in the order of `ranks`, and ends with everybody's."""
    members = communicator(topology, ranks)
    if algorithm == "hierarchical":
        return _two_levels("all_gather", members, bytes_per_rank)
    return _rings("all_gather", members, bytes_per_rank, algorithm)


def _rings(
    pattern: Pattern, members: Communicator, chunk_bytes: IntArray, algorithm: Literal["ring", "flat_ring"]
) -> tuple[Stage, ...]:
    rings = (island_rings if algorithm == "ring" else single_ring)(members, chunk_bytes)
    return stages([side_by_side([rings], pattern)])


def _two_levels(pattern: Pattern, members: Communicator, chunk_bytes: IntArray) -> tuple[Stage, ...]:
    across = column_rings(members, chunk_bytes)
    within = rings_within_islands(members, across)
    return stages([side_by_side([across], pattern), side_by_side(within, pattern)])


def _all_reduce_in_levels(
    members: Communicator, vector_bytes: int, across: Callable[[list[IntArray]], tuple[Stage, ...]]
) -> tuple[Stage, ...]:
    """`across` sums the shards that the ranks of each island hold after a reduce-scatter."""
    shards = [spread(vector_bytes, len(island)) for island in members.islands]
    within = [
        Rings(ranks[None, :], shard[None, :]) for ranks, shard in zip(members.islands, shards, strict=True)
    ]
    scatter = stages([side_by_side(within, "reduce_scatter")])
    gather = stages([side_by_side(within, "all_gather")])
    return (*scatter, *across(shards), *gather)


def _sum_on_torus(topology: Topology, members: Communicator, shards: list[IntArray]) -> tuple[Stage, ...]:
    fabric = topology.spec.scale_out.fabric if topology.spec.scale_out else None
    if not isinstance(fabric, TorusSpec):
        raise UserError(f"torus all-reduce: the fabric of {topology.name} is not a torus")
    sizes = {len(island) for island in members.islands}
    if len(members.islands) != topology.island_count or len(sizes) > 1:
        raise UserError("torus all-reduce: its ranks must be of all islands, the same number of each")
    grids = np.stack(members.islands).reshape(*fabric.dims, -1, order="F")
    return stages(torus_parts(grids, shards[0]))
