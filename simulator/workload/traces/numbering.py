"""Ids numbered 0, 1, 2, ... in the order in which they first occur, so that what is kept of them lies in arrays.

Theory of operation. A hash table with open addressing holds numbers, at most half full; the ids themselves stand
once, by number. Memory follows the number of different ids.
"""

import numpy as np

from simulator.arrays import IndexArray, IntArray, UIntArray
from simulator.compiled import compiled
from simulator.workload.feistel import splitmix64

FIRST_SLOTS = 1 << 10
MOST_IDS = 1 << 31  # slots are of 32 bits
_FREE = -1


class IdNumbers:
    """Grows as ids are met."""

    def __init__(self) -> None:
        self._slots: IndexArray = np.full(FIRST_SLOTS, _FREE, np.int32)
        self._ids: UIntArray = np.empty(FIRST_SLOTS // 2, np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def ids(self) -> UIntArray:
        """[different ids] each at its number."""
        return self._ids[: self._count]

    def of(self, ids: UIntArray) -> IntArray:
        """[lookups] the number of each id. Raises MemoryError for more than 2^31 different ones."""
        numbers = np.empty(len(ids), np.int64)
        begin = 0
        while begin < len(ids):
            begin, self._count = _number(ids, begin, self._slots, self._ids, self._count, numbers)
            if self._count == len(self._ids):
                self._grow()
        return numbers

    def _grow(self) -> None:
        if 2 * len(self._ids) > MOST_IDS:
            raise MemoryError(f"there are more than {self._count:,} different ids")
        room = np.empty(2 * len(self._ids), np.uint64)
        room[: self._count] = self.ids
        self._ids = room
        self._slots = np.full(2 * len(room), _FREE, np.int32)
        _enter(self.ids, self._slots)


@compiled
def _number(
    ids: UIntArray, begin: int, slots: IndexArray, known: UIntArray, count: int, numbers: IntArray
) -> tuple[int, int]:
    """Fill `numbers` from `begin` on, until `known` is full; where it stopped, and how many are known then."""
    for place in range(begin, len(ids)):
        slot = _slot(ids[place], slots, known)
        if slots[slot] == _FREE:
            if count == len(known):
                return place, count
            slots[slot], known[count] = count, ids[place]
            count += 1
        numbers[place] = slots[slot]
    return len(ids), count


@compiled
def _enter(known: UIntArray, slots: IndexArray) -> None:
    """Enter different ids into free slots."""
    for number in range(len(known)):
        slots[_slot(known[number], slots, known)] = number


@compiled
def _slot(item: np.uint64, slots: IndexArray, known: UIntArray) -> np.int64:
    """Where an id is, or would be."""
    last = np.int64(len(slots) - 1)
    slot = np.int64(splitmix64(item) & np.uint64(last))
    while slots[slot] != _FREE and known[slots[slot]] != item:
        slot = (slot + 1) & last
    return slot


def with_room(values: IntArray, count: int, fill: int) -> IntArray:
    """An array by number with at least `count` entries, those that were not there set to `fill`."""
    if len(values) >= count:
        return values
    longer = np.full(max(count, 3 * len(values) // 2), fill, np.int64)
    longer[: len(values)] = values
    return longer


@compiled
def tally(numbers: IntArray, counts: IntArray) -> None:
    """Count some numbers."""
    for number in numbers:
        counts[number] += 1
