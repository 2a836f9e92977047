"""Chooses FlexShard's tier cuts for all tables together, so that predicted communication takes least.

Theory of operation. Per table 0 <= r0 <= r1 <= touched: rows [0, r0) are replicated, [r0, r1) have a copy in
every island, [r1, touched) one copy in all. Time and memory are sums over rows (see `tier_costs`), and a row
that is asked for more often never wants a tier with fewer copies, so the program is convex:

    minimise    sum over races of across + inside, + sync                 tiers one after another
                sum over races of max(across, beside + inside), + sync    tiers at once
    subject to  memory of the fullest rank <= limit

It is solved by its Lagrangian. Given a price of memory (seconds a byte) and, for tiers at once, the share of
each race's time that the global all-to-alls hold (the weight of `across`; scale-up ports have the rest), every
row simply takes its cheapest tier. The price is the one at which memory just suffices, or 0; a share is the one
at which both sides of its race are equal, or 1 or 0 if one always leads. Both are found by root finding, shares
one after another until none moves. Where many rows are equally popular a price admits a range of cuts; a mean
of the cuts on either side of it is optimal too, for time is convex in the cuts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.cheapest import Cuts, cheapest
from simulator.sharding.plan import Prices
from simulator.sharding.row_blocks import RowBlocks
from simulator.sharding.tier_costs import TierCosts, component_weights

PRICE_STEPS = 60
SHARE_STEPS = 24
SHARE_CLOSE = 1e-4
BLEND_STEPS = 40
CLOSE = 1e-9  # relative; nearer than this is equal


@dataclass(frozen=True, eq=False)
class Program:
    """What to minimise, and the limit."""

    blocks: RowBlocks
    costs: TierCosts
    end_rows: FloatArray  # [tables] rows that take memory
    limit_bytes: float  # of the fullest rank
    concurrent: bool
    allowed: tuple[bool, bool] = (True, True)  # replicated rows, island rows

    @property
    def least_memory_bytes(self) -> float:
        """Of the fullest rank when no row has copies."""
        return float((self.end_rows * self.costs.memory_bytes[-1]).sum())

    def memory_bytes(self, cuts: Cuts) -> float:
        """Of the fullest rank."""
        rows = np.array([cuts.replicated, cuts.island - cuts.replicated, self.end_rows - cuts.island])
        return float((rows * self.costs.memory_bytes).sum())

    def components_s(self, cuts: Cuts) -> tuple[FloatArray, float]:
        """Seconds of the races [races, 3], and of synchronisation."""
        hot, warm = self.blocks.totals(cuts.replicated), self.blocks.totals(cuts.island)
        tiers = np.array([hot, warm - hot, self.blocks.cumulative[:, :, -1] - warm])
        seconds = np.einsum("tcjk,tjk->c", self.costs.seconds, tiers)
        return seconds[:-1].reshape(self.costs.races, 3), float(seconds[-1])

    def time_s(self, cuts: Cuts) -> float:
        """What is minimised."""
        races_s, sync_s = self.components_s(cuts)
        across, beside, inside = races_s.T
        exchanged = np.maximum(across, beside + inside) if self.concurrent else across + inside
        return float(exchanged.sum()) + sync_s

    def lead_s(self, cuts: Cuts, race: int) -> float:
        """By how much a race's global all-to-alls take longer than scale-up ports."""
        across, beside, inside = self.components_s(cuts)[0][race]
        return float(across - beside - inside)

    def exceeds(self, cuts: Cuts) -> bool:
        return self.memory_bytes(cuts) > self.limit_bytes * (1 + CLOSE)

    def cheapest(self, shares: FloatArray, price_s_per_byte: float) -> Cuts:
        """Every row in its cheapest tier at these shares [races] and this price of memory."""
        return cheapest(
            self.blocks,
            self.costs,
            weights=component_weights(shares, concurrent=self.concurrent),
            memory_price_s_per_byte=price_s_per_byte,
            allowed=self.allowed,
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """The best cuts within memory for some shares, and the price of memory there."""

    cuts: Cuts
    shares: FloatArray  # [races]
    price_s_per_byte: float


def solve(program: Program) -> tuple[Cuts, Prices]:
    """The best cuts within the limit. `least_memory_bytes` must be within it."""
    shares = np.ones(program.costs.races)
    first_race = 0 if program.concurrent else program.costs.races  # from which on races are balanced
    found = _balanced(program, shares, first_race, 0.0)
    return found.cuts, Prices(tuple(found.shares.tolist()), found.price_s_per_byte)


@dataclass(frozen=True, eq=False)
class _Side:
    """One end of the shares between which a race is balanced."""

    share: float
    solution: Solution
    lead_s: float


def _balanced(program: Program, shares: FloatArray, race: int, hint_s_per_byte: float) -> Solution:
    """The best cuts with the shares before `race` held, and those from it on balanced."""
    if race == program.costs.races:
        return _within_memory(program, shares, hint_s_per_byte)

    def at(share: float, hint: float) -> _Side:
        tried = shares.copy()
        tried[race] = share
        found = _balanced(program, tried, race + 1, hint)
        return _Side(share, found, program.lead_s(found.cuts, race))

    high = at(1.0, hint_s_per_byte)
    if high.lead_s >= 0:
        return high.solution
    low = at(0.0, high.solution.price_s_per_byte)
    if low.lead_s <= 0:
        return low.solution
    low, high = _narrowed(at, low, high)

    def leads(cuts: Cuts) -> bool:
        return program.lead_s(cuts, race) > 0

    cuts = _nearest_within(low.solution.cuts, high.solution.cuts, leads)
    return Solution(cuts, high.solution.shares, high.solution.price_s_per_byte)


def _narrowed(at: Callable[[float, float], _Side], low: _Side, high: _Side) -> tuple[_Side, _Side]:
    """Sides so near that a balanced share is between them, by regula falsi (the Illinois way)."""
    low_s, high_s = low.lead_s, high.lead_s
    was_low: bool | None = None
    for _ in range(SHARE_STEPS):
        if high.share - low.share <= SHARE_CLOSE:
            break
        part = float(np.clip(low_s / (low_s - high_s), 0.02, 0.98))
        found = at(low.share + part * (high.share - low.share), high.solution.price_s_per_byte)
        is_low = found.lead_s > 0
        if is_low:
            low, low_s, high_s = found, found.lead_s, high_s * (0.5 if was_low is True else 1.0)
        else:
            high, high_s, low_s = found, found.lead_s, low_s * (0.5 if was_low is False else 1.0)
        was_low = is_low
    return low, high


def _within_memory(program: Program, shares: FloatArray, hint_s_per_byte: float) -> Solution:
    """The best cuts for these shares within the limit; the hint is a price to begin the search with."""

    def at(price: float) -> Cuts:
        return program.cheapest(shares, price)

    free = at(0.0)
    if not program.exceeds(free):
        return Solution(free, shares, 0.0)
    low, over = 0.0, free
    high = hint_s_per_byte or program.time_s(free) / program.limit_bytes
    while program.exceeds(under := at(high)):
        low, over, high = high, under, high * 2.0
    for _ in range(PRICE_STEPS):
        slack = 1.0 - program.memory_bytes(under) / program.limit_bytes
        if slack <= CLOSE or high - low <= CLOSE * high:
            break
        middle = 0.5 * high if low == 0.0 else _secant(program, low, over, high, under)
        cuts = at(middle)
        if program.exceeds(cuts):
            low, over = middle, cuts
        else:
            high, under = middle, cuts
    return Solution(_nearest_within(over, under, program.exceeds), shares, high)


def _secant(program: Program, low: float, over: Cuts, high: float, under: Cuts) -> float:
    """A price between two where memory, a power law of the price between them, would just suffice."""
    excess = np.log(program.memory_bytes(over) / program.limit_bytes)
    slack = np.log(program.limit_bytes / program.memory_bytes(under))
    part = float(np.clip(excess / (excess + slack), 0.1, 0.9))
    return float(low ** (1 - part) * high**part)


def _nearest_within(first: Cuts, second: Cuts, beyond: Callable[[Cuts], bool]) -> Cuts:
    """The cuts between two nearest to the first that are not `beyond`, as the second is not."""
    low, high = 0.0, 1.0
    for _ in range(BLEND_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if beyond(first.towards(second, middle)) else (low, middle)
    return first.towards(second, high)
