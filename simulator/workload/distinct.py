"""How many different rows are hit: expected and drawn.

Theory of operation. Of k equally likely rows, c lookups leave each one unhit with probability (1 - 1/k)^c.
The number D of rows that are hit is the classical occupancy number, with

    mean      k (1 - a),                              a = (1 - 1/k)^c
    variance  k a (1 - a) + k (k - 1) a^2 expm1(c log1p(-1 / (k - 1)^2))

A draw is exact where min(k, c) <= 64: rows come one after another, each after a geometric number of lookups.
Beyond, where few lookups hit a row again the number of those that do is Poisson, where few rows stay unhit
that number is, and everything between is normal; each has the exact mean, the normal the exact variance too.
"""

import numpy as np
from numpy.typing import ArrayLike

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.workload.popularity.shares import Blocks

EXACT_UP_TO = 64
POISSON_BELOW = 30.0
CHUNK = 1 << 21


def expected_distinct(blocks: Blocks, lookups: ArrayLike) -> FloatArray:
    """Expected number of different rows among `lookups` lookups (any shape, whole or not); same shape."""
    counts = np.asarray(lookups, np.float64)
    rows = blocks.rows.astype(np.float64)
    with np.errstate(divide="ignore"):
        unhit = np.log1p(-np.minimum(blocks.shares / rows, 1.0))
    flat = counts.ravel()
    result = np.zeros_like(flat)
    at_once = max(1, CHUNK // len(rows))
    hit = np.flatnonzero(flat > 0)
    for first in range(0, len(hit), at_once):
        part = hit[first : first + at_once]
        result[part] = -np.expm1(np.multiply.outer(flat[part], unhit)) @ rows
    return result.reshape(counts.shape)


def occupancy_mean_variance(block_rows: ArrayLike, counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the number of different rows among `block_rows` after `counts` lookups."""
    k, c = np.broadcast_arrays(np.asarray(block_rows, np.float64), np.asarray(counts, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        unhit = np.where(c > 0, np.exp(c * np.log1p(-1.0 / k)), 1.0)
        mean = np.where(c > 0, -k * np.expm1(c * np.log1p(-1.0 / k)), 0.0)
        joint = np.expm1(c * np.log1p(-1.0 / (k - 1.0) ** 2))
        variance = k * unhit * (1.0 - unhit) + k * (k - 1.0) * unhit**2 * joint
    return mean, np.where((k > 1) & (c > 1), np.maximum(variance, 0.0), 0.0)


def draw_distinct(rng: np.random.Generator, *, block_rows: ArrayLike, counts: ArrayLike) -> IntArray:
    """Different rows among `block_rows` equally likely ones after `counts` lookups; shapes broadcast."""
    k, c = np.broadcast_arrays(np.asarray(block_rows, np.int64), np.asarray(counts, np.int64))
    most = np.minimum(k, c)
    distinct = most.copy()
    open_ = (most > 1) if most.ndim else np.atleast_1d(most > 1)
    distinct, k, c, most = (np.atleast_1d(array) for array in (distinct, k, c, most))
    small = open_ & (most <= EXACT_UP_TO)
    large = open_ & ~small
    distinct[small] = _draw_exact(rng, k[small], c[small])
    distinct[large] = _draw_large(rng, k[large], c[large])
    return distinct.reshape(np.broadcast_shapes(np.shape(block_rows), np.shape(counts)))


def _draw_exact(rng: np.random.Generator, k: IntArray, c: IntArray) -> IntArray:
    """The d-th new row after the first takes a geometric number of lookups with success (k - d) / k."""
    distinct = np.ones_like(k)
    used = np.ones_like(k)
    going = np.flatnonzero(distinct < np.minimum(k, c))
    while going.size:
        used[going] += rng.geometric((k[going] - distinct[going]) / k[going])
        going = going[used[going] <= c[going]]
        distinct[going] += 1
        going = going[distinct[going] < np.minimum(k, c)[going]]
    return distinct


def _draw_large(rng: np.random.Generator, k: IntArray, c: IntArray) -> IntArray:
    mean, variance = occupancy_mean_variance(k, c)
    again, unhit = np.maximum(c - mean, 0.0), np.maximum(k - mean, 0.0)
    few_again = again < POISSON_BELOW
    few_unhit = ~few_again & (unhit < POISSON_BELOW)
    normal = ~few_again & ~few_unhit
    distinct = np.empty_like(k)
    distinct[few_again] = c[few_again] - rng.poisson(again[few_again])
    distinct[few_unhit] = k[few_unhit] - rng.poisson(unhit[few_unhit])
    distinct[normal] = _draw_normal(rng, mean[normal], variance[normal], normal)
    return np.clip(distinct, 1, np.minimum(k, c))


def _draw_normal(rng: np.random.Generator, mean: FloatArray, variance: FloatArray, at: BoolArray) -> IntArray:
    value = rng.normal(mean, np.sqrt(variance))
    return np.floor(value + rng.random(value.shape)).astype(np.int64)  # rounded up or down without bias
