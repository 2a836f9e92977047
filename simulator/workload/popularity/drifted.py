"""What is replayed after some of the lookups have moved to other rows since the plan was made.

Theory of operation. A share of the lookups has left the rows that the planner saw and follows the same law
over rows in a new, random order: the new hot rows are as hot as the old ones were, times that share, and stand
anywhere among the table's rows. The hottest of them are placed one by one; the others are so many and so cool
that they count as spread evenly. Seen in the planned order, shares therefore go up and down.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import HEADS, Blocks, Popularity, Shares, block_edges
from simulator.workload.shuffle import permute

MOVED_HEADS = 32_768


@dataclass(frozen=True, eq=False)
class Drifted(Shares):
    """`share` of the lookups moved to rows in [0, among), in an order that `key` names; the rest follow `base`."""

    base: Popularity
    share: float
    among: int
    key: int

    @property
    def rows(self) -> int:
        return max(self.base.rows, self.among)

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows, half of them the hottest that moved, and blocks about 2 % wide."""
        edges = block_edges(self.rows, heads - heads // 2)
        moved = self._places_by_heat[: heads // 2]
        return self._cut(np.unique(np.concatenate([edges, moved, moved + 1])))

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        moved = self._moved_below(stops) - self._moved_below(starts)
        return (1.0 - self.share) * self.base.share_between(starts, stops) + self.share * moved

    def _moved_below(self, rows: IntArray) -> FloatArray:
        """Share of the moved lookups on rows before each of `rows`."""
        places, sums = self._heads
        heads = np.searchsorted(places, rows, side="left")
        others = max(1, self.among - len(places))
        return np.asarray(sums[heads] + (1.0 - sums[-1]) * (np.minimum(rows, self.among) - heads) / others)

    @cached_property
    def _places_by_heat(self) -> IntArray:
        """Where the hottest moved rows stand in the planned order."""
        count = min(MOVED_HEADS, self.base.rows, self.among)
        return permute(self.among, np.arange(count, dtype=np.int64), key=self.key)

    @cached_property
    def _heads(self) -> tuple[IntArray, FloatArray]:
        """[heads] places in ascending order, [heads + 1] sums of their shares of the moved lookups."""
        places = self._places_by_heat
        order = np.argsort(places)
        hottest = np.arange(len(places), dtype=np.int64)
        shares = self.base.share_between(hottest, hottest + 1)
        if len(places) == self.among:
            shares = shares / shares.sum()
        return places[order], np.concatenate([[0.0], np.cumsum(shares[order])])
