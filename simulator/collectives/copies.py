"""Sums what several copies hold, each copy cut in shards over its own owners.

Theory of operation. All copies hold the same bytes, in the same order, cut where their own owners' shards end.
Cutting at every copy's ends gives intervals that have one owner in each copy. For each interval its owners form
a ring over the copies and do an all-reduce of the interval. An interval of b bytes puts about 2 (C - 1) / C b on
each edge of its ring of C copies. The ring visits copies by the island of their first owner, so that it crosses
islands as seldom as it can. With one owner a copy this is the plain ring all-reduce; with islands of equal
size as copies, a ring among equal local ranks of all islands.
"""

from collections.abc import Sequence

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.collectives.pairs import spread, stages
from simulator.collectives.ring import Rings, side_by_side
from simulator.collectives.stage import Stage
from simulator.topology.topology import Topology


def sum_copies(
    topology: Topology, copies: Sequence[Sequence[int]], chunk_bytes: Sequence[IntArray]
) -> tuple[Stage, ...]:
    """The sum over copies of every byte, returned to every copy.

    `copies[c]` are the owners of copy c, `chunk_bytes[c]` [owners] int64 the bytes of their shards in order. All
    copies hold the same bytes in total, else ValueError. One copy, or copies of 0 bytes, need no stage.
    """
    totals = {int(chunks.sum()) for chunks in chunk_bytes}
    if len(totals) > 1:
        raise ValueError(f"copies of {sorted(totals)} bytes, all must hold the same")
    if len(copies) < 2:
        return ()
    turn = np.argsort(topology.island_of[[copy[0] for copy in copies]], kind="stable")
    rings = _interval_rings([copies[c] for c in turn], [chunk_bytes[c] for c in turn])
    return stages([side_by_side([rings], "all_reduce")])


def _interval_rings(copies: Sequence[Sequence[int]], chunk_bytes: Sequence[IntArray]) -> Rings:
    ends = [np.cumsum(chunks) for chunks in chunk_bytes]
    cuts = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *ends]))
    owners = [_owners(copy, end, cuts[:-1]) for copy, end in zip(copies, ends, strict=True)]
    return Rings(np.stack(owners, axis=-1), spread(np.diff(cuts), len(copies)))


def _owners(copy: Sequence[int], shard_ends: IntArray, starts: IntArray) -> IndexArray:
    """[intervals] the rank of `copy` whose shard holds each interval."""
    ranks: IndexArray = np.asarray(copy, dtype=np.int32)[np.searchsorted(shard_ends, starts, side="right")]
    return ranks
