"""How often each id occurs, gathered chunk by chunk in memory that follows the number of different ids."""

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.traces.tokens import UIntArray


class IdCounts:
    """Occurrences by id; `ids` ascend, `counts[k]` belongs to `ids[k]`."""

    def __init__(self) -> None:
        self.ids: UIntArray = np.empty(0, np.uint64)
        self.counts: IntArray = np.empty(0, np.int64)

    def add(self, ids: UIntArray) -> None:
        """Count some occurrences, in any order."""
        self.add_counts(*np.unique(ids, return_counts=True))

    def add_counts(self, ids: UIntArray, counts: IntArray) -> None:
        """Count occurrences that are already counted; `ids` ascend and differ."""
        place = np.searchsorted(self.ids, ids)
        known = self.of(ids) > 0
        self.counts[place[known]] += counts[known]
        if not known.all():
            self.ids = np.insert(self.ids, place[~known], ids[~known])
            self.counts = np.insert(self.counts, place[~known], counts[~known])

    def of(self, ids: UIntArray) -> IntArray:
        """Occurrences of each of `ids`, 0 where there are none."""
        place = np.minimum(np.searchsorted(self.ids, ids), max(0, len(self.ids) - 1))
        if not len(self.ids):
            return np.zeros(len(ids), np.int64)
        return np.where(self.ids[place] == ids, self.counts[place], 0)

    @property
    def total(self) -> int:
        return int(self.counts.sum())
