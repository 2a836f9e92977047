"""One training iteration as a `Program`: un-pooled lookups, dense compute, gradients, synchronisation.

Theory of operation. What a rank does, and what it waits for on its own account (an arrow is `after`):

    ids --> gather --> embeddings --> dense_forward --> dense_backward --> gradients --> replica_sync
     :                      |          (in queue order)       |                         (sharded copies)
     : absent with          v                                 |
     : pipelining        next_ids                             +--> replica_sync (replicated rows)
                        (pipelining)                          +--> dense_sync

Gather, forward and backward are computes; the rest are collectives, one for each tier and group of ranks. The
groups of a phase rendezvous apart, side by side, and carry the phase's name. A group of one rank exchanges
nothing and has no collective; one that has nothing to send still meets.

Streams. Computes are queued on `compute`, collectives on `communication`, in the order ids, embeddings,
next_ids, gradients, replica_sync, dense_sync; within a step island, group, global. Two switches take some of
them off it, so that they overlap with all that they need not wait for:

    tiers: concurrent      all-to-alls within islands or groups have a queue of their own and run beside the
                           global one of their step; `serial` is the order above
    shared_stream: false   next_ids, replica_sync and dense_sync have a queue each

Neither implies the other. With a queue of its own dense_sync overlaps with the backward pass, which is then cut
into equal slices, each of which leaves one bucket of gradients behind.

Pipelining. The ids of this batch came during the iteration before, so they are not in the program. Those of the
next batch travel after the embeddings, beside dense compute; where that is too short to hide them, they delay
the gradients of a shared stream.

Start-up. A collective of several stages is a call for each of them, and their start-up times add up.

Left out: the owner's update of its rows, the loss, and data loading.
"""

from collections.abc import Sequence

import numpy as np

from simulator.arrays import FloatArray
from simulator.collectives.all_reduce import all_reduce
from simulator.collectives.all_to_all import all_to_all
from simulator.collectives.pairs import spread
from simulator.collectives.stage import Stage
from simulator.collectives.startup import startup_s
from simulator.engine.program import Collective, Compute, Operation, Program
from simulator.engine.synchronise import ring_algorithm, synchronisation_stages
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.sums import added
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase, Step
from simulator.traffic.synchronisation import Synchronisation
from simulator.traffic.traffic import Traffic
from simulator.workload.workload import Workload

DENSE_BUCKET_BYTES = 25 * 2**20  # the default of PyTorch's DistributedDataParallel (bucket_cap_mb)
DENSE_BUCKETS_AT_MOST = 16

IDS: tuple[Step, ...] = ("ids_gather", "ids")  # what pools gather goes before, what they spread after
EMBEDDINGS: tuple[Step, ...] = ("embeddings", "embeddings_spread")
GRADIENTS: tuple[Step, ...] = ("gradients_gather", "gradients")

SERIAL_ORDER = (Tier.ISLAND, Tier.GROUP, Tier.GLOBAL)

Indices = tuple[int, ...]


def iteration_program(
    traffic: Traffic,
    workload: Workload,
    topology: Topology,
    execution: Execution,
    *,
    next_ids: Sequence[Phase] | None = None,
) -> Program:
    """One iteration on all ranks.

    With pipelining, `next_ids` are the ids phases of the next batch; None stands for a batch just like this
    one.
    """
    dense = workload.dense
    dense_bytes = dense.parameters * dense.gradient_bytes
    slices = 1 if execution.shared_stream else bucket_count(dense_bytes)
    write = Writer(topology, execution)
    ids = () if execution.pipelining else write.exchanges(IDS, traffic.phases)
    gather = write.compute("gather", gather_s(traffic, topology), after=ids)
    embeddings = write.exchanges(EMBEDDINGS, traffic.phases, after=gather)
    write.everywhere("dense_forward", dense.forward_s, after=embeddings)
    if execution.pipelining:
        ahead = traffic.phases if next_ids is None else next_ids
        write.exchanges(IDS, ahead, after=gather + embeddings, prefix="next_")
    backward = [write.everywhere("dense_backward", dense.backward_s / slices) for _ in range(slices)]
    gradients = write.exchanges(GRADIENTS, traffic.phases, after=backward[-1])
    for entry in traffic.sync:
        write.replica_sync(entry, after=backward[-1] + gradients)
    for bucket_bytes, done in zip(spread(dense_bytes, slices).tolist(), backward, strict=True):
        write.dense_sync(bucket_bytes, after=done)
    return Program(topology.world_size, tuple(write.operations))


def steps_of(phases: Sequence[Phase], step: Step) -> tuple[Phase, ...]:
    """The phases of one step."""
    return tuple(phase for phase in phases if phase.step == step)


