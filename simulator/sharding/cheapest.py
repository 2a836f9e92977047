"""Every row in its cheapest tier, given what time and memory are worth.

Since a row that is asked for more often never wants a tier with fewer copies, the rows of a tier are a run, and
where it ends is found by bisection over the blocks of all tables at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.sharding.row_blocks import RowBlocks
from simulator.sharding.tier_costs import ROWS, TierCosts

FORBIDDEN_S = 1e30

Excess = Callable[
    [IntArray], FloatArray
]  # of the blocks [tables], negative where the earlier tiers are cheaper


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where tiers end, in rows (not whole yet): both [tables]."""

    replicated: FloatArray  # r0
    island: FloatArray  # r1

    def towards(self, other: "Cuts", part: float) -> "Cuts":
        """The cuts a part of the way to others."""
        return Cuts(
            self.replicated + part * (other.replicated - self.replicated),
            self.island + part * (other.island - self.island),
        )


def cheapest(
    blocks: RowBlocks,
    costs: TierCosts,
    *,
    weights: FloatArray,
    memory_price_s_per_byte: float,
    allowed: tuple[bool, bool],
) -> Cuts:
    """The cuts at which neighbouring tiers cost the same.

    `weights` [components] are what their seconds are worth; `allowed` says whether rows may be replicated, and
    whether they may have copies in islands.
    """
    per_measure = np.einsum("c,tcjk->tjk", weights, costs.seconds)  # [tiers, measures, tables]
    rows = costs.measures.index(ROWS)
    per_measure[:, rows] += memory_price_s_per_byte * costs.memory_bytes
    for tier, is_allowed in enumerate(allowed):
        if not is_allowed:
            per_measure[tier, rows] = FORBIDDEN_S
    tables = np.arange(len(blocks.counts))

    def excess(block: IntArray, last: int) -> FloatArray:
        row_s = (per_measure * blocks.per_row[:, tables, block]).sum(axis=1)
        return np.asarray(row_s[: last + 1].min(axis=0) - row_s[last + 1 :].min(axis=0))

    island = _first_row(blocks, lambda block: excess(block, 1))
    replicated = _first_row(blocks, lambda block: excess(block, 0))
    return Cuts(np.minimum(replicated, island), island)


def _first_row(blocks: RowBlocks, excess: Excess) -> FloatArray:
    """[tables] the first row at which `excess`, negative before, is not."""
    low, high = np.zeros(len(blocks.counts), dtype=np.int64), blocks.counts.copy()
    while (low < high).any():
        middle = np.minimum((low + high) // 2, blocks.counts - 1)
        wanted: BoolArray = excess(middle) < 0
        open_ = low < high
        low = np.where(open_ & wanted, middle + 1, low)
        high = np.where(open_ & ~wanted, middle, high)
    return _interpolated(blocks, low, excess)


def _interpolated(blocks: RowBlocks, first: IntArray, excess: Excess) -> FloatArray:
    """The edge before block `first`, moved to where the excess is 0 if popularity is smooth around it."""
    tables = np.arange(len(blocks.counts))
    edge = blocks.edges[tables, first]
    before, after = np.maximum(first - 1, 0), np.minimum(first, blocks.counts - 1)
    gain, loss = -excess(before), excess(after)
    smooth = (before < after) & blocks.smooth(before, after) & (gain > 0) & (gain + loss > 0)
    part = np.where(smooth, gain / np.where(smooth, gain + loss, 1.0), 0.0)
    log_row = (1 - part) * np.log(blocks.centres[tables, before]) + part * np.log(
        blocks.centres[tables, after]
    )
    return np.where(smooth, np.exp(log_row), edge)
