"""How much more the busiest owner of row-wise rows has to answer than the mean owner, in expectation.

Theory of operation. Ids are shuffled, so each row falls to an owner by chance. Rows that weigh next to nothing
beside an owner's fair part even out; those that weigh more are dealt to the owners at random, a few times, and
the busiest owner's load over the mean is averaged over the deals. The deals are fixed: equal plans get equal
predictions. What a planner of a real table could know, and this one does not, is which owners the rows have.
"""

from collections.abc import Sequence

import numpy as np

from simulator.arrays import FloatArray
from simulator.seeds import generator

DEALS = 16
HEAVY_SHARE = 0.005  # of an owner's fair part; lighter rows even out


def busiest_over_mean(row_weights: Sequence[FloatArray], total_weight: float, owners: int) -> float:
    """At least 1. `row_weights` are those of rows that may be heavy, table by table; the total is that of all rows."""
    if owners == 1 or total_weight <= 0.0 or not row_weights:
        return 1.0
    mean = total_weight / owners
    weights = np.concatenate(row_weights)
    heavy = weights[weights > HEAVY_SHARE * mean]
    if not len(heavy):
        return 1.0
    light = (total_weight - float(heavy.sum())) / owners
    rng = generator(0, "hot owners", owners)
    busiest = [
        float(np.bincount(rng.integers(owners, size=len(heavy)), heavy, owners).max()) for _ in range(DEALS)
    ]
    return max(1.0, (light + float(np.mean(busiest))) / mean)
