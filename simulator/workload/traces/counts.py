"""How often each id occurs, gathered chunk by chunk in memory that follows the number of different ids."""

import numpy as np

from simulator.arrays import IntArray, UIntArray
from simulator.workload.traces.numbering import IdNumbers, tally, with_room


class IdCounts:
    """Occurrences by id, in one or more columns that are counted apart.

    `ids` ascend; `counts[column][k]` belongs to `ids[k]`. An id may be absent from a column (0), never from all.
    """

    def __init__(self, columns: int = 1) -> None:
        self._numbers = IdNumbers()
        self._counts: list[IntArray] = [np.zeros(0, np.int64) for _ in range(columns)]

    def add(self, ids: UIntArray, column: int = 0) -> IntArray:
        """Count some occurrences, in any order, and give the number of each one's id: 0 for the first id met."""
        numbers = self._numbers.of(ids)
        self._counts[column] = with_room(self._counts[column], len(self._numbers), 0)
        tally(numbers, self._counts[column])
        return numbers

    @property
    def different(self) -> int:
        """How many ids there are."""
        return len(self._numbers)

    @property
    def ids(self) -> UIntArray:
        """[different] ascending."""
        return np.sort(self._numbers.ids)

    @property
    def counts(self) -> list[IntArray]:
        """[different] of each column, in the order of `ids`."""
        order = np.argsort(self._numbers.ids)
        return [with_room(column, self.different, 0)[: self.different][order] for column in self._counts]
