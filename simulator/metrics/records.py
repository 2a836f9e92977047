"""What is kept of one iteration: plain values that survive a round trip through JSON.

Bytes count what ranks hand to the network (the diagonal never counts); seconds are simulated time.
"""

from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class PhaseRecord:
    """One step's collectives of one tier; the groups of a phase run side by side and are summed."""

    phase: str  # "embeddings_global"
    step: str
    tier: str
    bytes: int
    inter_island_bytes: int
    intra_island_bytes: int
    mean_wait_s: float  # over the ranks: from coming to the collective to its start
    max_wait_s: float
    transfer_s: float  # the longest from a group's start to its end, start-up and latency included
    bound_s: float  # the port bound of the same bytes
    bottleneck: str  # the resource or pair that sets the bound; "none" without traffic


@dataclass(frozen=True)
class IterationMetrics:
    """The figures of one iteration under one policy.

    `communication_s` is the time in which the slowest rank has a collective in flight, waiting included;
    overlapped collectives count once. `bound_s` is the most that any rank has on one stream, the port
    bounds of its collectives added up. `imbalance` is max over mean of the bytes that ranks send in
    the forward embeddings all-to-alls; None when none are sent.

    Bytes are whole where every iteration synchronises copies; else each counts its part of a synchronisation.
    """

    global_all_to_all_bytes: float
    inter_island_bytes: float
    intra_island_bytes: float
    replica_sync_inter_island_bytes: float
    communication_s: float
    communication_without_sync_s: float
    iteration_s: float
    bound_s: float
    imbalance: float | None


@dataclass(frozen=True)
class IterationRecord:
    """One finished iteration of one policy. `phases` are those of one that synchronises copies."""

    policy: str
    iteration: int
    metrics: IterationMetrics
    phases: tuple[PhaseRecord, ...]
    lookups_by_tier: dict[str, int]  # where they were answered; `local` is the rank itself
    hits_by_tier: dict[str, int]  # the tier of their row, local or not
    resource_bytes: Sequence[float]  # [resources] payload that passed each resource

    def __post_init__(self) -> None:
        object.__setattr__(self, "resource_bytes", packed(self.resource_bytes))  # runs keep every record

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"resource_bytes": list(self.resource_bytes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "IterationRecord":
        """The record that a line of a checkpoint holds."""
        return cls(
            policy=data["policy"],
            iteration=data["iteration"],
            metrics=IterationMetrics(**data["metrics"]),
            phases=tuple(PhaseRecord(**phase) for phase in data["phases"]),
            lookups_by_tier=data["lookups_by_tier"],
            hits_by_tier=data["hits_by_tier"],
            resource_bytes=data["resource_bytes"],
        )


def packed(values: Sequence[float]) -> Sequence[float]:
    """The same numbers in a fifth of the memory that a tuple of them takes."""
    whole = all(isinstance(value, int) for value in values)
    return array("q" if whole else "d", values)


def mean_record(one: IterationRecord, other: IterationRecord, *, share: float) -> IterationRecord:
    """One replay's figures with the weight `share`, and those of another of the same draw with the rest. Phases and
    counts are the one's."""

    def mean(first: float | None, second: float | None) -> float | None:
        return None if first is None or second is None else share * first + (1 - share) * second

    own, others = vars(one.metrics), vars(other.metrics)
    metrics = IterationMetrics(**{name: mean(own[name], others[name]) for name in own})  # type: ignore[arg-type]
    passed = zip(one.resource_bytes, other.resource_bytes, strict=True)
    resource_bytes = [share * first + (1 - share) * second for first, second in passed]
    return replace(one, metrics=metrics, resource_bytes=resource_bytes)


METRIC_NAMES = tuple(field.name for field in fields(IterationMetrics))
