"""How many different ids sequences have, and batches of sequences, met one after another.

Theory of operation. For each id the last sequence that had it is known. An id is new to a sequence if that is
another one, and new to a batch if it lies before the batch's first: one pass answers both, whatever the batch's
size, and nothing is sorted.
"""

import numpy as np

from simulator.arrays import IntArray
from simulator.compiled import compiled
from simulator.workload.traces.numbering import with_room

NEVER = -1


class Reuse:
    """Sums over whole batches; the batch under way is known apart."""

    def __init__(self, batch_sequences: int) -> None:
        self.batch_sequences = batch_sequences
        self.batches = 0
        self.batch_lookups = 0  # summed over whole batches
        self.batch_distinct = 0
        self._under_way = np.zeros(2, np.int64)  # lookups, different ids
        self._sequences = 0
        self._last: IntArray = np.empty(0, np.int64)  # [different ids]

    def add(self, numbers: IntArray, lengths: IntArray, different: int) -> IntArray:
        """[sequences] different ids of each of some sequences.

        `numbers` are [lookups] the ids' numbers below `different`, sequence after sequence.
        """
        self._last = with_room(self._last, different, NEVER)
        distinct, new = np.zeros(len(lengths), np.int64), np.zeros(len(lengths), np.int64)
        _meet(numbers, lengths, self._sequences, self.batch_sequences, self._last, distinct, new)
        sums = np.stack([np.cumsum(lengths), np.cumsum(new)])
        after = self._sequences + len(lengths)
        whole = after - after % self.batch_sequences - self._sequences  # of these end in whole batches
        if whole > 0:
            finished = self._under_way + sums[:, whole - 1]
            self.batches = after // self.batch_sequences
            self.batch_lookups += int(finished[0])
            self.batch_distinct += int(finished[1])
            self._under_way = sums[:, -1] - sums[:, whole - 1]
        elif len(lengths):
            self._under_way = self._under_way + sums[:, -1]
        self._sequences = after
        return distinct


@compiled
def _meet(
    numbers: IntArray,
    lengths: IntArray,
    first_sequence: int,
    batch_sequences: int,
    last: IntArray,
    distinct: IntArray,
    new: IntArray,
) -> None:
    """Fill [sequences] ids that are new to each sequence, and to its batch; `last` is brought up to date."""
    place = 0
    for index in range(len(lengths)):
        sequence = first_sequence + index
        batch_begin = sequence - sequence % batch_sequences
        for _ in range(lengths[index]):
            before = last[numbers[place]]
            if before != sequence:
                distinct[index] += 1
                new[index] += before < batch_begin
                last[numbers[place]] = sequence
            place += 1
