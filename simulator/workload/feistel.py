"""The compiled loop of `shuffle`: places on a grid moved by a Feistel network until they are rows."""

import numpy as np

from simulator.arrays import UIntArray
from simulator.compiled import compiled

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@compiled
def walked(
    places: UIntArray, rows: np.uint64, side: np.uint64, other: np.uint64, salts: UIntArray
) -> UIntArray:
    """Where each of `places`, rows of a grid of side x other, goes; `salts` has one a round."""
    moved = np.empty_like(places)
    for index in range(len(places)):
        place = places[index]
        while True:
            v = place // side
            u = place - v * side
            for turn in range(len(salts)):
                if turn % 2 == 0:
                    u = (u + mixed(v, salts[turn]) % side) % side
                else:
                    v = (v + mixed(u, salts[turn]) % other) % other
            place = v * side + u
            if place < rows:
                break
        moved[index] = place
    return moved


@compiled
def mixed(value: np.uint64, salt: np.uint64) -> np.uint64:
    """splitmix64 (Steele, Lea, Flood 2014) of the value and the salt, twice for small values."""
    return splitmix64(splitmix64(value ^ salt) + salt)


@compiled
def splitmix64(value: np.uint64) -> np.uint64:
    """The finaliser of splitmix64."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)
