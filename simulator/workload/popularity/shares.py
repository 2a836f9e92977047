"""Shares of a table's lookups by row, known by their cumulative sums.

Theory of operation. Rows are counted in popularity order: row 0 is the hottest. A popularity answers how
large a share of the lookups falls on rows [start, stop) without ever listing rows, so a table of 1e12 rows
costs what one of 1e6 costs. For draws it is cut into blocks whose rows count as equally popular: the hottest
rows one by one, the tail in blocks that widen by 2 %, inside which a power law of exponent 1 varies by 2 %.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from simulator.arrays import FloatArray, IntArray

HEADS = 65_536  # rows that are told apart one by one unless the caller says otherwise
TAIL_BLOCKS_PER_E = 50  # a block of the tail is 1/50 of the rows hotter than it


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table's rows in popularity order, cut into blocks whose rows count as equally popular.

    The hottest rows are blocks of one row; blocks of the tail widen geometrically. edges[0] = 0,
    edges[-1] = the popularity's rows, shares sum to 1.
    """

    edges: IntArray  # [blocks + 1]
    shares: FloatArray  # [blocks] share of the lookups

    @property
    def rows(self) -> IntArray:
        """[blocks] rows in each block."""
        return np.diff(self.edges)


class Popularity(Protocol):
    """Shares of a table's lookups by row, hottest first, known by their cumulative sums; never O(rows)."""

    def __hash__(self) -> int:
        """By value or by identity: what is worked out from a popularity is kept."""

    @property
    def rows(self) -> int:
        """Rows that are ever looked up (the touched ones)."""

    def cumulative_share(self, rows: ArrayLike) -> FloatArray:
        """Share of lookups on the hottest `rows` rows: 0 at 0, 1 at `self.rows` and beyond."""

    def share_between(self, starts: ArrayLike, stops: ArrayLike) -> FloatArray:
        """Share of lookups on rows [start, stop), exact also where it is far below 1e-16."""

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows and then blocks about 2 % wide."""


class Shares(ABC):
    """What every kind has in common once it can weigh a run of rows."""

    @property
    @abstractmethod
    def rows(self) -> int: ...

    @abstractmethod
    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        """The share of rows [start, stop) with 0 <= start <= stop <= rows."""

    def share_between(self, starts: ArrayLike, stops: ArrayLike) -> FloatArray:
        """Share of lookups on rows [start, stop); what lies beyond the last row counts as nothing."""
        first, last = np.broadcast_arrays(
            np.clip(np.asarray(starts, np.int64), 0, self.rows),
            np.clip(np.asarray(stops, np.int64), 0, self.rows),
        )
        return self._weight_between(first, np.maximum(first, last))

    def cumulative_share(self, rows: ArrayLike) -> FloatArray:
        """Share of lookups on the hottest `rows` rows: 0 at 0, exactly 1 at `self.rows` and beyond."""
        count = np.asarray(rows, np.int64)
        share = np.minimum(self.share_between(np.zeros_like(count), count), 1.0)
        return np.where(count >= self.rows, 1.0, share)

    def blocks(self, heads: int = HEADS) -> Blocks:
        """At most `heads` single rows and then blocks about 2 % wide."""
        return self._cut(block_edges(self.rows, heads))

    def _cut(self, edges: IntArray) -> Blocks:
        shares = self._weight_between(edges[:-1], edges[1:])
        return Blocks(edges, shares / shares.sum())


def block_edges(rows: int, heads: int) -> IntArray:
    """Edges of `heads` single rows, then of blocks 2 % as wide as the rows before them, two at least."""
    edges = []
    edge = min(rows, heads)
    while edge < rows:
        edge = min(rows, edge + max(2, edge // TAIL_BLOCKS_PER_E))
        edges.append(edge)
    return np.concatenate([np.arange(min(rows, heads) + 1, dtype=np.int64), np.array(edges, np.int64)])
