"""The compiled loop of `shuffle`: places on a grid moved by a Feistel network until they are rows.

Rounds are carried out for a block of places at a time, so that the processor works on several at once.
"""

import numpy as np

from simulator.arrays import UIntArray
from simulator.compiled import compiled

BLOCK = 256
_ZERO = np.uint64(0)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@compiled
def walked(
    places: UIntArray, rows: np.uint64, side: np.uint64, other: np.uint64, salts: UIntArray
) -> UIntArray:
    """Where each of `places`, rows of a grid of side x other, goes; `salts` has one a round."""
    moved = places.copy()
    u, v = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for start in range(0, len(moved), BLOCK):
        block = moved[start : start + BLOCK]
        _move(block, side, other, salts, u, v)
        for index in range(len(block)):
            while block[index] >= rows:
                _move(block[index : index + 1], side, other, salts, u, v)
    return moved


@compiled
def _move(
    places: UIntArray, side: np.uint64, other: np.uint64, salts: UIntArray, u: UIntArray, v: UIntArray
) -> None:
    """All rounds on at most `BLOCK` places; `u` and `v` are room to work in."""
    count = len(places)
    for index in range(count):
        v[index] = places[index] // side
        u[index] = places[index] - v[index] * side
    for turn in range(len(salts)):
        if turn % 2 == 0:
            _turn(u, v, side, salts[turn], count)
        else:
            _turn(v, u, other, salts[turn], count)
    for index in range(count):
        places[index] = v[index] * side + u[index]


@compiled
def _turn(own: UIntArray, partner: UIntArray, modulus: np.uint64, salt: np.uint64, count: int) -> None:
    """Move `own` by what the partner says."""
    for index in range(count):
        moved = own[index] + mixed(partner[index], salt) % modulus
        own[index] = moved - (modulus if moved >= modulus else _ZERO)


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
