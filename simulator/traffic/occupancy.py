"""How many different rows of an owner some lookups hit: mean, variance, and a draw.

Theory of operation. Each of n lookups hits row i of an owner with chance q_i, independently. Row i is missed by
all of them with probability e_i = (1 - q_i)^n. Rows i and j are both missed with (1 - q_i - q_j)^n, which is
e_i e_j (1 - o_i o_j)^n with the odds o = q / (1 - q). So the number of rows hit has

    mean      sum 1 - e_i
    variance  sum e_i (1 - e_i)  +  sum over i != j of e_i e_j (- n o_i o_j  +  n (n - 1) / 2 (o_i o_j)^2)

to second order in o_i o_j (exact for 2 lookups), each double sum being a square less its diagonal. Both are
worked out for numbers of lookups a quarter apart (for each number up to 8) and kept. Between them the mean
follows the cubic with its values and slopes at both ends, less than 1e-4 off, and the variance a straight line.

A draw is normal with this mean and variance, rounded up or down without bias, and never more than the lookups
or the rows, nor 0 where there are lookups. So it is exact where all lookups hit one row, where all hit
different ones, where all rows are hit, and in the mean but for what is cut off at the ends of a handful.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simulator.arrays import FloatArray, IntArray

ROUNDING_VARIANCE = 1 / 6  # what rounding up or down without bias adds to a wide distribution
NARROW_VARIANCE = 1 / 4  # below it two whole numbers next to the mean are all that comes

MOST_LOOKUPS = 1 << 52


def _numbers() -> IntArray:
    numbers = [0]
    while numbers[-1] <= MOST_LOOKUPS:
        numbers.append(max(numbers[-1] + 1, numbers[-1] * 5 // 4))
    return np.array(numbers, dtype=np.int64)


NUMBERS = _numbers()  # of lookups for which moments are worked out


class Moments(NamedTuple):
    """Of the rows hit at one number of lookups; all are [owners]."""

    mean: FloatArray
    slope: FloatArray  # of the mean, a lookup
    variance: FloatArray


@dataclass(frozen=True, eq=False)
class Chances:
    """Rows that are equally likely, by place: how many, and the chance that a lookup hits one. Equal shapes."""

    rows: IntArray | FloatArray
    chance: FloatArray

    def hit_by(self, lookups: int) -> tuple[FloatArray, ...]:
        """By place: rows hit, their slope, their own part of the variance, sums of e o and of e o^2."""
        hit = -np.expm1(lookups * self._log_missed)
        missed = 1.0 - hit
        first = missed * self._odds
        second = first * self._odds
        own = hit * missed + lookups * first**2 - lookups * (lookups - 1) / 2 * second**2
        return tuple(self.rows * each for each in (hit, -self._log_missed * missed, own, first, second))

    @cached_property
    def _log_missed(self) -> FloatArray:
        """log(1 - q); of a sure hit a number that is finite and low enough."""
        return np.log1p(-np.minimum(self.chance, np.nextafter(1.0, 0.0)))

    @cached_property
    def _odds(self) -> FloatArray:
        """q / (1 - q); 0 for a sure hit, which is never missed by the other lookups."""
        unsure = self.chance < 1.0
        return np.where(unsure, self.chance, 0.0) / np.where(unsure, 1.0 - self.chance, 1.0)


@dataclass(frozen=True, eq=False)
class Occupancy:
    """The rows of each owner: pieces that it has to itself, and blocks of which each owner has some rows."""

    piece_owner: IntArray  # [pieces] ascending
    pieces: Chances  # [pieces]
    blocks: Chances  # [owners, blocks]; expected rows, not whole
    _known: dict[int, Moments] = field(default_factory=dict)

    @property
    def owners(self) -> int:
        return len(self.blocks.rows)

    def moments(self, lookups: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the distinct rows hit by `lookups` [ranks, owners], each of the same shape."""
        values = int(lookups.max(initial=0)) + 1
        if values < lookups.size:  # work each value out once
            interval, part = _intervals(np.arange(values))
            return self._between(interval[lookups], part[lookups])
        return self._between(*_intervals(lookups))

    def draw(self, rng: np.random.Generator, lookups: IntArray) -> IntArray:
        """Distinct rows hit by `lookups` [ranks, owners]: int64 of the same shape."""
        mean, variance = self.moments(lookups)
        over = mean - np.floor(mean)
        rounding = np.where(variance < NARROW_VARIANCE, over * (1.0 - over), ROUNDING_VARIANCE)
        spread = np.sqrt(np.maximum(variance - rounding, 0.0))
        value = mean + spread * rng.standard_normal(mean.shape) + rng.random(mean.shape)
        most = np.minimum(lookups, self._rows)
        drawn: IntArray = np.clip(np.floor(value).astype(np.int64), np.minimum(most, 1), most)
        return drawn

    @cached_property
    def _rows(self) -> IntArray:
        """[owners] rows that can be hit, a started one counted whole and one at the least."""
        hit = np.where(self.blocks.chance > 0, self.blocks.rows, 0.0).sum(axis=1)
        own = np.bincount(self.piece_owner, self.pieces.rows * (self.pieces.chance > 0), self.owners)
        rows: IntArray = np.maximum(np.ceil(np.round(hit + own, 6)), 1).astype(np.int64)
        return rows

    def _between(self, interval: IntArray, part: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at a part of an interval of `NUMBERS`, each [ranks, owners]."""
        used = np.bincount(interval.ravel(), minlength=1) > 0
        needed, row_of = np.flatnonzero(used), np.cumsum(used) - 1
        at = (row_of[interval] * self.owners + np.arange(self.owners)).ravel()
        ends = [
            (self._at(low), self._at(low + 1), int(NUMBERS[low + 1] - NUMBERS[low]))
            for low in needed.tolist()
        ]
        one, two, three, four, first, rise = (
            np.stack(each).ravel()[at].reshape(interval.shape)
            for each in zip(*(_coefficients(*end) for end in ends), strict=True)
        )
        return one + part * (two + part * (three + part * four)), first + part * rise

    def _at(self, place: int) -> Moments:
        if place not in self._known:
            self._known[place] = self._moments_of(int(NUMBERS[place]))
        return self._known[place]

    def _moments_of(self, lookups: int) -> Moments:
        if lookups < 2:
            return Moments(np.full(self.owners, float(lookups)), np.zeros(self.owners), np.zeros(self.owners))
        hit, slope, own, first, second = (
            np.bincount(self.piece_owner, piece, self.owners) + block.sum(axis=1)
            for piece, block in zip(self.pieces.hit_by(lookups), self.blocks.hit_by(lookups), strict=True)
        )
        variance = own - lookups * first**2 + lookups * (lookups - 1) / 2 * second**2
        return Moments(hit, slope, np.maximum(variance, 0.0))


def _intervals(lookups: IntArray) -> tuple[IntArray, FloatArray]:
    """The interval of `NUMBERS` that each number lies in, and how far along."""
    low = np.searchsorted(NUMBERS, lookups, side="right") - 1
    return low, (lookups - NUMBERS[low]) / (NUMBERS[low + 1] - NUMBERS[low])


def _coefficients(low: Moments, high: Moments, width: int) -> tuple[FloatArray, ...]:
    """Of the cubic through two means with their slopes, then of the line through two variances.

    An interval of one lookup has no inside, and its slopes may be infinite.
    """
    inside = width > 1
    rise = high.mean - low.mean
    begin, end = (width * slope if inside else 0.0 * rise for slope in (low.slope, high.slope))
    second = 3 * rise - 2 * begin - end if inside else 0.0 * rise
    third = begin + end - 2 * rise if inside else 0.0 * rise
    return low.mean, begin, second, third, low.variance, high.variance - low.variance
