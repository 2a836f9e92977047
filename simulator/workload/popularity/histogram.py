"""Popularity from a locality histogram: classes of rows by how often they are hit in one batch.

Theory of operation. Classes give a share of the rows and a share of the lookups each. Inside a class that holds
counts from a to b, counts fall from b to a as a + (b - a)(1 - y)^p over its rows, 0 <= y <= 1, with the p that
gives the class its mean. The last class has no upper end in the file: a row is taken to be hit once a sample at
the most. Where so few rows are in a class that its rounded share of the rows has lost its digits, rows are
counted from the lookups instead, at the mean of counts that follow an exponent of 1, (b - a) / ln(b / a). The
curve is scaled to the table's touched rows and cut into runs.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray
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
    most: FloatArray  # highest count
    mean: FloatArray
    row_shares: FloatArray
    lookup_shares: FloatArray


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
    y = np.clip((part - row_edges[index]) / classes.row_shares[index], 0.0, 1.0)
    least, mean, spread = classes.least[index], classes.mean[index], (classes.most - classes.least)[index]
    over = np.maximum(mean - least, spread * 1e-9 + 1e-9)
    power = np.maximum(spread / over, 1.0)  # p + 1
    inside = (least * y + over * (1.0 - (1.0 - y) ** power)) / mean
    return np.asarray(lookup_edges[index] + classes.lookup_shares[index] * np.minimum(inside, 1.0))


def _classes(locality: Locality) -> _Classes:
    least = locality.lowest.astype(np.float64) + 1.0
    most = np.append(least[1:] - 1.0, max(locality.samples, 2.0 * least[-1]))
    law_mean = np.where(most > least, (most - least) / np.log(np.maximum(most, least + 1e-9) / least), least)
    reuse = locality.lookups / locality.rows
    rounded = locality.row_shares
    by_law = np.clip(locality.lookup_shares * reuse / law_mean, rounded - ROUNDING, rounded + ROUNDING)
    rows = np.where(rounded >= TRUSTED_ABOVE, rounded, by_law)
    present = (rows > 0) & (locality.lookup_shares > 0)
    mean = np.clip(locality.lookup_shares[present] * reuse / rows[present], least[present], most[present])
    hottest_first = np.flatnonzero(present)[::-1]
    return _Classes(
        least[hottest_first],
        most[hottest_first],
        mean[::-1],
        rows[hottest_first] / rows[present].sum(),
        locality.lookup_shares[hottest_first] / locality.lookup_shares[present].sum(),
    )
