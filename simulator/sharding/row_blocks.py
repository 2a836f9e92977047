"""The rows of many tables in blocks of equally popular rows, with how often they count, as padded arrays.

Row numbers are floats here: a cut may fall anywhere inside a block, whose rows count alike. A float is exact up
to 2^53 rows; beyond, a cut is off by a few rows in 10^16.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.sharding.expected import HEADS, touched_chance
from simulator.sharding.tier_costs import Measure
from simulator.workload.workload import Statistics, TableStatistics

SMOOTH_FALL = 1.1  # a power law of exponent s falls by about 0.02 s from one block to the next


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """`counts[t]` blocks of table t are real; the rest of each row of the arrays is padding of 0 rows."""

    counts: IntArray  # [tables]
    edges: FloatArray  # [tables, blocks + 1]
    per_row: FloatArray  # [measures, tables, blocks]
    cumulative: FloatArray  # [measures, tables, blocks + 1]

    @property
    def touched_rows(self) -> FloatArray:
        """[tables]"""
        return self.edges[:, -1]

    @cached_property
    def centres(self) -> FloatArray:
        """[tables, blocks] the row in the middle of each block, in the sense of a logarithmic scale."""
        return np.sqrt((self.edges[:, :-1] + 0.5) * (self.edges[:, 1:] - 0.5))

    def smooth(self, before: IntArray, after: IntArray) -> BoolArray:
        """[tables] whether popularity falls evenly through two neighbouring blocks of more than a row each.

        Where it jumps, as between rows seen twice and once in a trace, the edge is where they differ.
        """
        tables = np.arange(len(self.counts))
        wide = self.edges[tables, after + 1] - self.edges[tables, before] > 2.5
        asked = self.per_row[1:]
        falls = asked[:, tables, before] > SMOOTH_FALL * asked[:, tables, after]
        return wide & ~falls.any(axis=0)

    def totals(self, cuts: FloatArray) -> FloatArray:
        """[measures, tables] of the hottest `cuts` [tables] rows."""
        tables = np.arange(len(self.counts))
        block = self.block_at(cuts)
        inside = cuts - self.edges[tables, block]
        sums: FloatArray = self.cumulative[:, tables, block] + self.per_row[:, tables, block] * inside
        return sums

    def block_at(self, cuts: FloatArray) -> IntArray:
        """[tables] the block in which each cut lies."""
        low = np.zeros(len(self.counts), dtype=np.int64)
        high = self.counts - 1
        tables = np.arange(len(self.counts))
        while (low < high).any():
            middle = (low + high + 1) // 2
            beyond = self.edges[tables, middle] <= cuts
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle - 1)
        return low


def row_blocks(statistics: Statistics, measures: Sequence[Measure]) -> RowBlocks:
    """Blocks of every table's touched rows."""
    cut = [table.popularity.blocks(HEADS) for table in statistics.tables]
    counts = np.array([len(blocks.shares) for blocks in cut], dtype=np.int64)
    width = int(counts.max())
    edges = np.zeros((len(cut), width + 1))
    values = np.zeros((len(measures), len(cut), width))
    for index, (table, blocks) in enumerate(zip(statistics.tables, cut, strict=True)):
        edges[index, : len(blocks.edges)] = blocks.edges
        edges[index, len(blocks.edges) :] = blocks.edges[-1]
        rows = np.diff(blocks.edges)
        for place, measure in enumerate(measures):
            values[place, index, : len(rows)] = per_row(measure, table, rows, blocks.shares)
    cumulative = np.zeros((len(measures), len(cut), width + 1))
    np.cumsum(values * np.diff(edges, axis=1), axis=2, out=cumulative[:, :, 1:])
    return RowBlocks(counts, edges, values, cumulative)


def per_row(measure: Measure, table: TableStatistics, rows: IntArray, shares: FloatArray) -> FloatArray:
    """How often a row of each block counts, blocks of so many rows with such shares of the lookups."""
    if measure.kind == "rows":
        return np.ones(len(rows))
    if measure.kind == "lookups":
        return table.lookups_per_rank * shares / rows
    return touched_chance(rows, shares, measure.ranks * table.lookups_per_rank)
