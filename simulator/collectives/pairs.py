"""The collectives list what moves piece by piece; here pieces between the same two ranks become one flow."""

from collections.abc import Iterable

import numpy as np

from simulator.arrays import IndexArray, IntArray
from simulator.collectives.stage import Stage
from simulator.network.flows import Flows


def merged(sources: IndexArray, destinations: IndexArray, sent_bytes: IntArray) -> Flows:
    """One flow for each ordered pair, by source and destination. Arguments are [pieces], ranks are global.

    Pieces of 0 bytes and pieces that stay on their rank are no flow.
    """
    moves = (sent_bytes > 0) & (sources != destinations)
    sources, destinations, sent_bytes = sources[moves], destinations[moves], sent_bytes[moves]
    keys = (sources.astype(np.int64) << 32) | destinations
    pairs, pair_of = np.unique(keys, return_inverse=True)
    pair_bytes = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(pair_bytes, pair_of, sent_bytes)
    return Flows((pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32), pair_bytes)


def stages(parts: Iterable[tuple[Flows, int]]) -> tuple[Stage, ...]:
    """A stage for each (flows, latency steps) in which anything moves."""
    return tuple(Stage(flows, latency_steps) for flows, latency_steps in parts if len(flows))


def spread(total_bytes: int | IntArray, parts: int) -> IntArray:
    """`total_bytes` [...] in whole, nearly equal parts; [..., parts] int64, sums exactly.

    Parts are cut at the whole bytes nearest to the exact cuts, so that any run of neighbours is off its exact
    share by 1 byte at the most.
    """
    totals = np.asarray(total_bytes, dtype=np.int64)[..., None]
    cuts: IntArray = (2 * np.arange(parts + 1, dtype=np.int64) * totals + parts) // (2 * parts)
    return np.diff(cuts, axis=-1)
