"""Chooses FlexShard's tier cuts for all tables together, so that predicted communication takes least.

Theory of operation. Per table 0 <= r0 <= r1 <= touched: rows [0, r0) are replicated, [r0, r1) have a copy in
every island, [r1, touched) one copy in all. Time and memory are sums over rows (see `tier_costs`), and a row
that is asked for more often never wants a tier with fewer copies, so the program is convex:

    minimise    across + inside + sync                          tiers one after another
                max(across, beside + inside) + sync             tiers at once
    subject to  memory of the fullest rank <= limit

It is solved by its Lagrangian. Given a price of memory m (seconds a byte) and, for tiers at once, the share n of
the time that the global all-to-alls hold (the weight of `across`; scale-up ports have 1 - n), every row simply
takes its cheapest tier, and the cuts are where neighbouring tiers cost the same. Bisection finds the m at which
memory just suffices (0 if it always does) and the n at which both sides of the maximum are equal (1 or 0 if one
always leads). Where many rows are equally popular a price admits a range of cuts; the mean of the cuts on either
side of it that uses memory, or balances time, exactly is optimal too, for cost is convex in the cuts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.sharding.plan import Prices
from simulator.sharding.row_blocks import RowBlocks
from simulator.sharding.tier_costs import ROWS, TierCosts

MEMORY_STEPS = 60
BALANCE_STEPS = 24
BLEND_STEPS = 50
CLOSE = 1e-9  # relative; nearer than this is equal
FORBIDDEN_S = 1e30


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


@dataclass(frozen=True, eq=False)
class Program:
    """What to minimise, and the limit."""

    blocks: RowBlocks
    costs: TierCosts
    end_rows: FloatArray  # [tables] rows that take memory
    limit_bytes: float  # of the fullest rank
    concurrent: bool
    allow_replicated: bool = True
    allow_island: bool = True

    @property
    def least_memory_bytes(self) -> float:
        """Of the fullest rank when no row has copies."""
        return float((self.end_rows * self.costs.memory_bytes[-1]).sum())

    def memory_bytes(self, cuts: Cuts) -> float:
        """Of the fullest rank."""
        rows = np.array([cuts.replicated, cuts.island - cuts.replicated, self.end_rows - cuts.island])
        return float((rows * self.costs.memory_bytes).sum())

    def components_s(self, cuts: Cuts) -> FloatArray:
        """[components] seconds."""
        hot, warm = self.blocks.totals(cuts.replicated), self.blocks.totals(cuts.island)
        tiers = np.array([hot, warm - hot, self.blocks.cumulative[:, :, -1] - warm])
        return np.asarray(np.einsum("tcjk,tjk->c", self.costs.seconds, tiers))

    def time_s(self, cuts: Cuts) -> float:
        """What is minimised."""
        across, beside, inside, sync = self.components_s(cuts)
        return float(max(across, beside + inside) + sync if self.concurrent else across + inside + sync)

    def lead_s(self, cuts: Cuts) -> float:
        """By how much global all-to-alls take longer than scale-up ports."""
        across, beside, inside, _ = self.components_s(cuts)
        return float(across - beside - inside)


def solve(program: Program) -> tuple[Cuts, Prices]:
    """The best cuts within the limit, which rows in the global tier alone must keep."""
    if not program.concurrent:
        cuts, price = _within_memory(program, _weights(program, 1.0))
        return cuts, Prices(1.0, price)
    return _balanced(program)


def _weights(program: Program, nic_share: float) -> FloatArray:
    """[components]"""
    if not program.concurrent:
        return np.array([1.0, 0.0, 1.0, 1.0])
    return np.array([nic_share, 1.0 - nic_share, 1.0 - nic_share, 1.0])


def _balanced(program: Program) -> tuple[Cuts, Prices]:
    share = {"low": 0.0, "high": 1.0}
    sides = {name: _within_memory(program, _weights(program, at)) for name, at in share.items()}
    if program.lead_s(sides["high"][0]) >= 0:
        return sides["high"][0], Prices(1.0, sides["high"][1])
    if program.lead_s(sides["low"][0]) <= 0:
        return sides["low"][0], Prices(0.0, sides["low"][1])
    for _ in range(BALANCE_STEPS):
        middle = 0.5 * (share["low"] + share["high"])
        found = _within_memory(program, _weights(program, middle))
        side = "low" if program.lead_s(found[0]) > 0 else "high"
        share[side], sides[side] = middle, found
    cuts = _blend(sides["low"][0], sides["high"][0], lambda cuts: program.lead_s(cuts) > 0)
    return cuts, Prices(share["high"], sides["high"][1])


def _within_memory(program: Program, weights: FloatArray) -> tuple[Cuts, float]:
    """The best cuts for these weights within the limit, and the price of a byte."""

    def at(price: float) -> Cuts:
        return _cheapest(program, weights, price)

    def exceeds(cuts: Cuts) -> bool:
        return program.memory_bytes(cuts) > program.limit_bytes * (1 + CLOSE)

    free = at(0.0)
    if not exceeds(free):
        return free, 0.0
    low, high = 0.0, program.time_s(free) / program.limit_bytes
    over, under = free, at(high)
    while exceeds(under):
        low, over, high = high, under, high * 4.0
        under = at(high)
    for _ in range(MEMORY_STEPS):
        if high - low <= CLOSE * high or program.memory_bytes(under) >= (1 - CLOSE) * program.limit_bytes:
            break
        middle = 0.5 * (low + high) if low > 0.01 * high else 0.1 * high
        cuts = at(middle)
        if exceeds(cuts):
            low, over = middle, cuts
        else:
            high, under = middle, cuts
    return _blend(over, under, exceeds), high


def _blend(first: Cuts, second: Cuts, beyond: Callable[[Cuts], bool]) -> Cuts:
    """The cuts between two nearest to the first that are not `beyond`, as the second is not."""
    low, high = 0.0, 1.0
    for _ in range(BLEND_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if beyond(first.towards(second, middle)) else (low, middle)
    return first.towards(second, high)


def _cheapest(program: Program, weights: FloatArray, price: float) -> Cuts:
    """Every row in its cheapest tier."""
    per_measure = np.einsum("c,tcjk->tjk", weights, program.costs.seconds)
    rows = program.costs.measures.index(ROWS)
    per_measure[:, rows] += price * program.costs.memory_bytes
    for tier, allowed in enumerate((program.allow_replicated, program.allow_island)):
        if not allowed:
            per_measure[tier, rows] = FORBIDDEN_S

    def excess(block: IntArray, tier: int) -> FloatArray:
        """[tables] by how much rows of a block cost more in tiers up to `tier` than in the later ones."""
        counts = program.blocks.per_row[:, np.arange(len(block)), block]
        costs = (per_measure * counts).sum(axis=1)
        return np.asarray(costs[: tier + 1].min(axis=0) - costs[tier + 1 :].min(axis=0))

    island = _first_row(program.blocks, lambda block: excess(block, 1))
    replicated = _first_row(program.blocks, lambda block: excess(block, 0))
    return Cuts(np.minimum(replicated, island), island)


def _first_row(blocks: RowBlocks, excess: Callable[[IntArray], FloatArray]) -> FloatArray:
    """[tables] the first row at which `excess`, negative before, is not: between the centres of two blocks."""
    tables = np.arange(len(blocks.counts))
    low, high = np.zeros(len(tables), dtype=np.int64), blocks.counts.copy()
    while (low < high).any():
        middle = np.minimum((low + high) // 2, blocks.counts - 1)
        wanted: BoolArray = excess(middle) < 0
        open_ = low < high
        low = np.where(open_ & wanted, middle + 1, low)
        high = np.where(open_ & ~wanted, middle, high)
    return _interpolated(blocks, low, excess, tables)


def _interpolated(
    blocks: RowBlocks, first: IntArray, excess: Callable[[IntArray], FloatArray], tables: IntArray
) -> FloatArray:
    """The edge before block `first`, moved to where the excess is 0 if popularity is smooth around it."""
    edge = blocks.edges[tables, first]
    before, after = np.maximum(first - 1, 0), np.minimum(first, blocks.counts - 1)
    gain, loss = -excess(before), excess(after)
    smooth = (before < after) & blocks.smooth(before, after) & (gain > 0) & (gain + loss > 0)
    part = np.where(smooth, gain / np.where(smooth, gain + loss, 1.0), 0.0)
    log_row = (1 - part) * np.log(blocks.centres[tables, before]) + part * np.log(
        blocks.centres[tables, after]
    )
    return np.where(smooth, np.exp(log_row), edge)
