"""How many different rows some lookups are expected to hit.

Each of n lookups misses a row of share p with probability 1 - p, so the row is hit with 1 - (1 - p)^n and the
expected number of different rows is the sum of that over rows, block by block. Written with expm1 and log1p it
keeps its digits where p is 1e-15 and where it is 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from simulator.arrays import FloatArray
from simulator.workload.popularity.shares import Blocks

CHUNK = 1 << 21  # terms worked out at once


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
