"""Zipf-Mandelbrot popularity: row x = 1, 2, ... has weight (x + q)^-s, for any s >= 0.

Theory of operation. Weights of the first `HEAD_ROWS` rows are summed one by one. Beyond them the sum over a
run of rows follows Euler and Maclaurin to the third derivative,

    sum of f(x), a < x <= b  =  integral_a^b f  +  [f]/2  +  [f']/12  -  [f''']/720      ([g] = g(b) - g(a))

whose next term is below 1e-20 of f there. The integral is written with expm1, so that s = 1 is no special
case and neighbouring edges lose no digits. Weights are relative to the first row's, so no s overflows.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import HEADS, Blocks, Shares

HEAD_ROWS = 4_096


@dataclass(frozen=True)
class ZipfMandelbrot(Shares):
    """`row_count` rows with weights (x + q)^-s; s >= 0, q > -1."""

    row_count: int
    s: float
    q: float = 0.0

    @property
    def rows(self) -> int:
        return self.row_count

    def row_share(self, row: int) -> float:
        """Share of the row that has `row` hotter ones before it."""
        return float(self._weight(np.array(row + 1)) / self._total)

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows and then blocks about 2 % wide; kept, since batches ask again."""
        known = self._known_blocks.get(heads)
        if known is None:
            known = self._known_blocks[heads] = super().blocks(heads)
        return known

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        head = self._head_sums[np.minimum(stops, HEAD_ROWS)] - self._head_sums[np.minimum(starts, HEAD_ROWS)]
        single = stops - starts == 1  # told apart one by one: no digits lost to a difference of sums
        weight = np.where(single, self._weight(np.maximum(stops, 1)), head + self._tail(starts, stops))
        return weight / self._total

    def _weight(self, x: IntArray | FloatArray) -> FloatArray:
        return np.asarray(((x + self.q) / (1.0 + self.q)) ** -self.s)

    def _tail(self, starts: IntArray, stops: IntArray) -> FloatArray:
        """Weight of the part of rows [start, stop) that lies beyond the head."""
        a = np.maximum(starts, HEAD_ROWS) + self.q
        b = np.maximum(stops, HEAD_ROWS) + self.q
        return self._integral(a, b) + self._correction(b) - self._correction(a)

    def _integral(self, a: FloatArray, b: FloatArray) -> FloatArray:
        logarithm = np.log(b / a)
        power = 1.0 - self.s
        growth = logarithm if power == 0.0 else np.expm1(power * logarithm) / power
        return np.asarray((a / (1.0 + self.q)) ** -self.s * a * growth)

    def _correction(self, x: FloatArray) -> FloatArray:
        s = self.s
        terms = 0.5 - s / (12 * x) + s * (s + 1) * (s + 2) / (720 * x**3)
        return np.asarray((x / (1.0 + self.q)) ** -s * terms)

    @cached_property
    def _head_sums(self) -> FloatArray:
        """[HEAD_ROWS + 1] weights of the hottest 0, 1, 2, ... rows."""
        x = np.arange(1, HEAD_ROWS + 1, dtype=np.float64)
        return np.concatenate([[0.0], np.cumsum(self._weight(x))])

    @cached_property
    def _total(self) -> float:
        rows = np.int64(self.row_count)
        return float(self._head_sums[min(self.row_count, HEAD_ROWS)] + self._tail(np.int64(0), rows))  # type: ignore[arg-type]

    @cached_property
    def _known_blocks(self) -> dict[int, Blocks]:
        return {}
