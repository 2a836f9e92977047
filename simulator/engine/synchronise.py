"""How copies of the same rows are brought together: the stages of a `Synchronisation`.

    dense   copies are summed: an all-reduce over whole copies (`replicated`), or, where copies are sharded, a
            ring for each run of rows over its owners in all copies
    sparse  every copy learns what the others touched: an all-gather over whole copies, or an exchange between
            the owners of the same rows

`flat` and `hierarchical` differ for whole copies alone; sharded copies already meet through one owner each.
The flat form is NCCL's: a ring for each local index, so that all NICs of an island carry the same.

Hierarchical and sparse: each island first adds up its own. A rank hands every mate an equal part of what it
touched, so that each mate holds its part of what the island touched; those parts are gathered across islands
and then within them.
"""

from typing import Literal

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.all_reduce import all_gather_v, all_reduce
from simulator.collectives.all_to_all import all_to_all
from simulator.collectives.copies import sum_copies
from simulator.collectives.pairs import spread
from simulator.collectives.stage import Stage
from simulator.sharding.execution import Execution
from simulator.topology.topology import Topology
from simulator.traffic.synchronisation import Synchronisation


def synchronisation_stages(
    topology: Topology, entry: Synchronisation, execution: Execution
) -> tuple[Stage, ...]:
    """The stages of one entry, in order; none when there is one copy or nothing to bring together."""
    if len(entry.copies) < 2 or not any(chunks.any() for chunks in entry.chunk_bytes):
        return ()
    algorithm = ring_algorithm(execution)
    if any(len(owners) > 1 for owners in entry.copies):
        if entry.mode == "dense":
            return sum_copies(topology, entry.copies, entry.chunk_bytes)
        return all_to_all(topology, exchange_matrix(topology.world_size, entry))
    ranks = [rank for (rank,) in entry.copies]
    chunk_bytes = np.concatenate(entry.chunk_bytes)
    if entry.mode == "dense":
        return all_reduce(topology, ranks, int(chunk_bytes[0]), algorithm=algorithm)
    if algorithm == "hierarchical" and entry.pooled_bytes is not None:
        return pooled_gather(topology, ranks, chunk_bytes, entry.pooled_bytes)
    return all_gather_v(topology, ranks, chunk_bytes, algorithm=algorithm)


def ring_algorithm(execution: Execution) -> Literal["ring", "hierarchical"]:
    """What `sync_algorithm` is called among the reductions."""
    return "hierarchical" if execution.sync_algorithm == "hierarchical" else "ring"


def pooled_gather(
    topology: Topology, ranks: list[int], touched_bytes: IntArray, pooled_bytes: IntArray
) -> tuple[Stage, ...]:
    """Add up within islands, then gather what each has: `touched_bytes` [ranks], `pooled_bytes` [islands]."""
    matrix = np.zeros((topology.world_size, topology.world_size), dtype=np.int64)
    held_bytes = np.zeros(topology.world_size, dtype=np.int64)
    touched_of = dict(zip(ranks, touched_bytes.tolist(), strict=True))
    for island, pooled in zip(topology.islands, pooled_bytes.tolist(), strict=True):
        held_bytes[list(island)] = spread(pooled, len(island))
        for rank in island:
            matrix[rank, list(island)] = spread(touched_of[rank], len(island))
    within = all_to_all(topology, matrix)
    return within + all_gather_v(topology, ranks, held_bytes[ranks], algorithm="hierarchical")


def exchange_matrix(world_size: int, entry: Synchronisation) -> IntArray:
    """[world_size, world_size] int64 bytes from owners to the owners of the same rows in other copies."""
    matrix = np.zeros((world_size, world_size), dtype=np.int64)
    for copy, (owners, chunk_bytes) in enumerate(zip(entry.copies, entry.chunk_bytes, strict=True)):
        others = [owners for other, owners in enumerate(entry.copies) if other != copy]
        for size in sorted({len(receivers) for receivers in others}):
            receivers = [rank for group in others if len(group) == size for rank in group]
            parts = overlap_bytes(chunk_bytes, size)
            matrix[np.ix_(owners, receivers)] = np.tile(parts, len(receivers) // size)
    return matrix


def overlap_bytes(chunk_bytes: IntArray, shards: int) -> IntArray:
    """[owners, shards] how chunks in a row divide over equal shards of the same rows; each row sums exactly.

    Owner k of n holds the rows from k/n to (k+1)/n, so in units of 1/(n * shards) every cut is whole.
    """
    owners = len(chunk_bytes)
    begin = np.arange(owners)[:, None] * shards
    cuts = np.clip(np.arange(shards + 1) * owners, begin, begin + shards) - begin
    parts: IntArray = np.diff(chunk_bytes[:, None] * cuts // shards, axis=1)
    return parts
