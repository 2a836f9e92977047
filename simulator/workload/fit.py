"""Laws fitted to measured popularity and lengths.

Theory of operation. Both fits are maximum likelihood in the model that the simulator draws from, so a fitted
workload is the likeliest of its kind to have made the data. Popularity: shares of blocks of rows against those
of a finite Zipf(-Mandelbrot) law over as many rows; for given q the likelihood is concave in s, and both are
found by golden section. Lengths: the clipped, rounded lognormal with the measured mean, least and greatest
length; only sigma is free. Ranks come from the same counts that are fitted, which makes rare rows look a little
more unequal than they are; with many lookups a row it does not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import expm1, inf, log1p, sqrt

import numpy as np

from simulator.arrays import FloatArray
from simulator.workload.distinct import expected_distinct
from simulator.workload.lengths import LengthDistribution, lognormal
from simulator.workload.popularity.shares import Blocks, Popularity
from simulator.workload.popularity.zipf import ZipfMandelbrot

FIT_HEADS = 1_024
MAX_EXPONENT = 6.0
MAX_OFFSET = 1e6


@dataclass(frozen=True)
class LengthFit:
    """The likeliest lognormal, and how far its distribution function is from the measured one at most."""

    sigma: float
    distance: float  # Kolmogorov-Smirnov


def fit_zipf(popularity: Popularity) -> ZipfMandelbrot:
    """The likeliest finite Zipf law (q = 0) over the same rows."""
    return _fit_exponent(popularity.blocks(FIT_HEADS), popularity.rows, 0.0)


def fit_zipf_mandelbrot(popularity: Popularity) -> ZipfMandelbrot:
    """The likeliest finite Zipf-Mandelbrot law over the same rows, 0 <= q <= 1e6."""
    blocks, rows = popularity.blocks(FIT_HEADS), popularity.rows

    def loss(log_q: float) -> float:
        return _surprise(_fit_exponent(blocks, rows, expm1(log_q)), blocks)

    log_q = golden_section(loss, 0.0, log1p(MAX_OFFSET), tolerance=1e-4)
    flattened = _fit_exponent(blocks, rows, expm1(log_q))
    plain = _fit_exponent(blocks, rows, 0.0)
    return flattened if _surprise(flattened, blocks) < _surprise(plain, blocks) else plain


def _fit_exponent(blocks: Blocks, rows: int, q: float) -> ZipfMandelbrot:
    def loss(s: float) -> float:
        return _surprise(ZipfMandelbrot(rows, s, q), blocks)

    return ZipfMandelbrot(rows, golden_section(loss, 0.0, MAX_EXPONENT, tolerance=1e-5), q)


def _surprise(law: ZipfMandelbrot, blocks: Blocks) -> float:
    """Mean negative log-likelihood of a lookup's block."""
    shares = law.share_between(blocks.edges[:-1], blocks.edges[1:])
    seen = blocks.shares > 0
    return -float(blocks.shares[seen] @ np.log(np.maximum(shares[seen], 1e-300)))


def fit_lognormal(lengths: LengthDistribution) -> LengthFit | None:
    """The lognormal with the same mean and range; None where lengths hardly vary."""
    least, most = int(lengths.lengths[0]), lengths.max
    if not least < lengths.mean < most or most - least < 2:
        return None
    measured = np.zeros(most + 1 - least)
    measured[lengths.lengths - least] = lengths.probabilities

    def fitted(sigma: float) -> FloatArray:
        law = lognormal(mean=lengths.mean, sigma=sigma, min=least, max=most)
        probabilities = np.zeros_like(measured)
        probabilities[law.lengths - least] = law.probabilities
        return probabilities

    def loss(sigma: float) -> float:
        return -float(measured @ np.log(np.maximum(fitted(sigma), 1e-300)))

    sigma = golden_section(loss, 0.02, 5.0, tolerance=1e-4)
    distance = np.abs(np.cumsum(fitted(sigma)) - np.cumsum(measured)).max()
    return LengthFit(sigma, float(distance))


def fit_repeats(popularity: Popularity, lengths: LengthDistribution, distinct_per_sequence: float) -> float:
    """Share of a sequence's later lookups that repeat one of its ids, beyond what popularity makes by chance.

    With n fresh lookups, n = 1 + (length - 1)(1 - share), a sequence has the expected distinct rows of n
    independent lookups; the share is the one whose mean over all lengths is `distinct_per_sequence`.
    """
    grid = np.unique(np.round(np.geomspace(1, max(lengths.max, 2), 400)))
    distinct = expected_distinct(popularity.blocks(FIT_HEADS), grid)
    nonempty = lengths.lengths > 0
    sizes, weights = lengths.lengths[nonempty], lengths.probabilities[nonempty]
    low, high = 0.0, 1.0
    for _ in range(50):
        share = 0.5 * (low + high)
        fresh = 1.0 + (sizes - 1.0) * (1.0 - share)
        expected = float(weights @ np.interp(fresh, grid, distinct))
        low, high = (share, high) if expected > distinct_per_sequence else (low, share)
    return low


def golden_section(loss: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """The place of the least loss between low and high, where it falls and then rises."""
    ratio = (sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    best = (inf, low)
    while high - low > tolerance:
        best = min(best, (at_left, left), (at_right, right))
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    return min(best, (loss(low), low), (loss(high), high))[1]
