"""A `ShardingPlan`: for every row of every table, who holds it and who reads it from whom.

Rows are named by *popularity order*: row 0 is the hottest of its table in the planning statistics. Where a
row lives inside a run of rows is decided by the workload's shuffle of ids, not by its heat.

A table is cut into *segments*, runs of rows placed alike. A segment's `Layout` says which full copies of it
exist and which copy each rank reads:

    replicated   world_size copies of one owner each             no forward traffic
    island       one copy an island, over its ranks              scale-up traffic only
    global       one copy over all ranks (row-wise), or on fewer owners (table-wise, column-wise)
    group        copies over groups of ranks (2D sparse parallel)

Rows of a table after its last segment were never touched in the planning statistics and are reclaimed: they
take no memory.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from simulator.sharding.execution import Execution


class Tier(StrEnum):
    """What a layout is called in results."""

    REPLICATED = "replicated"
    ISLAND = "island"
    GLOBAL = "global"
    GROUP = "group"


@dataclass(frozen=True, eq=False)
class Layout:
    """Full copies of a run of rows. One value is shared by all segments placed alike."""

    tier: Tier
    copies: tuple[tuple[int, ...], ...]  # the owners of each copy, in order of their shards
    copy_of: tuple[int, ...]  # [world_size] the copy that each rank reads
    split: Literal["rows", "columns"] = "rows"  # what each owner of a copy holds: ceil-sized blocks of it


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows [start, stop) in popularity order, placed by one layout."""

    start: int
    stop: int
    layout: Layout
    memory: Literal["hbm", "host"] = "hbm"  # host: in the memory of the owner's host, read over PCIe


@dataclass(frozen=True, eq=False)
class TablePlan:
    """One table's segments, in order, from row 0 without gaps; what follows the last is reclaimed."""

    table: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Prices:
    """What a planner found scarce: the multipliers of its constraints at the optimum."""

    nic_shares: tuple[float, ...]  # what global all-to-alls hold of each race's time (see `tier_costs`)
    memory_s_per_byte: float  # seconds saved by one more byte on every rank; 0 when memory is not scarce


@dataclass(frozen=True, eq=False)
class ShardingPlan:
    """The whole placement, with the switches it is to be run under and what the planner has to say of it."""

    policy: str
    world_size: int
    tables: tuple[TablePlan, ...]  # in the workload's order
    execution: Execution
    notes: tuple[str, ...] = ()
    prices: Prices | None = None  # None: not planned by prices
