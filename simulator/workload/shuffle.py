"""A pseudo-random bijection of range(rows) that maps one row in constant time and memory.

Theory of operation. Ids are hashed over a table's row space, so where a hot row lands is luck, but the same
luck every iteration. A stored permutation is O(rows); this one is a Feistel network over a grid of a x b >=
rows places (a = ceil(sqrt(rows)), b = ceil(rows / a)): a place (u, v) goes to (u + F(v) mod a, v), then to
(u, v + F(u) mod b), and so on, each step undone by a subtraction and so a bijection whatever F is. Fewer than
a places of the grid are no rows; who lands there walks on along its cycle until it is on a row, which keeps
the map a bijection of the rows. F is the splitmix64 finaliser.
"""

from functools import lru_cache
from math import isqrt

import numpy as np

from simulator.arrays import IntArray, UIntArray

ROUNDS = 8
MAX_ROWS = 2**62
PREFIXES_KEPT = 64  # half a megabyte each, of 65,536 rows


def permute(rows: int, positions: IntArray, *, key: int) -> IntArray:
    """Where each of `positions` (any shape, values in [0, rows)) goes under the permutation named by `key`.

    1 <= rows <= 2^62; any integer is a key. The result has the shape of `positions`.
    """
    if not 1 <= rows <= MAX_ROWS:
        raise ValueError(f"rows = {rows}: a permutation has 1 to 2^62 rows")
    from simulator.workload.feistel import walked

    side = isqrt(rows - 1) + 1
    other = -(-rows // side)
    places = np.asarray(positions, np.uint64).ravel()
    moved = walked(places, np.uint64(rows), np.uint64(side), np.uint64(other), _salts(key))
    return moved.astype(np.int64).reshape(np.shape(positions))


@lru_cache(maxsize=PREFIXES_KEPT)
def permute_first(rows: int, count: int, *, key: int) -> IntArray:
    """Where the first `count` rows go: [count], kept, since studies ask again and again, and so not to be written."""
    places = permute(rows, np.arange(count), key=key)
    places.flags.writeable = False
    return places


def _salts(key: int) -> UIntArray:
    """[ROUNDS] what the key gives to each round."""
    salts = [(key * 0x9E3779B97F4A7C15 + turn * 0xD1B54A32D192ED03) % 2**64 for turn in range(ROUNDS)]
    return np.array(salts, np.uint64)


def splitmix64(value: UIntArray) -> UIntArray:
    """The finaliser of splitmix64 on uint64 values, which wrap around."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))
