"""`Traffic`: what one iteration of a plan moves. A placement and a batch become phases with byte matrices."""

from dataclasses import dataclass

from simulator.arrays import IntArray
from simulator.traffic.phase import Phase
from simulator.traffic.synchronisation import Synchronisation


@dataclass(frozen=True, eq=False)
class Traffic:
    """One iteration's bytes and counts.

    `phases` come in the order in which they happen; steps of a tier that the plan has not are absent, and so is
    `sync` in iterations that synchronise nothing. `gather_bytes` [world_size] int64 is what each owner reads
    from its memory to answer, replicated rows at their reader included.

    `lookups_by_tier` counts every lookup once: `local` was answered by the rank itself from a sharded copy,
    `replicated` from its own replica, `island`, `group` and `global` by another rank, `reclaimed` by the owner
    of a row that the plan gave no memory. `hits_by_tier` counts the same lookups by the tier of their row,
    local or not. `distinct_by_tier` counts the rows that ranks asked for: fewer than hits where dedup is on.
    """

    phases: tuple[Phase, ...]
    sync: tuple[Synchronisation, ...]
    gather_bytes: IntArray
    lookups_by_tier: dict[str, int]
    hits_by_tier: dict[str, int]
    distinct_by_tier: dict[str, int]
