"""A pseudo-random bijection of range(rows) that maps one row in constant time and memory.

Theory of operation. Ids are hashed over a table's row space, so where a hot row lands is luck, but the same
luck every iteration. A stored permutation is O(rows); this one is a Feistel network over a grid of a x b >=
rows places (a = ceil(sqrt(rows)), b = ceil(rows / a)): a place (u, v) goes to (u + F(v) mod a, v), then to
(u, v + F(u) mod b), and so on, each step undone by a subtraction and so a bijection whatever F is. Fewer than
a places of the grid are no rows; who lands there walks on along its cycle until it is on a row, which keeps
the map a bijection of the rows. F is the splitmix64 finaliser.
"""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import IntArray

UIntArray = NDArray[np.uint64]

ROUNDS = 8
MAX_ROWS = 2**62


def permute(rows: int, positions: IntArray, *, key: int) -> IntArray:
    """Where each of `positions` (any shape, values in [0, rows)) goes under the permutation named by `key`.

    1 <= rows <= 2^62; any integer is a key. The result has the shape of `positions`.
    """
    if not 1 <= rows <= MAX_ROWS:
        raise ValueError(f"rows = {rows}: a permutation has 1 to 2^62 rows")
    side = isqrt(rows - 1) + 1
    other = -(-rows // side)
    place = np.array(positions, np.uint64).ravel()
    walking = np.arange(place.size)
    while walking.size:
        moved = _feistel(place[walking], np.uint64(side), np.uint64(other), key)
        place[walking] = moved
        walking = walking[moved >= np.uint64(rows)]
    return place.astype(np.int64).reshape(np.shape(positions))


def _feistel(place: UIntArray, side: np.uint64, other: np.uint64, key: int) -> UIntArray:
    u: UIntArray = place % side
    v: UIntArray = np.asarray(place // side, np.uint64)
    for turn in range(ROUNDS):
        if turn % 2 == 0:
            u = np.asarray((u + _mix(v, key, turn) % side) % side)
        else:
            v = np.asarray((v + _mix(u, key, turn) % other) % other)
    return v * side + u


def _mix(value: UIntArray, key: int, turn: int) -> UIntArray:
    """splitmix64 (Steele, Lea, Flood 2014) of the value, the key and the round, twice for small values."""
    salt = (key * 0x9E3779B97F4A7C15 + turn * 0xD1B54A32D192ED03) & (2**64 - 1)
    mixed = splitmix64(value ^ np.uint64(salt))
    return splitmix64(mixed + np.uint64(salt))


def splitmix64(value: UIntArray) -> UIntArray:
    """The finaliser of splitmix64 on uint64 values, which wrap around."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))
