"""The compiled loops of `occupancy`: from curves of the moments to their values and draws.

Numbers of lookups come as an index into the different numbers that there are: of each, `interval` is the interval that
it lies in, `row` where the interval stands in `curves`, and `part` how far along it is. The last axis of `curves` has
the coefficients of the mean's cubic and of the variance's line.
"""

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.compiled import compiled_in_order

ROUNDING_VARIANCE = 1 / 6  # what rounding up or down without bias adds to a wide distribution
NARROW_VARIANCE = 1 / 4  # below it two whole numbers next to the mean are all that comes


@compiled_in_order
def sums_of_missed(
    rows: FloatArray,
    log_missed: FloatArray,
    odds: FloatArray,
    not_hit: FloatArray,
    lookups: float,
    pairs: float,
    sums: FloatArray,
) -> None:
    """Fill `sums` [5, places] as `Chances.hit_by` has them. `not_hit` is -(1 - e), `pairs` those of lookups."""
    for place in range(len(rows)):
        hit = -not_hit[place]
        missed = 1.0 - hit
        first = missed * odds[place]
        second = first * odds[place]
        own = hit * missed + lookups * (first * first) - pairs * (second * second)
        sums[0, place] = rows[place] * hit
        sums[1, place] = rows[place] * (-log_missed[place] * missed)
        sums[2, place] = rows[place] * own
        sums[3, place] = rows[place] * first
        sums[4, place] = rows[place] * second


@compiled_in_order
def intervals_used(index: IntArray, interval: IntArray, intervals: int) -> BoolArray:
    """[intervals, owners] whether any number of the owner, by `index` [ranks, owners], lies in the interval."""
    used = np.zeros((intervals, index.shape[1]), np.bool_)
    for rank in range(index.shape[0]):
        for owner in range(index.shape[1]):
            used[interval[index[rank, owner]], owner] = True
    return used


@compiled_in_order
def moments_at(row: int, part: float, owner: int, curves: FloatArray) -> tuple[float, float]:
    """Mean and variance of the rows that one owner's lookups hit."""
    second = curves[row, owner, 2] + part * curves[row, owner, 3]
    mean = curves[row, owner, 0] + part * (curves[row, owner, 1] + part * second)
    return mean, curves[row, owner, 4] + part * curves[row, owner, 5]


@compiled_in_order
def moments(
    index: IntArray, row: IntArray, part: FloatArray, curves: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, each [ranks, owners]."""
    mean, variance = np.empty(index.shape), np.empty(index.shape)
    for rank in range(index.shape[0]):
        for owner in range(index.shape[1]):
            number = index[rank, owner]
            mean[rank, owner], variance[rank, owner] = moments_at(row[number], part[number], owner, curves)
    return mean, variance


@compiled_in_order
def drawn(
    index: IntArray,
    lookups: IntArray,
    row: IntArray,
    part: FloatArray,
    curves: FloatArray,
    rows: IntArray,
    normal: FloatArray,
    uniform: FloatArray,
) -> IntArray:
    """[ranks, owners] rows hit: normal, rounded without bias, within what is possible.

    `lookups` are the different numbers of them, `rows` [owners] can be hit.
    """
    hit = np.empty(index.shape, np.int64)
    for rank in range(index.shape[0]):
        for owner in range(index.shape[1]):
            number = index[rank, owner]
            mean, variance = moments_at(row[number], part[number], owner, curves)
            over = mean - np.floor(mean)
            rounding = over * (1.0 - over) if variance < NARROW_VARIANCE else ROUNDING_VARIANCE
            spread = np.sqrt(max(variance - rounding, 0.0))
            value = int(np.floor(mean + spread * normal[rank, owner] + uniform[rank, owner]))
            most = min(lookups[number], rows[owner])
            hit[rank, owner] = min(max(value, min(most, 1)), most)
    return hit
