"""What a trace holds, measured in one streamed pass."""

from dataclasses import dataclass, field

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.traces.counts import IdCounts
from simulator.workload.traces.reuse import Reuse
from simulator.workload.traces.sequences import Sequences, read_sequences
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.trace import add_counts


@dataclass(eq=False)
class Measured:
    """Sums over a trace; memory follows the number of different ids."""

    batch_sequences: int
    halves: IdCounts = field(default_factory=lambda: IdCounts(columns=2))  # columns: first and second half
    length_counts: IntArray = field(default_factory=lambda: np.zeros(1, np.int64))
    distinct_in_sequences: int = 0  # summed over sequences
    reuse_in_sequences: float = 0.0  # lookups per distinct id, summed over nonempty sequences
    dropped: int = 0

    def __post_init__(self) -> None:
        self.reuse = Reuse(self.batch_sequences)

    @property
    def sequences(self) -> int:
        return int(self.length_counts.sum())

    @property
    def nonempty_sequences(self) -> int:
        return int(self.length_counts[1:].sum())


def measure_trace(source: TraceSource, *, batch_sequences: int) -> Measured:
    """Read a trace once. UserError for what its format does not allow or a trace without lookups."""
    measured = Measured(batch_sequences)
    for sequences in read_sequences(source):
        _add(measured, sequences)
    if not measured.nonempty_sequences:
        raise source.error(None, "there is no lookup in the trace")
    return measured


def _add(measured: Measured, sequences: Sequences) -> None:
    lengths = sequences.lengths
    numbers = _count(measured.halves, sequences)
    distinct = measured.reuse.add(numbers, lengths, measured.halves.different)
    measured.length_counts = add_counts(measured.length_counts, np.bincount(lengths, minlength=1))
    measured.distinct_in_sequences += int(distinct.sum())
    measured.reuse_in_sequences += float((lengths[lengths > 0] / distinct[lengths > 0]).sum())
    measured.dropped += sequences.dropped


def _count(halves: IdCounts, sequences: Sequences) -> IntArray:
    """Count lookups by the half in which their sequence begins; [lookups] the number of each one's id."""
    second = sequences.in_second_half
    if second.all() or not second.any():
        return halves.add(sequences.items, column=int(second.any()))
    later = second[sequences.owner]
    numbers = np.empty(len(later), np.int64)
    numbers[~later] = halves.add(sequences.items[~later], column=0)
    numbers[later] = halves.add(sequences.items[later], column=1)
    return numbers
