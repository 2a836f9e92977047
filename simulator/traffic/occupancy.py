"""How many different rows of an owner some lookups hit: mean, variance, and a draw.

Theory of operation. Each of n lookups hits row i of an owner with chance q_i, independently. Row i is missed by
all of them with probability e_i = (1 - q_i)^n, so the number of rows hit has

    mean      sum 1 - e_i
    variance  sum e_i (1 - e_i)  -  n (sum q_i (1 - q_i)^(n-1))^2          (to first order in q_i q_j)

the second term for the lookups being shared out among the rows. Both are kept for numbers of lookups 5 % apart
(every number where that is less than one) and read between by a straight line, which is 0.0001 off at the most.
A draw is normal with this mean and variance, rounded up or down without bias, and never more than the lookups
or the rows, nor 0 where there are lookups. So it is exact where all lookups hit one row, where all hit
different ones, where all rows are hit, and in the mean everywhere.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray

ROUNDING_VARIANCE = 1 / 6  # what rounding up or down without bias adds to a wide distribution


def _number_grid() -> IntArray:
    numbers = [1]
    while numbers[-1] < 1 << 50:
        numbers.append(max(numbers[-1] + 1, numbers[-1] * 21 // 20))
    return np.array(numbers, dtype=np.int64)


GRID = _number_grid()


@dataclass(frozen=True, eq=False)
class Occupancy:
    """The rows of each owner and the chances that a lookup of that owner hits them.

    Pieces (rows of one owner) and blocks (of which each owner has some rows) hold equally likely rows; a chance
    is that of one row. Moments are worked out when first asked for and kept.
    """

    piece_owner: IntArray  # [pieces] ascending
    piece_rows: IntArray  # [pieces]
    piece_chance: FloatArray  # [pieces]
    block_rows: FloatArray  # [owners, blocks] expected rows, not whole
    block_chance: FloatArray  # [owners, blocks]
    _known: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def owners(self) -> int:
        return len(self.block_rows)

    def moments(self, lookups: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the distinct rows hit by `lookups` [ranks, owners] lookups, alike in shape."""
        place = np.maximum(np.searchsorted(GRID, lookups, side="right") - 1, 0)
        needed = np.unique(place)
        needed = np.union1d(needed, needed + 1)
        means, variances = (np.array(each) for each in zip(*(self._at(int(p)) for p in needed), strict=True))
        low, owner = np.searchsorted(needed, place), np.arange(self.owners)
        part = np.clip((lookups - GRID[place]) / (GRID[place + 1] - GRID[place]), 0.0, 1.0)
        mean = means[low, owner] + part * (means[low + 1, owner] - means[low, owner])
        variance = variances[low, owner] + part * (variances[low + 1, owner] - variances[low, owner])
        return np.where(lookups > 0, mean, 0.0), np.where(lookups > 0, variance, 0.0)

    def draw(self, rng: np.random.Generator, lookups: IntArray) -> IntArray:
        """Distinct rows hit by `lookups` [ranks, owners]: int64 of the same shape."""
        mean, variance = self.moments(lookups)
        spread = np.sqrt(np.maximum(variance - ROUNDING_VARIANCE, 0.0))
        value = mean + spread * rng.standard_normal(mean.shape) + rng.random(mean.shape)
        most = np.minimum(lookups, self._rows)
        drawn: IntArray = np.clip(np.floor(value).astype(np.int64), np.minimum(most, 1), most)
        return drawn

    @cached_property
    def _rows(self) -> IntArray:
        """[owners] rows that can be hit, a started one counted whole and one at the least."""
        hit = np.where(self.block_chance > 0, self.block_rows, 0.0).sum(axis=1)
        own = np.bincount(self.piece_owner, self.piece_rows * (self.piece_chance > 0), self.owners)
        rows: IntArray = np.maximum(np.ceil(np.round(hit + own, 6)), 1).astype(np.int64)
        return rows

    def _at(self, place: int) -> tuple[FloatArray, FloatArray]:
        """[owners] mean and variance at the grid's number of lookups."""
        if place not in self._known:
            self._known[place] = self._moments_of(int(GRID[place]))
        return self._known[place]

    def _moments_of(self, lookups: int) -> tuple[FloatArray, FloatArray]:
        if lookups == 1:
            return np.ones(self.owners), np.zeros(self.owners)
        own = _terms(self.piece_rows, self.piece_chance, lookups)
        of_blocks = _terms(self.block_rows, self.block_chance, lookups)
        hit, unsure, once = (
            np.bincount(self.piece_owner, piece, self.owners) + block.sum(axis=1)
            for piece, block in zip(own, of_blocks, strict=True)
        )
        return hit, np.maximum(unsure - lookups * once**2, 0.0)


def _terms(
    rows: IntArray | FloatArray, chance: FloatArray, lookups: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Per piece: the rows hit, the sum of e (1 - e), and the chance to hit a row that no other lookup hits."""
    with np.errstate(divide="ignore"):
        log_missed = np.log1p(-np.minimum(chance, 1.0))
    missed_by_others = np.exp((lookups - 1) * log_missed)
    hit = -np.expm1(lookups * log_missed)
    return rows * hit, rows * hit * (1.0 - hit), rows * chance * missed_by_others
