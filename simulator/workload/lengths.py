"""Sequence lengths: how many lookups one sample makes in one table.

Theory of operation. A length is an integer, so every kind is a list of lengths with probabilities. A
lognormal is rounded to whole lookups and clipped: what lies below `min` counts as `min`, what lies above
`max` as `max` (truncated histories). Its `mean` is the mean of the lengths that come out, after clipping:
that is what a user can count in a trace and what the traffic is proportional to; the location is solved for
it. `sigma` is the standard deviation of the logarithm before clipping.

The sum over a rank's samples is drawn exactly: sample by sample with Walker's alias method, or, when there
are more samples than lengths, by the multinomial numbers of samples of each length.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from math import erf, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from simulator.arrays import FloatArray, IntArray
from simulator.errors import UserError

MAX_LENGTH = 1_000_000
CHUNK_DRAWS = 1 << 20


@dataclass(frozen=True, eq=False)
class LengthDraw:
    """Sums over samples. Both arrays are [ranks]."""

    lookups: IntArray
    nonempty_samples: IntArray


@dataclass(frozen=True, eq=False)
class LengthDistribution:
    """Lengths in ascending order and the probability of each."""

    lengths: IntArray
    probabilities: FloatArray

    @property
    def mean(self) -> float:
        """The exact expected length."""
        return float(self.lengths @ self.probabilities)

    @property
    def max(self) -> int:
        return int(self.lengths[-1])

    def draw(self, rng: np.random.Generator, samples: int) -> IntArray:
        """[samples] lengths, by the alias method."""
        if len(self.lengths) == 1:
            return np.full(samples, self.lengths[0])
        place = rng.random(samples) * len(self.lengths)
        column = place.astype(np.int64)
        threshold, alias = self._alias
        return self.lengths[np.where(place - column < threshold[column], column, alias[column])]

    def draw_sums(self, rng: np.random.Generator, samples: IntArray) -> LengthDraw:
        """The summed lengths of `samples[k]` sequences, for each k."""
        if len(self.lengths) == 1:
            return LengthDraw(samples * self.lengths[0], samples * int(self.lengths[0] > 0))
        if samples.max(initial=0) > len(self.lengths):
            return self._sums_by_counts(rng, samples)
        return self._sums_by_samples(rng, samples)

    def _sums_by_counts(self, rng: np.random.Generator, samples: IntArray) -> LengthDraw:
        lookups, nonempty = np.empty_like(samples), np.empty_like(samples)
        at_once = max(1, CHUNK_DRAWS // len(self.lengths))
        for first in range(0, len(samples), at_once):
            part = slice(first, first + at_once)
            counts = rng.multinomial(samples[part], self.probabilities)
            lookups[part] = counts @ self.lengths
            nonempty[part] = counts @ (self.lengths > 0)
        return LengthDraw(lookups, nonempty)

    def _sums_by_samples(self, rng: np.random.Generator, samples: IntArray) -> LengthDraw:
        lookups, nonempty = np.zeros_like(samples), np.zeros_like(samples)
        at_once = max(1, CHUNK_DRAWS // max(1, int(samples.max(initial=0))))
        for first in range(0, len(samples), at_once):
            part = slice(first, first + at_once)
            lengths = self.draw(rng, int(samples[part].sum()))
            lookups[part] = sums_by_rank(lengths, samples[part])
            nonempty[part] = sums_by_rank((lengths > 0).astype(np.int64), samples[part])
        return LengthDraw(lookups, nonempty)

    @cached_property
    def _alias(self) -> tuple[FloatArray, IntArray]:
        """Walker's table as Vose builds it: column i is i below threshold[i] and alias[i] above."""
        size = len(self.lengths)
        threshold = self.probabilities * size
        alias = np.arange(size)
        small = [i for i in range(size) if threshold[i] < 1.0]
        large = [i for i in range(size) if threshold[i] >= 1.0]
        while small and large:
            low, high = small.pop(), large[-1]
            alias[low] = high
            threshold[high] -= 1.0 - threshold[low]
            if threshold[high] < 1.0:
                small.append(large.pop())
        threshold[small + large] = 1.0
        return threshold, alias


