"""How many rows go from each run of one plan to each run of the next, table by table.

Theory of operation. Runs are those of a table's plan, in its order of popularity, and a last one of reclaimed rows. The
next plan counts rows in another order, so that rows cross between runs even where both plans cut alike.

    by drift      the law of popularity stays; each of n places in the order has been dealt to another row with the
                  chance `moved`, whatever its heat. So a run of a places gives moved a b / n rows to one of b places,
                  and of the places that both have the part that was not dealt. Expected numbers, not whole
    by heat       both orders are known: pieces of rows that are equally popular in both are put in their new order
                  and cut by the new plan. Rows of equal heat keep their order. Exact where pieces are single rows or
                  belong together in both plans. Heats are equal that rounding alone tells apart

Neither lists rows of the tail: a table of 1e12 rows costs what one of 1e6 costs.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.sharding.plan import Segment, TablePlan
from simulator.workload.popularity.runs import Runs
from simulator.workload.popularity.shares import HEADS, Popularity

EQUAL_HEAT = 1e-9  # relative; a share divided by its rows is off by less, other rows by more


@dataclass(frozen=True, eq=False)
class Crossings:
    """`rows[i, j]` go from the old plan's run i to the new one's run j; the last of either are reclaimed rows."""

    table: str
    old: tuple[Segment, ...]
    new: tuple[Segment, ...]
    rows: FloatArray  # [old runs + 1, new runs + 1]


@dataclass(frozen=True, eq=False)
class Reordered:
    """A popularity put in its own order of heat: pieces of rows, each of which was one run of the order before."""

    starts: IntArray  # [pieces] where each began before
    rows: IntArray  # [pieces]
    popularity: Runs  # in the new order; rows never looked up are left out


def in_heat_order(popularity: Popularity, cuts: IntArray, table_rows: int) -> Reordered:
    """Rows of equal heat keep their order; no piece goes across one of `cuts`."""
    edges = np.unique(np.concatenate([popularity.blocks(HEADS).edges, cuts, [table_rows]]))
    edges = edges[edges <= table_rows]
    shares, rows = popularity.share_between(edges[:-1], edges[1:]), np.diff(edges)
    order = _hottest_first(shares / rows)
    hit = shares[order] > 0.0
    new_edges = np.concatenate([[0], np.cumsum(rows[order][hit])])
    own = Runs(new_edges, shares[order][hit] / shares.sum())
    return Reordered(edges[:-1][order], rows[order], own)


def _hottest_first(heat: FloatArray) -> IntArray:
    """[pieces] by falling heat, those that are equally hot in the order in which they stand."""
    falling = np.argsort(-heat, kind="stable")
    cooler = heat[falling[1:]] < heat[falling[:-1]] * (1.0 - EQUAL_HEAT)
    level = np.concatenate([[0], np.cumsum(cooler)])
    return falling[np.lexsort((falling, level))]


def crossings_by_heat(old: TablePlan, new: TablePlan, reordered: Reordered) -> Crossings:
    """What crosses when `new` was made for the order that `reordered` has."""
    old_stops, new_stops = run_stops(old), run_stops(new)
    piece_edges = np.concatenate([[0], np.cumsum(reordered.rows)])
    edges = np.union1d(piece_edges, new_stops[new_stops <= piece_edges[-1]])
    piece = np.searchsorted(piece_edges, edges[:-1], side="right") - 1
    rows = np.zeros((len(old_stops) + 1, len(new_stops) + 1))
    from_run = np.searchsorted(old_stops, reordered.starts[piece], side="right")
    to_run = np.searchsorted(new_stops, edges[:-1], side="right")
    np.add.at(rows, (from_run, to_run), np.diff(edges))
    return Crossings(old.table, old.segments, new.segments, rows)


def crossings_by_drift(
    old: TablePlan, new: TablePlan, table_rows: int, *, moved: float, among: int
) -> Crossings:
    """What crosses when places [0, among) in the order have been dealt anew, each with the chance `moved`."""
    old_edges, new_edges = (np.concatenate([[0], run_stops(plan), [table_rows]]) for plan in (old, new))
    dealt_from, dealt_to = (np.diff(np.minimum(edges, among)) for edges in (old_edges, new_edges))
    dealt = moved * np.outer(dealt_from, dealt_to.astype(np.float64)) / max(among, 1)
    rows = _overlaps(old_edges, new_edges) - moved * _overlaps(
        np.minimum(old_edges, among), np.minimum(new_edges, among)
    )
    return Crossings(old.table, old.segments, new.segments, rows + dealt)


def _overlaps(old_edges: IntArray, new_edges: IntArray) -> IntArray:
    """[old runs, new runs] rows that lie in both, in one order."""
    low = np.maximum(old_edges[:-1, None], new_edges[:-1])
    high = np.minimum(old_edges[1:, None], new_edges[1:])
    rows: IntArray = np.maximum(high - low, 0)
    return rows


def run_stops(plan: TablePlan) -> IntArray:
    """[runs] the row that each run ends before."""
    return np.array([segment.stop for segment in plan.segments], np.int64)
