"""What a trace holds, measured in one streamed pass."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.traces.counts import IdCounts
from simulator.workload.traces.sequences import Sequences, read_sequences
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.tokens import UIntArray
from simulator.workload.traces.trace import add_counts


@dataclass(eq=False)
class Measured:
    """Sums over a trace; memory follows the number of different ids and the size of one batch."""

    batch_sequences: int
    halves: IdCounts = field(default_factory=lambda: IdCounts(columns=2))  # columns: first and second half
    length_counts: IntArray = field(default_factory=lambda: np.zeros(1, np.int64))
    distinct_in_sequences: int = 0  # summed over sequences
    reuse_in_sequences: float = 0.0  # lookups per distinct id, summed over nonempty sequences
    batches: int = 0
    batch_lookups: int = 0  # summed over whole batches
    batch_distinct: int = 0
    dropped: int = 0

    @property
    def sequences(self) -> int:
        return int(self.length_counts.sum())

    @property
    def nonempty_sequences(self) -> int:
        return int(self.length_counts[1:].sum())


def measure_trace(source: TraceSource, *, batch_sequences: int) -> Measured:
    """Read a trace once. UserError for what its format does not allow or a trace without lookups."""
    measured = Measured(batch_sequences)
    for sequences in _in_batches(read_sequences(source), measured):
        _add(measured, sequences)
    if not measured.nonempty_sequences:
        raise source.error(None, "there is no lookup in the trace")
    return measured


def _add(measured: Measured, sequences: Sequences) -> None:
    owner, lengths = sequences.owner, sequences.lengths
    later = sequences.in_second_half[owner]
    measured.halves.add(sequences.items[~later], column=0)
    measured.halves.add(sequences.items[later], column=1)
    measured.length_counts = add_counts(measured.length_counts, np.bincount(lengths, minlength=1))
    distinct = distinct_by_owner(sequences.items, owner, len(lengths))
    measured.distinct_in_sequences += int(distinct.sum())
    measured.reuse_in_sequences += float((lengths[lengths > 0] / distinct[lengths > 0]).sum())
    measured.dropped += sequences.dropped


def _in_batches(parts: Iterator[Sequences], measured: Measured) -> Iterator[Sequences]:
    """Pass sequences on, and count the distinct ids of every whole batch of them."""
    waiting: list[Sequences] = []
    for part in parts:
        yield part
        waiting.append(part)
        while sum(len(each.lengths) for each in waiting) >= measured.batch_sequences:
            items = np.concatenate([each.items for each in waiting])
            lengths = np.concatenate([each.lengths for each in waiting])
            batches = len(lengths) // measured.batch_sequences
            whole = batches * measured.batch_sequences
            lookups = int(lengths[:whole].sum())
            batch_of = np.repeat(np.arange(whole) // measured.batch_sequences, lengths[:whole])
            measured.batches += batches
            measured.batch_lookups += lookups
            measured.batch_distinct += int(distinct_by_owner(items[:lookups], batch_of, batches).sum())
            waiting = [Sequences(items[lookups:], lengths[whole:], np.zeros(len(lengths) - whole, np.bool_))]


def distinct_by_owner(items: UIntArray, owner: IntArray, owners: int) -> IntArray:
    """[owners] different items of each."""
    import pandas as pd  # its hash table numbers ids several times faster than sorting them does

    numbers, known = pd.factorize(items)
    pairs = np.sort(owner * len(known) + numbers)
    first = np.ones(len(pairs), np.bool_)
    first[1:] = pairs[1:] != pairs[:-1]
    return np.bincount(pairs[first] // max(1, len(known)), minlength=owners)
