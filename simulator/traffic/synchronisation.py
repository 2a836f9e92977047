"""A `Synchronisation`: copies of the same rows that must be brought together after the backward pass."""

from dataclasses import dataclass
from typing import Literal

from simulator.arrays import IntArray
from simulator.sharding.plan import Tier


@dataclass(frozen=True, eq=False)
class Synchronisation:
    """All rows of one layout that has more than one copy; tables placed alike are one entry.

    `chunk_bytes` has one [owners] int64 array for each copy, in the order of that copy's owners (islands of
    unequal size cut a copy into chunks of unequal size).

        dense   what an owner holds of its copy. Copies are summed: an all-reduce among equal places of the copies
        sparse  ids and gradients of the rows in an owner's chunk that readers of its copy touched. What copies
                have is gathered: an all-gather among them

    `pooled_bytes` [islands] int64 is for the sparse and hierarchical exchange of replicated rows: ids and
    gradients of the rows that any rank of an island touched. It is None elsewhere.
    """

    tier: Tier
    mode: Literal["dense", "sparse"]
    copies: tuple[tuple[int, ...], ...]
    chunk_bytes: tuple[IntArray, ...]
    pooled_bytes: IntArray | None = None
