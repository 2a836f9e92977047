"""How often each id occurs, gathered chunk by chunk in memory that follows the number of different ids."""

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.traces.tokens import UIntArray


class IdCounts:
    """Occurrences by id, in one or more columns that are counted apart.

    `ids` ascend; `counts[column][k]` belongs to `ids[k]`. An id may be absent from a column (0), never from all.
    """

    def __init__(self, columns: int = 1) -> None:
        self.ids: UIntArray = np.empty(0, np.uint64)
        self.counts: list[IntArray] = [np.empty(0, np.int64) for _ in range(columns)]

    def add(self, ids: UIntArray, column: int = 0) -> None:
        """Count some occurrences, in any order."""
        new, counts = np.unique(ids, return_counts=True)
        place = np.searchsorted(self.ids, new)
        known = np.zeros(len(new), np.bool_)
        inside = place < len(self.ids)
        known[inside] = self.ids[place[inside]] == new[inside]
        if not known.all():
            self._make_room(new[~known], place[~known])
            place = np.searchsorted(self.ids, new)
        self.counts[column][place] += counts

    def _make_room(self, new: UIntArray, place: IntArray) -> None:
        """Insert ids that have not occurred yet; one array at a time, for the old one stays until it is done."""
        self.ids = np.insert(self.ids, place, new)
        for column, counts in enumerate(self.counts):
            self.counts[column] = np.insert(counts, place, 0)
