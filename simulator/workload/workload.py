"""A workload: embedding tables, how popular their rows are, how long sequences are, and the dense compute.

`Workload` is a frozen value made once from YAML (`spec.py`). `Statistics` is the part of it that a policy may
see. A `Batch` is one iteration's draw of how many lookups each rank makes in each table; where they land
depends on a plan, so it is drawn in `traffic/`, keyed by the same seed.
"""

from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from simulator.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table's rows in popularity order, cut into blocks whose rows count as equally popular.

    The hottest rows are blocks of one row; blocks of the tail widen geometrically. edges[0] = 0,
    edges[-1] = the popularity's rows, shares sum to 1.
    """

    edges: IntArray  # [blocks + 1]
    shares: FloatArray  # [blocks] share of the lookups


class Popularity(Protocol):
    """Shares of a table's lookups by row, hottest first, known by their cumulative sums; never O(rows)."""

    @property
    def rows(self) -> int:
        """Rows that are ever looked up (the touched ones)."""

    def cumulative_share(self, rows: ArrayLike) -> FloatArray:
        """Share of lookups on the hottest `rows` rows: 0 at 0, 1 at `self.rows` and beyond."""

    def blocks(self, heads: int = 65_536) -> Blocks:
        """At most `heads` single rows and then blocks about 2 % wide."""


@dataclass(frozen=True, eq=False)
class TableStatistics:
    """What a policy may know of one table before it plans."""

    name: str
    rows: int
    dim: int
    element_bytes: int
    touched_rows: int  # rows that the planning data ever hits
    popularity: Popularity
    lookups_per_rank: float  # expected, in one iteration

    @property
    def row_bytes(self) -> int:
        return self.dim * self.element_bytes


@dataclass(frozen=True, eq=False)
class Statistics:
    tables: tuple[TableStatistics, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """One iteration: lookups[rank, table], and the key under which their places are drawn."""

    lookups: IntArray  # [world_size, tables]
    seed: int
    iteration: int
