"""RecShard: each table whole on one rank, its hot rows in HBM and its cold ones in host memory.

After RecShard (Sethi et al., ASPLOS 2022, by FlexShard's authors): statistics decide, over all tables together,
which rows deserve HBM, and a mixed-integer program places the tables so that the most loaded rank takes least
time. Ours, where their program is not public in detail or does not carry over:

    rows        those with most lookups a byte go to HBM, up to all ranks' HBM together and to one rank's for a
                table; if whole tables cannot be packed so, the hot parts shrink together until they can
    load        of a rank: reading its tables' rows from HBM and over PCIe, and their all-to-alls over its NIC
    program     HiGHS, stopped by a number of nodes so that runs repeat; its answer is taken where it beats
                placing the busiest table first

Reading over PCIe is time of the gather, at the topology's `gpu.host_bandwidth`; the ranks that wait for it wait
in the embeddings' all-to-all.
"""

import numpy as np
from pydantic import Field

from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount, PositiveShare
from simulator.errors import UserError
from simulator.sharding.balance import Item
from simulator.sharding.exchange import ID_BYTES
from simulator.sharding.execution import Execution
from simulator.sharding.hot_rows import rows_at_least
from simulator.sharding.layouts import single_owner
from simulator.sharding.memory import row_memory_bytes
from simulator.sharding.placement_program import place_whole
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.predict import gradient_row_bytes
from simulator.sharding.registry import register
from simulator.topology.topology import Topology
from simulator.units import format_duration
from simulator.workload.workload import Statistics, TableStatistics

THRESHOLD_STEPS = 60
PACKING_ROUNDS = 12
SHRINK = 0.95


class RecShardOptions(StrictModel):
    """What HBM may hold, and how long the program may search."""

    hbm_share: PositiveShare = Field(
        0.85, description="part of a GPU's memory reserved for tables; default 0.85"
    )
    nodes: PositiveCount = Field(50, description="branch-and-bound nodes at the most; default 50")


@register("recshard", "whole tables, hot rows in HBM and cold ones in host memory", options=RecShardOptions)
def recshard(
    statistics: Statistics, topology: Topology, execution: Execution, options: RecShardOptions
) -> ShardingPlan:
    """Plan hot rows into HBM and the rest into host memory, whole tables a rank. Raises UserError when nothing fits."""
    capacity_bytes = int(options.hbm_share * topology.hbm_capacity_bytes)
    share = 1.0
    for _ in range(PACKING_ROUNDS):
        hot = hot_rows(
            statistics, execution, capacity_bytes, int(share * capacity_bytes * topology.world_size)
        )
        items = _items(statistics, topology, execution, hot)
        try:
            owners, note = place_whole(items, topology, capacity_bytes, nodes=options.nodes)
        except UserError:
            share *= SHRINK
            continue
        break
    else:
        raise UserError(f"recshard: hot rows of {len(items)} tables cannot be packed into the ranks' HBM")
    tables = tuple(
        TablePlan(table.name, _segments(table, rows, topology.world_size, owner))
        for table, rows, owner in zip(statistics.tables, hot, owners, strict=True)
    )
    cold = sum(table.rows for table in statistics.tables) - sum(hot)
    notes = (
        _cold_note(statistics, topology, hot, owners) if cold else "no row in host memory",
        note,
    )
    return ShardingPlan("recshard", topology.world_size, tables, execution, notes)


def hot_rows(
    statistics: Statistics, execution: Execution, capacity_bytes: int, budget_bytes: int
) -> list[int]:
    """Rows of each table that HBM holds: those with most reads a byte, within a rank's and all ranks' HBM.

    Rows that are never read are there only if all rows of all tables are.
    """
    tables = statistics.tables
    sizes = [row_memory_bytes(table, execution.optimizer) for table in tables]
    every = [table.rows for table in tables]
    most = [
        min(table.touched_rows, capacity_bytes // size) for table, size in zip(tables, sizes, strict=True)
    ]

    def total_bytes(rows: list[int]) -> int:
        return sum(count * size for count, size in zip(rows, sizes, strict=True))

    def at(reads_per_byte: float) -> list[int]:
        return [
            min(rows_at_least(table, reads_per_byte * size / table.row_bytes), limit)
            for table, size, limit in zip(tables, sizes, most, strict=True)
        ]

    if total_bytes(every) <= budget_bytes and all(
        rows * size <= capacity_bytes for rows, size in zip(every, sizes, strict=True)
    ):
        return every
    if total_bytes(most) <= budget_bytes:
        return most
    low, high = 0.0, max(table.lookups_per_rank for table in tables) * 2
    for _ in range(THRESHOLD_STEPS):
        middle = 0.5 * high if low == 0 and high > 1e-12 else (low * high) ** 0.5
        low, high = (middle, high) if total_bytes(at(middle)) > budget_bytes else (low, middle)
    return _filled(at(high), most, sizes, budget_bytes)


def _filled(rows: list[int], most: list[int], sizes: list[int], budget_bytes: int) -> list[int]:
    """The rows, and as many more, table by table, as the budget still holds."""
    free_bytes = budget_bytes - sum(count * size for count, size in zip(rows, sizes, strict=True))
    filled = []
    for count, limit, size in zip(rows, most, sizes, strict=True):
        more = max(0, min(limit - count, free_bytes // size))
        free_bytes -= more * size
        filled.append(count + more)
    return filled


def _items(
    statistics: Statistics,
    topology: Topology,
    execution: Execution,
    hot: list[int],
) -> list[Item]:
    """Each table with its hot part's memory and the seconds that it takes of its rank."""
    nic_bytes_per_s = float(topology.inter_island_bytes_per_s.min())
    items = []
    for table, rows in zip(statistics.tables, hot, strict=True):
        served = table.lookups_per_rank * topology.world_size
        hit = float(table.popularity.cumulative_share([rows])[0])
        read_s = table.row_bytes * (
            hit / topology.hbm_bandwidth_bytes_per_s + (1 - hit) / topology.host_bandwidth_bytes_per_s
        )
        moved_s = (ID_BYTES + table.row_bytes + gradient_row_bytes(table, execution)) / nic_bytes_per_s
        memory_bytes = rows * row_memory_bytes(table, execution.optimizer)
        items.append(Item(table.name, load=served * (read_s + moved_s), memory_bytes=memory_bytes))
    return items


def _cold_note(
    statistics: Statistics,
    topology: Topology,
    hot: list[int],
    owners: list[int],
) -> str:
    """How many rows are in host memory, and what reading them takes the busiest rank."""
    read_s = np.zeros(topology.world_size)
    for table, rows, owner in zip(statistics.tables, hot, owners, strict=True):
        served = table.lookups_per_rank * topology.world_size
        share = float(table.popularity.share_between(rows, table.rows))
        read_s[owner] += served * share * table.row_bytes / topology.host_bandwidth_bytes_per_s
    cold = sum(table.rows for table in statistics.tables) - sum(hot)
    busiest = format_duration(float(read_s.max()))
    return f"{cold} rows in host memory; reading them takes the busiest rank {busiest}"


def _segments(table: TableStatistics, hot: int, world_size: int, owner: int) -> tuple[Segment, ...]:
    layout = single_owner(world_size, owner)
    parts = (Segment(0, hot, layout), Segment(hot, table.rows, layout, "host"))
    return tuple(part for part in parts if part.stop > part.start)
