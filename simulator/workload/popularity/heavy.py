"""A few named rows with given shares, the heavy hitters, on top of a Zipf-Mandelbrot tail.

Theory of operation. The hitters hold their own shares of the lookups; what is left follows the tail's law over
the other rows. Rows stay in order of heat: a hitter stands behind the tail's rows that are hotter than it, so
a weak hitter is not mistaken for the hottest row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import Shares
from simulator.workload.popularity.zipf import ZipfMandelbrot


@dataclass(frozen=True)
class HeavyHitters(Shares):
    """`hitters`: shares of all lookups, in descending order, with a sum below 1."""

    hitters: tuple[float, ...]
    tail: ZipfMandelbrot

    @property
    def rows(self) -> int:
        return self.tail.rows + len(self.hitters)

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        first, last = self._hitters_before(starts), self._hitters_before(stops)
        tail = self.tail.share_between(starts - first, stops - last)
        return self._hitter_sums[last] - self._hitter_sums[first] + self._tail_share * tail

    def _hitters_before(self, rows: IntArray) -> IntArray:
        return np.searchsorted(self._places, rows, side="left")

    @cached_property
    def _tail_share(self) -> float:
        return 1.0 - float(self._hitter_sums[-1])

    @cached_property
    def _hitter_sums(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self.hitters)])

    @cached_property
    def _places(self) -> IntArray:
        """[hitters] the row, in popularity order, at which each hitter stands: behind the tail's hotter rows."""
        shares = np.array(self.hitters)
        low = np.zeros(len(shares), np.int64)
        high = np.full(len(shares), self.tail.rows)
        while (low < high).any():
            middle = low + (high - low) // 2
            hotter = self._tail_share * self.tail.share_between(middle, middle + 1) > shares
            low = np.where(hotter & (low < high), middle + 1, low)
            high = np.where(hotter, high, middle)
        return low + np.arange(len(shares))