def bucket_count(dense_bytes: int) -> int:
    """Into how many buckets overlapped dense gradients are cut."""
    return max(1, min(DENSE_BUCKETS_AT_MOST, -(-dense_bytes // DENSE_BUCKET_BYTES)))


def gather_s(traffic: Traffic, topology: Topology) -> FloatArray:
    """[world_size] what reading rows takes each owner: from its own memory, then from its host's."""
    own_bytes = traffic.gather_bytes - traffic.host_gather_bytes
    own_s = own_bytes / topology.hbm_bandwidth_bytes_per_s
    return np.asarray(own_s + traffic.host_gather_bytes / topology.host_bandwidth_bytes_per_s)


class Writer:
    """Appends the operations of an iteration, in order; each method returns the indices of what it added."""

    def __init__(self, topology: Topology, execution: Execution) -> None:
        self.topology = topology
        self.execution = execution
        self.operations: list[Operation] = []

    def compute(self, name: str, duration_s: FloatArray, *, after: Indices = ()) -> Indices:
        """Work on every rank, `duration_s` [world_size]."""
        ranks = tuple(range(self.topology.world_size))
        return self._add(Compute(name, ranks, duration_s, after=self._sharing(after, ranks)))

    def everywhere(self, name: str, duration_s: float, *, after: Indices = ()) -> Indices:
        """Work that takes every rank the same."""
        return self.compute(name, np.full(self.topology.world_size, duration_s), after=after)

    def exchanges(
        self, steps: Sequence[Step], phases: Sequence[Phase], *, after: Indices = (), prefix: str = ""
    ) -> Indices:
        """The all-to-alls of some steps, each step after the one before it. `next_` marks another batch's."""
        added: Indices = ()
        for step in steps:
            added += self.exchange(prefix + step, steps_of(phases, step), after=after + added)
        return added

    def exchange(self, step: str, phases: Sequence[Phase], *, after: Indices = ()) -> Indices:
        """The all-to-alls of one step."""
        added: Indices = ()
        for phase in sorted(phases, key=lambda each: SERIAL_ORDER.index(each.tier)):
            for group in phase.groups:
                stages = all_to_all(
                    self.topology,
                    phase.matrix,
                    algorithm=self.execution.all_to_all,
                    ranks=None if len(group) == self.topology.world_size else group,
                )
                added += self._collective(
                    step,
                    phase.tier,
                    group,
                    stages,
                    stream=self._exchange_stream(step, phase.tier),
                    after=after,
                )
        return added

    def replica_sync(self, entry: Synchronisation, *, after: Indices) -> Indices:
        """One synchronisation; it waits only for those gradients in `after` that came to its own tier."""
        ranks = tuple(sorted(rank for owners in entry.copies for rank in owners))
        needed = tuple(index for index in after if self._tier_of(index) in ("", entry.tier))
        return self._collective(
            "replica_sync",
            entry.tier,
            ranks,
            synchronisation_stages(self.topology, entry, self.execution),
            stream=self._stream("replica_sync"),
            after=needed,
        )

    def dense_sync(self, bucket_bytes: int, *, after: Indices) -> Indices:
        """An all-reduce of dense gradients over all ranks; none for 0 bytes."""
        if bucket_bytes == 0:
            return ()
        ranks = tuple(range(self.topology.world_size))
        stages = all_reduce(self.topology, ranks, bucket_bytes, algorithm=ring_algorithm(self.execution))
        return self._collective(
            "dense_sync", "", ranks, stages, stream=self._stream("dense_sync"), after=after
        )

    def _collective(
        self, step: str, tier: str, ranks: Indices, stages: tuple[Stage, ...], *, stream: str, after: Indices
    ) -> Indices:
        if len(ranks) < 2:
            return ()
        return self._add(
            Collective(
                name=f"{step}_{tier}" if tier else step,
                ranks=ranks,
                stages=stages,
                startup_s=added(startup_s(self.topology, stage.flows) for stage in stages),
                stream=stream,
                after=self._sharing(after, ranks),
                step=step.removeprefix("next_"),
                tier=tier,
            )
        )

    def _exchange_stream(self, step: str, tier: Tier) -> str:
        base = self._stream(step)
        apart = self.execution.tiers == "concurrent" and tier is not Tier.GLOBAL
        return f"{base}_{tier}" if apart else base

    def _stream(self, step: str) -> str:
        """The queue of a step's collectives, tiers aside."""
        if self.execution.shared_stream:
            return "communication"
        if step.startswith("next_"):
            return "communication_next_ids"
        return f"communication_{step}" if step in ("replica_sync", "dense_sync") else "communication"

    def _add(self, operation: Operation) -> Indices:
        self.operations.append(operation)
        return (len(self.operations) - 1,)

    def _sharing(self, indices: Indices, ranks: Indices) -> Indices:
        """Those operations that have a rank among `ranks`."""
        members = frozenset(ranks)
        return tuple(index for index in indices if not members.isdisjoint(self.operations[index].ranks))

    def _tier_of(self, index: int) -> str:
        operation = self.operations[index]
        return operation.tier if isinstance(operation, Collective) else ""
