"""How many of a table's rows are looked up at least so often."""

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.expected import HEADS
from simulator.workload.workload import TableStatistics

CLOSE = 1e-9  # relative; a share this near to the threshold counts as reaching it


def rows_at_least(table: TableStatistics, lookups_per_rank: float) -> int:
    """Rows, the hottest first, of which a rank makes so many lookups or more in one iteration."""
    least_share = lookups_per_rank / table.lookups_per_rank * (1 - CLOSE) if table.lookups_per_rank else 2.0
    popularity = table.popularity

    def reaches(row: int) -> bool:
        return float(popularity.share_between(row, row + 1)) >= least_share

    blocks = popularity.blocks(HEADS)
    reached = blocks.shares / (blocks.edges[1:] - blocks.edges[:-1]) >= least_share
    last = int(reached.sum())  # the threshold is passed in this block or the one before
    low = int(blocks.edges[max(last - 1, 0)])
    high = int(blocks.edges[min(last + 1, len(blocks.shares))])
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if reaches(middle) else (low, middle)
    return low


def block_rows_at_least(table: TableStatistics, lookups_per_rank: FloatArray) -> list[int]:
    """`rows_at_least` for several limits at once, to the block of rows that count as equally popular."""
    blocks = table.popularity.blocks(HEADS)
    each = blocks.shares / np.diff(blocks.edges) * table.lookups_per_rank  # falls from block to block
    reached = np.searchsorted(-each, -lookups_per_rank, side="right")
    return [int(edge) for edge in blocks.edges[reached]]
