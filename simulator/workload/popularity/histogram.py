"""Popularity from a locality histogram: classes of rows by how often they are hit in one batch.

Theory of operation. Classes give a share of the rows and a share of the lookups each. Inside a class that holds
counts from a to b, counts fall from b to a as a + (b - a)(1 - y)^p over its rows, 0 <= y <= 1, with the p that
gives the class its mean. Where so few rows are in a class that its rounded share of the rows has lost its
digits, rows are counted from the lookups instead, at the mean of counts that follow an exponent of 1 (1.386 a).
The last class has no upper end; its counts go on as the power law that the other classes follow. The curve is
scaled to the table's touched rows and cut into runs.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.runs import Runs
from simulator.workload.popularity.shares import block_edges
from simulator.workload.traces.locality import Locality

SINGLE_ROWS = 4_096  # of the curve; beyond them runs are 2 % wide
ROUNDING = 0.0005  # shares in the files have three digits
TRUSTED_ABOVE = 0.01  # a rounded share above this keeps two of them


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes of rows, the hottest first. All arrays are [classes]."""

    least: FloatArray  # lowest count
    most: FloatArray  # highest count; inf in the first class
    mean: FloatArray
    row_shares: FloatArray
    lookup_shares: FloatArray
    exponent: float  # of the first class


def from_locality(locality: Locality, rows: int) -> Runs:
    """The histogram's skew over `rows` touched rows."""
    edges = block_edges(rows, SINGLE_ROWS)
    shares = np.diff(_share_below(_classes(locality), edges / rows))
    return Runs(edges, shares / shares.sum())


def _share_below(classes: _Classes, part: FloatArray) -> FloatArray:
    """Share of the lookups on the hottest `part` of the rows."""
    row_edges = np.concatenate([[0.0], np.cumsum(classes.row_shares)])
    lookup_edges = np.concatenate([[0.0], np.cumsum(classes.lookup_shares)])
    index = np.clip(np.searchsorted(row_edges, part, side="right") - 1, 0, len(classes.mean) - 1)
    width = np.maximum(classes.row_shares[index], np.finfo(np.float64).tiny)
    y = np.clip((part - row_edges[index]) / width, 0.0, 1.0)
    least = classes.least[index]
    spread = np.where(np.isinf(classes.most[index]), 0.0, classes.most[index] - least)
    over = np.maximum(classes.mean[index] - least, 1e-12)
    power = np.maximum(spread / over, 1.0)  # p + 1
    closed = (least * y + spread * (1.0 - (1.0 - y) ** power) / power) / classes.mean[index]
    inside = np.where(np.isinf(classes.most[index]), y ** (1.0 - classes.exponent), np.minimum(closed, 1.0))
    return np.asarray(lookup_edges[index] + classes.lookup_shares[index] * inside)


def _classes(locality: Locality) -> _Classes:
    least = locality.lowest.astype(np.float64) + 1.0
    most = np.append(locality.lowest[1:].astype(np.float64), np.inf)
    reuse = locality.lookups / locality.rows
    lookup_shares, row_shares = locality.lookup_shares, locality.row_shares
    by_law = np.clip(
        lookup_shares * reuse / (2.0 * log(2.0) * least), row_shares - ROUNDING, row_shares + ROUNDING
    )
    rows = np.where(row_shares >= TRUSTED_ABOVE, row_shares, np.maximum(by_law, 0.0))
    exponent = _exponent(rows, locality.lowest)
    rows[-1] = lookup_shares[-1] * reuse * (1.0 - exponent) / least[-1]
    rows = rows / rows.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(rows > 0, lookup_shares * reuse / rows, least)
    mean = np.minimum(np.maximum(mean, least), most)
    hottest_first = slice(None, None, -1)
    return _Classes(
        least[hottest_first],
        most[hottest_first],
        mean[hottest_first],
        rows[hottest_first],
        lookup_shares[hottest_first],
        exponent,
    )


def _exponent(row_shares: FloatArray, lowest: IntArray) -> float:
    """Slope of counts over ranks at the bounds between classes, on logarithmic scales."""
    rank = np.cumsum(row_shares[::-1])[::-1]  # share of rows hit more often than lowest
    use = (lowest >= 1) & (rank > 0)
    if use.sum() < 2:
        return 0.5
    slope = -np.polyfit(np.log(rank[use]), np.log(lowest[use]), 1)[0]
    return float(np.clip(slope, 0.0, 0.95))
