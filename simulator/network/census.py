"""The compiled part of telling flows' kinds apart: a look at every flow that goes by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, IndexArray, IntArray
from simulator.compiled import compiled

KeyArray = NDArray[np.uint64]


class Counts(NamedTuple):
    """What is counted of each kind; all are filled in place."""

    keys: KeyArray  # [most kinds]
    flows: IntArray  # [most kinds]
    crossings: IntArray  # [resources, most kinds] flows of a kind across a resource
    rank_has: BoolArray  # [world_size, most kinds]


@compiled
def add_colours(keys: KeyArray, routes: IndexArray, colours: IndexArray, weights: KeyArray) -> None:
    """Add to the key of each flow the weights of the colours that it crosses, in whatever order."""
    for flow in range(len(routes)):
        for hop in range(routes.shape[1]):
            if routes[flow, hop] < 0:
                break
            keys[flow] += weights[colours[routes[flow, hop]]]


@compiled
def count_kinds(
    keys: KeyArray,
    sources: IndexArray,
    destinations: IndexArray,
    routes: IndexArray,
    kinds: int,
    counts: Counts,
) -> IntArray:
    """Count flows by kind, which is told by their keys [flows]; `kinds` are known so far.

    Returns the first flow of each new kind; a last -1 says that there are more kinds than `counts` can hold.
    """
    first = np.empty(len(counts.keys) + 1, np.int64)
    found = kinds
    for flow in range(len(keys)):
        kind = 0
        while kind < found and counts.keys[kind] != keys[flow]:
            kind += 1
        if kind == found:
            first[found - kinds] = flow if found < len(counts.keys) else -1
            found += 1
            if found > len(counts.keys):
                break
            counts.keys[kind] = keys[flow]
        counts.flows[kind] += 1
        counts.rank_has[sources[flow], kind] = True
        counts.rank_has[destinations[flow], kind] = True
        for hop in range(routes.shape[1]):
            if routes[flow, hop] < 0:
                break
            counts.crossings[routes[flow, hop], kind] += 1
    return first[: found - kinds]
