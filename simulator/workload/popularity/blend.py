"""Two popularities over the same rows in the same order, in a given proportion: half way from one epoch to the next."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import HEADS, Blocks, Popularity, Shares


@dataclass(frozen=True, eq=False)
class Blend(Shares):
    """`share` of the lookups follow `later`, the others `earlier`. Rows stand in the earlier one's order of heat."""

    earlier: Popularity
    later: Popularity
    share: float

    @property
    def rows(self) -> int:
        return max(self.earlier.rows, self.later.rows)

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows, half of them those of either, and blocks about 2 % wide at the most."""
        both = [part.blocks(heads // 2).edges for part in (self.earlier, self.later)]
        return self._cut(np.union1d(*both))

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        earlier, later = (part.share_between(starts, stops) for part in (self.earlier, self.later))
        return (1.0 - self.share) * earlier + self.share * later
