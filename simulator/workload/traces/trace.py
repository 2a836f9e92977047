"""A trace as a table needs it: how often each id is looked up, and how long the sequences are."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.lengths import LengthDistribution, empirical
from simulator.workload.popularity.runs import Runs, from_counts, in_order
from simulator.workload.shuffle import splitmix64
from simulator.workload.traces.counts import IdCounts
from simulator.workload.traces.sequences import read_sequences
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.tokens import UIntArray


@dataclass(frozen=True, eq=False)
class Trace:
    """What one pass over a trace leaves; memory follows the number of different ids."""

    ids: UIntArray  # [touched] ascending
    counts: IntArray  # [touched] lookups of each id
    length_counts: IntArray  # [longest + 1] sequences of each length
    dropped: int
    wrapped: int

    @property
    def popularity(self) -> Runs:
        """Exact shares, hottest first."""
        return from_counts(self.counts)

    @property
    def lengths(self) -> LengthDistribution:
        return empirical(np.arange(len(self.length_counts)), self.length_counts)


def read_trace(source: TraceSource) -> Trace:
    """Count a trace; UserError for what its format does not allow or a trace without lookups."""
    ids, lengths = IdCounts(), np.zeros(1, np.int64)
    dropped = wrapped = 0
    for sequences in read_sequences(source):
        ids.add(sequences.items)
        lengths = add_counts(lengths, np.bincount(sequences.lengths, minlength=1))
        dropped, wrapped = dropped + sequences.dropped, wrapped + sequences.wrapped
    if not len(ids.ids):
        raise source.error(None, "there is no lookup in the trace")
    return Trace(ids.ids, ids.counts[0], lengths, dropped, wrapped)


def add_counts(left: IntArray, right: IntArray) -> IntArray:
    """The sum of two histograms, as long as the longer one."""
    total = np.zeros(max(len(left), len(right)), np.int64)
    total[: len(left)] += left
    total[: len(right)] += right
    return total


def replayed_in_planned_order(planned: Trace, replayed: Trace) -> Runs:
    """Shares of the replayed trace over rows in the planned trace's order of heat.

    Ids that the planned trace never has follow its last one. Equal counts, and those ids, are in an order that
    knows nothing of the replayed trace: by a hash of the id.
    """
    ids = np.union1d(planned.ids, replayed.ids)
    planned_counts, replayed_counts = _spread(planned, ids), _spread(replayed, ids)
    order = np.lexsort((splitmix64(ids), -planned_counts))
    counts = replayed_counts[order]
    return in_order(counts[: int(np.flatnonzero(counts)[-1]) + 1])


def _spread(trace: Trace, ids: UIntArray) -> IntArray:
    counts = np.zeros(len(ids), np.int64)
    counts[np.searchsorted(ids, trace.ids)] = trace.counts
    return counts
