"""From a replayed iteration to its record: bytes, times, bounds and bottlenecks by phase.

Bytes are those that pass ports: scale-up egress for inside an island, NIC egress for between islands, so that an
algorithm or a fabric that moves bytes twice is seen to do so. A phase's bound is that of its slowest group: the
port bounds of the group's stages, one after another, latencies and start-up left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.engine.program import Collective
from simulator.engine.timeline import Timeline
from simulator.metrics.bounds import CollectiveBound
from simulator.metrics.records import IterationMetrics, IterationRecord, PhaseRecord
from simulator.topology.topology import ResourceKind, Topology
from simulator.traffic.phase import Phase
from simulator.traffic.traffic import Traffic

REPLICA_SYNC = "replica_sync"


@dataclass(frozen=True, eq=False)
class Egress:
    """Which resources count bytes that leave a rank, inside an island and between islands."""

    scale_up: BoolArray  # [resources]
    nic: BoolArray  # [resources]

    @classmethod
    def of(cls, topology: Topology) -> "Egress":
        leaves = np.array([name.endswith("/egress") for name in topology.resources.names], np.bool_)
        kind = topology.resources.kind
        return cls(leaves & (kind == ResourceKind.SCALE_UP), leaves & (kind == ResourceKind.NIC))


def measure(
    timeline: Timeline,
    traffic: Traffic,
    topology: Topology,
    bounds: Mapping[int, CollectiveBound],
    *,
    policy: str,
    iteration: int,
) -> IterationRecord:
    """The record of one iteration; phases in the order in which the program has them.

    `bounds` are those of `collective_bounds`.
    """
    egress = Egress.of(topology)
    phases = tuple(
        phase_record(timeline, operations, bounds, egress)
        for operations in named_collectives(timeline).values()
    )
    return IterationRecord(
        policy=policy,
        iteration=iteration,
        metrics=iteration_metrics(timeline, traffic, topology, phases, bounds),
        phases=phases,
        lookups_by_tier=dict(traffic.lookups_by_tier),
        hits_by_tier=dict(traffic.hits_by_tier),
        resource_bytes=timeline.resource_bytes.tolist(),
    )


def named_collectives(timeline: Timeline) -> dict[str, list[int]]:
    """Operation indices of the collectives by phase name."""
    collectives: dict[str, list[int]] = {}
    for index, operation in enumerate(timeline.program.operations):
        if isinstance(operation, Collective):
            collectives.setdefault(operation.name, []).append(index)
    return collectives


def phase_record(
    timeline: Timeline, operations: list[int], bounds: Mapping[int, CollectiveBound], egress: Egress
) -> PhaseRecord:
    """All groups of one phase."""
    first = timeline.program.operations[operations[0]]
    assert isinstance(first, Collective)
    slowest = max((bounds[index] for index in operations), key=lambda bound: bound.time_s)
    passed = np.sum([bounds[index].resource_bytes for index in operations], axis=0)
    wait_s = timeline.wait_s[operations]
    return PhaseRecord(
        phase=first.name,
        step=first.step,
        tier=first.tier,
        bytes=sum(bounds[index].bytes for index in operations),
        inter_island_bytes=int(passed[egress.nic].sum()),
        intra_island_bytes=int(passed[egress.scale_up].sum()),
        mean_wait_s=float(np.nanmean(wait_s)),
        max_wait_s=float(np.nanmax(wait_s)),
        transfer_s=float(np.nanmax(timeline.transfer_s[operations])),
        bound_s=slowest.time_s,
        bottleneck=slowest.bottleneck,
    )


def iteration_metrics(
    timeline: Timeline,
    traffic: Traffic,
    topology: Topology,
    phases: tuple[PhaseRecord, ...],
    bounds: Mapping[int, CollectiveBound],
) -> IterationMetrics:
    """The figures of a whole iteration, from those of its phases and its timeline."""
    replicas = [phase for phase in phases if phase.step == REPLICA_SYNC]
    others = [
        index
        for index, operation in enumerate(timeline.program.operations)
        if isinstance(operation, Collective) and operation.step != REPLICA_SYNC
    ]
    return IterationMetrics(
        global_all_to_all_bytes=global_all_to_all_bytes(traffic, topology),
        inter_island_bytes=sum(phase.inter_island_bytes for phase in phases),
        intra_island_bytes=sum(phase.intra_island_bytes for phase in phases),
        replica_sync_inter_island_bytes=sum(phase.inter_island_bytes for phase in replicas),
        communication_s=timeline.communication_s(),
        communication_without_sync_s=timeline.communication_s(others),
        iteration_s=timeline.iteration_s,
        bound_s=streams_bound_s(timeline, bounds),
        imbalance=embeddings_imbalance(traffic),
    )


def global_all_to_all_bytes(traffic: Traffic, topology: Topology) -> int:
    """The paper's metric: bytes of the all-to-alls whose communicators cross islands, their diagonal left out."""
    return sum(remote_bytes(phase.matrix) for phase in traffic.phases if crosses_islands(phase, topology))


def crosses_islands(phase: Phase, topology: Topology) -> bool:
    return any(np.ptp(topology.island_of[list(group)]) > 0 for group in phase.groups)


def remote_bytes(matrix: IntArray) -> int:
    return int(matrix.sum() - np.trace(matrix))


def embeddings_imbalance(traffic: Traffic) -> float | None:
    """Max over mean of the bytes that ranks send in the forward embeddings all-to-alls."""
    sent = sum(
        (row_sums(phase.matrix) for phase in traffic.phases if phase.step == "embeddings"), np.zeros(1)
    )
    return float(sent.max() / sent.mean()) if sent.any() else None


def row_sums(matrix: IntArray) -> IntArray:
    """[world_size] bytes that each rank sends to others."""
    return np.asarray(matrix.sum(axis=1) - np.diagonal(matrix))


def streams_bound_s(timeline: Timeline, bounds: Mapping[int, CollectiveBound]) -> float:
    """A rank runs the collectives of one stream one after another, its streams side by side: the most that any rank
    has on a stream, bounds added up."""
    by_stream: dict[str, FloatArray] = {}
    for index, bound in bounds.items():
        operation = timeline.program.operations[index]
        own_s = by_stream.setdefault(operation.stream, np.zeros(timeline.program.world_size))
        own_s[list(operation.ranks)] += bound.time_s
    return max((float(own_s.max()) for own_s in by_stream.values()), default=0.0)
