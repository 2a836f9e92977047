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

from simulator.arrays import BoolArray, FloatArray, IntArray

MOST_LOOKUPS = 1 << 52


def _numbers() -> IntArray:
    numbers = [0]
    while numbers[-1] <= MOST_LOOKUPS:
        numbers.append(max(numbers[-1] + 1, numbers[-1] * 5 // 4))
    return np.array(numbers, dtype=np.int64)


NUMBERS = _numbers()  # of lookups for which moments are worked out
SMALL = 1 << 16  # numbers of lookups below it are all listed, whether they occur or not


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

    def hit_by(self, lookups: int, at: IntArray | slice) -> FloatArray:
        """[5, ...] at some places: rows hit, their slope, their own part of the variance, sums of e o and of e o^2."""
        from simulator.traffic.occupancy_draws import sums_of_missed

        rows, log_missed, odds = self._rows[at], self._log_missed[at], self._odds[at]
        not_hit = np.expm1(lookups * log_missed)
        sums = np.empty((5, *not_hit.shape))
        sums_of_missed(
            rows.ravel(),
            log_missed.ravel(),
            odds.ravel(),
            not_hit.ravel(),
            float(lookups),
            lookups * (lookups - 1) / 2,
            sums.reshape(5, -1),
        )
        return sums

    @cached_property
    def _rows(self) -> FloatArray:
        return self.rows.astype(np.float64)

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
        from simulator.traffic.occupancy_draws import moments

        index, numbers = _different(lookups)
        interval, part = _intervals(numbers)
        row, curves = self._curves(index, interval)
        return moments(index, row, part, curves)

    def draw(self, rng: np.random.Generator, lookups: IntArray) -> IntArray:
        """Distinct rows hit by `lookups` [ranks, owners]: int64 of the same shape."""
        from simulator.traffic.occupancy_draws import drawn

        index, numbers = _different(lookups)
        interval, part = _intervals(numbers)
        row, curves = self._curves(index, interval)
        normal, uniform = rng.standard_normal(lookups.shape), rng.random(lookups.shape)
        return drawn(index, numbers, row, part, curves, self._rows, normal, uniform)

    @cached_property
    def _rows(self) -> IntArray:
        """[owners] rows that can be hit, a started one counted whole and one at the least."""
        hit = np.where(self.blocks.chance > 0, self.blocks.rows, 0.0).sum(axis=1)
        own = np.bincount(self.piece_owner, self.pieces.rows * (self.pieces.chance > 0), self.owners)
        rows: IntArray = np.maximum(np.ceil(np.round(hit + own, 6)), 1).astype(np.int64)
        return rows

    def _curves(self, index: IntArray, interval: IntArray) -> tuple[IntArray, FloatArray]:
        """[numbers] the row of each number's interval, and [rows, owners, 6] the coefficients there; of the numbers
        only those count that `index` [ranks, owners] points to."""
        from simulator.traffic.occupancy_draws import intervals_used

        used = intervals_used(index, interval, len(NUMBERS))
        needed = np.flatnonzero(used.any(axis=1))
        curves = np.empty((len(needed), self.owners, 6))
        for row, low in enumerate(needed.tolist()):
            ends = self._at(low, used[low]), self._at(low + 1, used[low])
            coefficients = _coefficients(*ends, int(NUMBERS[low + 1] - NUMBERS[low]))
            curves[row] = np.stack(coefficients, axis=1)
        return (np.cumsum(used.any(axis=1)) - 1)[interval], curves

    def _at(self, place: int, owners: BoolArray) -> Moments:
        """At one of `NUMBERS`, known at least for these owners."""
        if place not in self._known:
            self._known[place] = Moments(*np.full((3, self.owners), np.nan))
        known = self._known[place]
        missing = np.flatnonzero(owners & np.isnan(known.mean))
        if 2 * len(missing) > self.owners:
            self._known[place] = known = self._moments_of(int(NUMBERS[place]), np.arange(self.owners))
        elif len(missing):
            for all_of_it, found in zip(known, self._moments_of(int(NUMBERS[place]), missing), strict=True):
                all_of_it[missing] = found
        return known

    def _moments_of(self, lookups: int, owners: IntArray) -> Moments:
        """[owners] of those that are asked for, ascending."""
        count = len(owners)
        if lookups < 2:
            return Moments(np.full(count, float(lookups)), np.zeros(count), np.zeros(count))
        pieces, place, blocks = self._owned_by(owners)
        hit, slope, own, first, second = (
            np.bincount(place, piece, count) + block.sum(axis=1)
            for piece, block in zip(
                self.pieces.hit_by(lookups, pieces), self.blocks.hit_by(lookups, blocks), strict=True
            )
        )
        variance = own - lookups * first**2 + lookups * (lookups - 1) / 2 * second**2
        return Moments(hit, slope, np.maximum(variance, 0.0))

    def _owned_by(self, owners: IntArray) -> tuple[IntArray | slice, IntArray, IntArray | slice]:
        """Where the pieces of some owners are, whose each is (a place in `owners`), and where their blocks are."""
        if len(owners) == self.owners:
            return slice(None), self.piece_owner, slice(None)
        starts = np.searchsorted(self.piece_owner, owners, side="left")
        counts = np.searchsorted(self.piece_owner, owners, side="right") - starts
        place = np.repeat(np.arange(len(owners)), counts)
        offsets = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        return starts[place] + offsets, place, owners


def _different(lookups: IntArray) -> tuple[IntArray, IntArray]:
    """Where each number of lookups stands in a list, and the list, which may have others as well."""
    values = int(lookups.max(initial=0)) + 1
    if values <= max(SMALL, lookups.size):
        return lookups, np.arange(values)
    numbers, index = np.unique(lookups, return_inverse=True)
    return index.reshape(lookups.shape), numbers


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