def sums_by_rank(values: IntArray, samples: IntArray) -> IntArray:
    """Sums of consecutive runs of `values`, `samples[k]` long each."""
    ends = np.cumsum(samples)
    running = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.asarray(running[ends] - running[ends - samples])


def fixed(length: int) -> LengthDistribution:
    """Every sequence has `length` lookups (0 is allowed)."""
    return LengthDistribution(np.array([length], np.int64), np.ones(1))


def empirical(lengths: ArrayLike, weights: ArrayLike) -> LengthDistribution:
    """Lengths as often as their weights say; equal lengths are merged, weights need not sum to 1."""
    values, place = np.unique(np.asarray(lengths, np.int64), return_inverse=True)
    weight = np.bincount(place, weights=np.asarray(weights, np.float64))
    return LengthDistribution(values[weight > 0], weight[weight > 0] / weight.sum())


def lognormal(*, mean: float, sigma: float, min: int = 1, max: int) -> LengthDistribution:
    """Lognormal lengths, rounded and clipped to [min, max], whose mean after that is `mean`."""
    if max > MAX_LENGTH:
        raise UserError(f"length: max is {max}, allowed are at most {MAX_LENGTH}")
    if not min < mean < max:
        raise UserError(
            f"length: mean {mean:g} must lie between min {min} and max {max}, which clip the lengths"
        )
    lengths = np.arange(min, max + 1, dtype=np.int64)
    edges = np.log(lengths[1:] - 0.5)
    mu = _solve_mu(mean, sigma, edges, min)
    below = _normal_cdf((edges - mu) / sigma)
    probabilities = np.diff(np.concatenate([[0.0], below, [1.0]]))
    likely = probabilities > 0
    return LengthDistribution(lengths[likely], probabilities[likely] / probabilities.sum())


def _solve_mu(mean: float, sigma: float, edges: FloatArray, min: int) -> float:
    """The location at which the clipped mean, min + sum of P(length > k), is `mean`, by bracketed Newton."""
    low, high = edges[0] - 40.0 * sigma - 1.0, edges[-1] + 40.0 * sigma + 1.0
    mu = log(mean) - 0.5 * sigma**2
    for _ in range(100):
        z = (mu - edges) / sigma
        excess = min + float(_normal_cdf(z).sum()) - mean
        if abs(excess) <= 1e-13 * mean:
            break
        low, high = (low, mu) if excess > 0.0 else (mu, high)
        slope = float(np.exp(-0.5 * z**2).sum()) / (sigma * sqrt(2.0 * pi))
        step = mu - excess / slope if slope > 0.0 else low
        mu = step if low < step < high else 0.5 * (low + high)
    return mu


def _normal_cdf(z: FloatArray) -> FloatArray:
    """To 1e-15: cubic Hermite between the nodes of a table, whose error is step^4 / 384 of the fourth derivative."""
    nodes, values = _normal_table()
    step = float(nodes[1] - nodes[0])
    inside = np.clip(z, nodes[0], nodes[-1])
    place = np.minimum(((inside - nodes[0]) / step).astype(np.int64), len(nodes) - 2)
    t = (inside - nodes[place]) / step
    slope = step * np.exp(-0.5 * nodes**2) / sqrt(2.0 * pi)
    rise = values[place + 1] - values[place]
    bend = (slope[place] - rise) * (1.0 - t) - (slope[place + 1] - rise) * t
    return np.asarray(values[place] + t * (rise + (1.0 - t) * bend))


@cache
def _normal_table() -> tuple[FloatArray, FloatArray]:
    nodes = np.linspace(-9.0, 9.0, 1 << 16)
    return nodes, np.array([0.5 + 0.5 * erf(node / sqrt(2.0)) for node in nodes])
