"""How many rows of a run are asked for in one iteration, in expectation.

Theory of operation. A rank makes n lookups in a table, independent of one another, and row i gets the share p_i
of them. Of a run of rows it asks for

    each lookup             n * sum p_i
    each row once           sum 1 - (1 - p_i)^n          (`dedup: rank`)

and k ranks that pool their requests ask for the second with k * n in place of n. Popular rows are weighed one
by one, the tail in blocks whose rows count as equally popular. Numbers of lookups need not be whole.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import Popularity
from simulator.workload.workload import TableStatistics

HEADS = 512  # rows weighed one by one; the blocks beyond are 2 % wide
RUNS_KEPT = 512  # of a popularity, some kilobytes each: candidates of a planner cut most tables alike


@dataclass(frozen=True, eq=False)
class Run:
    """The rows [start, stop) of a table in blocks of equally popular rows."""

    rows: IntArray  # [blocks]
    shares: FloatArray  # [blocks] of the table's lookups


def run_of(table: TableStatistics, start: int, stop: int) -> Run:
    """The blocks of a run; rows that are never touched are left out. A block cut in two is shared by its rows."""
    known = _known.setdefault(table.popularity, {})
    if (start, stop) not in known:
        if len(known) == RUNS_KEPT:
            del known[next(iter(known))]
        known[start, stop] = _run(table.popularity, start, stop)
    return known[start, stop]


_known: WeakKeyDictionary[Popularity, dict[tuple[int, int], Run]] = (
    WeakKeyDictionary()
)  # tables share popularities


def _run(popularity: Popularity, start: int, stop: int) -> Run:
    blocks = popularity.blocks(HEADS)
    edges = blocks.edges
    begin, end = (min(max(row, 0), int(edges[-1])) for row in (start, stop))
    if begin >= end:
        return Run(np.zeros(0, dtype=np.int64), np.zeros(0))
    first = int(np.searchsorted(edges, begin, side="right")) - 1
    last = int(np.searchsorted(edges, end, side="left"))
    whole = edges[first : last + 1]
    cuts = whole.copy()
    cuts[0], cuts[-1] = begin, end
    rows = cuts[1:] - cuts[:-1]
    return Run(rows, blocks.shares[first:last] * (rows / (whole[1:] - whole[:-1])))


def lookups(run: Run, table: TableStatistics) -> float:
    """Lookups that one rank makes in the run."""
    return table.lookups_per_rank * float(run.shares.sum())


def distinct_rows(run: Run, table: TableStatistics, *, ranks: int = 1) -> float:
    """Different rows of the run that at least one of so many ranks looks up."""
    return float(run.rows @ touched_chance(run.rows, run.shares, ranks * table.lookups_per_rank))


def touched_chance(rows: IntArray, shares: FloatArray, lookup_count: float | FloatArray) -> FloatArray:
    """The chance that a row of each block is looked up at least once."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(rows > 0, shares / np.maximum(rows, 1), 0.0)
        missed = lookup_count * np.log1p(-np.minimum(each, 1.0))
    return np.where(np.isnan(missed), 0.0, -np.expm1(missed))
