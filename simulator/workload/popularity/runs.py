"""Popularity as measured: runs of rows hit equally often.

Theory of operation. A trace hits few rows often and very many rows once or twice, so rows of equal count are
kept as one run: memory follows the number of different counts, not of rows. In another trace's order of rows
(drift) counts go up and down, and neighbours of equal count still share a run.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import HEADS, Blocks, Shares, block_edges


@dataclass(frozen=True, eq=False)
class Runs(Shares):
    """Rows [edges[k], edges[k + 1]) are equally popular and hold `shares[k]` together; shares sum to 1."""

    edges: IntArray  # [runs + 1]
    shares: FloatArray  # [runs]

    @property
    def rows(self) -> int:
        return int(self.edges[-1])

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows and then blocks about 2 % wide.

        Where later rows are hotter than earlier ones, half of the single rows are the hottest of all.
        """
        if not self._rises:
            return super().blocks(heads)
        edges = block_edges(self.rows, heads - heads // 2)
        hottest = self._hottest_rows(heads // 2)
        return self._cut(np.unique(np.concatenate([edges, hottest, hottest + 1])))

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        first, last = self._run_of(starts), self._run_of(np.maximum(stops - 1, starts))
        within = (stops - starts) * self._row_shares[first]
        return np.where(first == last, within, self._sum_below(stops, last) - self._sum_below(starts, first))

    def _run_of(self, rows: IntArray) -> IntArray:
        return np.minimum(np.searchsorted(self.edges, rows, side="right") - 1, len(self.shares) - 1)

    def _sum_below(self, rows: IntArray, run: IntArray) -> FloatArray:
        return np.asarray(self._sums[run] + (rows - self.edges[run]) * self._row_shares[run])

    def _hottest_rows(self, count: int) -> IntArray:
        """First rows of the hottest runs, whole runs of one row each."""
        single = np.flatnonzero(np.diff(self.edges) == 1)
        order = np.argsort(-self._row_shares[single], kind="stable")
        return self.edges[single[order[:count]]]

    @cached_property
    def _rises(self) -> bool:
        return bool((np.diff(self._row_shares) > 0).any())

    @cached_property
    def _row_shares(self) -> FloatArray:
        return self.shares / np.diff(self.edges)

    @cached_property
    def _sums(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self.shares)])


def from_counts(counts: IntArray) -> Runs:
    """Popularity of rows hit `counts` times (any order, all positive), hottest first."""
    hits, rows = np.unique(counts, return_counts=True)
    edges = np.concatenate([[0], np.cumsum(rows[::-1])])
    return Runs(edges, (hits * rows)[::-1] / counts.sum())


def in_order(counts: IntArray) -> Runs:
    """Popularity of rows hit `counts` times (zeros too), in the order given."""
    starts = np.flatnonzero(np.diff(counts, prepend=-1))
    edges = np.append(starts, len(counts)).astype(np.int64)
    return Runs(edges, counts[starts] * np.diff(edges) / counts.sum())
