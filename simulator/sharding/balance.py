"""Spreading items that stay whole over places (ranks or islands).

The busiest item goes first, each to the least loaded place where it fits: the longest-processing-time
rule, at most 4/3 of the best possible maximum (Graham 1969). Places equally loaded are told apart by the load
of their neighbours, since ranks of one island may share NICs, then by memory, then by number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.errors import UserError
from simulator.units import format_bytes


@dataclass(frozen=True, eq=False)
class Item:
    """A table or a part of one. Load and memory are per rank, one figure or one for each place.

    Loads are whatever is to be balanced: expected bytes, or seconds.
    """

    name: str
    load: float | FloatArray
    memory_bytes: int | IntArray


class Shelf:
    """What has been put on each place so far."""

    def __init__(self, neighbourhood: Sequence[int], capacity_bytes: int) -> None:
        """`neighbourhood[place]` numbers the place's neighbours alike, from 0."""
        self.neighbourhood = np.array(neighbourhood, dtype=np.int64)
        self.capacity_bytes = capacity_bytes
        self.load: FloatArray = np.zeros(len(neighbourhood))
        self.memory_bytes: IntArray = np.zeros(len(neighbourhood), dtype=np.int64)

    def put(self, item: Item, *, not_on: Sequence[int] = ()) -> int:
        """The place that takes the item. Raises UserError when it fits nowhere."""
        load = self.load + item.load
        memory_bytes = self.memory_bytes + item.memory_bytes
        fits = memory_bytes <= self.capacity_bytes
        fits[list(not_on)] = False
        if not fits.any():
            raise UserError(self._does_not_fit(item))
        near_bytes = np.bincount(self.neighbourhood, self.load)[self.neighbourhood]
        candidates = np.flatnonzero(fits)
        order = np.lexsort((memory_bytes[candidates], near_bytes[candidates], load[candidates]))
        place = int(candidates[order[0]])
        self.load[place] = load[place]
        self.memory_bytes[place] = memory_bytes[place]
        return place

    def _does_not_fit(self, item: Item) -> str:
        needed_bytes, free_bytes = np.broadcast_arrays(
            item.memory_bytes, self.capacity_bytes - self.memory_bytes
        )
        best = int(np.argmin(needed_bytes - free_bytes))
        needed, free = int(needed_bytes[best]), int(free_bytes[best])
        return (
            f"table {item.name} does not fit: needed {format_bytes(needed)} a rank, available "
            f"{format_bytes(free)}, short by {format_bytes(needed - free)}"
        )


def busiest_first(items: Sequence[Item]) -> list[int]:
    """The order in which to put items; ties go by memory, then by the order given."""
    heaviest = [(float(np.max(item.load)), int(np.max(item.memory_bytes))) for item in items]
    return sorted(range(len(items)), key=lambda i: (-heaviest[i][0], -heaviest[i][1], i))


def largest_first(items: Sequence[Item]) -> list[int]:
    """The order that packs best where memory is short."""
    return sorted(range(len(items)), key=lambda i: (-int(np.max(items[i].memory_bytes)), i))


def least_loaded(items: Sequence[Item], neighbourhood: Sequence[int], capacity_bytes: int) -> list[int]:
    """The place of each item, in the items' order: the busiest first, or the largest if these do not fit so.

    Raises UserError naming an item that fits nowhere.
    """
    try:
        return _put_all(items, busiest_first(items), Shelf(neighbourhood, capacity_bytes))
    except UserError:
        return _put_all(items, largest_first(items), Shelf(neighbourhood, capacity_bytes))


def _put_all(items: Sequence[Item], order: Sequence[int], shelf: Shelf) -> list[int]:
    places = [0] * len(items)
    for index in order:
        places[index] = shelf.put(items[index])
    return places
