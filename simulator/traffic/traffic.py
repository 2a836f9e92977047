"""`Traffic`: what one iteration of a plan moves. A placement and a batch become phases with byte matrices.

Theory of operation. Table by table, the lookups of every rank are divided over the runs and owners of the
table, turned into requests (distinct rows where dedup is on) and added up. From the sums come the matrices

    ids          reader -> owner     8 B an id, and what the owner needs to read the list
    embeddings   owner -> reader     columns x element bytes for each row asked for
    gradients    reader -> owner     the mirror, in the gradients' dtype

of each tier that has them. With `dedup: rank` a rank asks an owner for each row once, and adds up the row's
gradients before it returns one. With `dedup: island` the ranks of an island do so together where the owner is
on another island: requests are gathered at a mate on the same island, rows come to the mate once and are spread
from there, gradients are gathered and added up there. Inside the island it is as with `rank`.

Each kind of draw has a generator of its own, so that switching dedup on leaves every lookup where it was.
Tables of one id stream share theirs.
"""

from dataclasses import dataclass

from simulator.arrays import IntArray
from simulator.sharding.plan import ShardingPlan
from simulator.topology.topology import Topology
from simulator.traffic.books import Books
from simulator.traffic.phase import Phase
from simulator.traffic.phases import Exchanges
from simulator.traffic.placement import Placement, prepare
from simulator.traffic.synchronisation import Synchronisation
from simulator.workload.workload import Batch, Workload


@dataclass(frozen=True, eq=False)
class Traffic:
    """One iteration's bytes and counts.

    `phases` come in the order in which they happen; steps of a tier that the plan has not are absent. `sync` is what
    this iteration exchanges if it is the one in `sync_every` that synchronises. `gather_bytes` [world_size] int64 is
    what each owner reads from memory to answer, replicated rows at their reader included; `host_gather_bytes` are
    those of it that it reads from its host's memory.

    `lookups_by_tier` counts every lookup once: `local` was answered by the rank itself from a sharded copy,
    `replicated` from its own replica, `island`, `group` and `global` by another rank, `reclaimed` by whoever
    its id hashes to. `hits_by_tier` counts the same lookups by the tier of their row, local or not.
    `distinct_by_tier` counts the rows that ranks asked for: fewer than hits where dedup is on.
    """

    phases: tuple[Phase, ...]
    sync: tuple[Synchronisation, ...]
    gather_bytes: IntArray
    host_gather_bytes: IntArray
    lookups_by_tier: dict[str, int]
    hits_by_tier: dict[str, int]
    distinct_by_tier: dict[str, int]


def draw_traffic(placement: Placement, batch: Batch) -> Traffic:
    """One iteration's traffic. The same placement and batch give the same bytes."""
    books = Books(placement, batch)
    for index in range(len(placement.tables)):
        books.add_table(index)
    exchanges = Exchanges(placement, books.tallies)
    return Traffic(
        phases=exchanges.phases(),
        sync=books.synchronisations(),
        gather_bytes=exchanges.gather_bytes(),
        host_gather_bytes=books.host_elements * placement.element_bytes,
        lookups_by_tier=books.lookups_by_tier(),
        hits_by_tier=books.hits_by_tier(),
        distinct_by_tier=books.distinct_by_tier(),
    )


def plan_traffic(plan: ShardingPlan, workload: Workload, topology: Topology, batch: Batch) -> Traffic:
    """`draw_traffic` in one call, for a single batch of a plan."""
    return draw_traffic(prepare(plan, workload, topology, seed=batch.seed), batch)
