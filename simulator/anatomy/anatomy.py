"""The anatomy of one iteration: what its communication is made of, phase by phase, and its critical path."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simulator.anatomy.critical_path import CriticalPath, Step, critical_path
from simulator.anatomy.parts import CollectiveCost, Costs, Lead, Parts
from simulator.engine.program import Collective
from simulator.engine.timeline import Timeline
from simulator.metrics.measure import named_collectives
from simulator.sums import added
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class PhaseAnatomy:
    """One phase: the parts of the rank that leaves last, in the group that takes longest."""

    name: str
    parts: Parts
    mean_wait_s: float  # of all ranks
    max_wait_s: float
    transfer_s: float
    bound_s: float
    lead: Lead

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PhaseAnatomy":
        return cls(**{**data, "parts": Parts(**data["parts"]), "lead": Lead(**data["lead"])})


@dataclass(frozen=True, eq=False)
class Anatomy:
    """One iteration of one policy.

    `communication` are the parts of the rank with most of it; they add up to `communication_s` but for `overlap_s`,
    in which that rank has more than one collective in flight. `path_parts` are those of the critical path's
    collectives; with its computes they fill the iteration.
    """

    policy: str
    iteration_s: float
    communication_s: float
    communication: Parts
    overlap_s: float
    slowest_rank: int
    phases: tuple[PhaseAnatomy, ...]
    path: CriticalPath
    path_compute_s: float
    path_parts: Parts

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        data = {name: getattr(self, name) for name in ("policy", "iteration_s", "communication_s")}
        return data | {
            "communication_parts_s": asdict(self.communication) | {"overlap_s": self.overlap_s},
            "slowest_rank": self.slowest_rank,
            "phases": [asdict(phase) for phase in self.phases],
            "critical_path": {
                "late_s": self.path.late_s,
                "compute_s": self.path_compute_s,
                "parts_s": asdict(self.path_parts),
                "steps": [asdict(step) for step in self.path.steps],
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Anatomy":
        """The value whose `to_json` is `data`. Raises KeyError or TypeError for anything else."""
        path, parts = data["critical_path"], dict(data["communication_parts_s"])
        return cls(
            policy=data["policy"],
            iteration_s=data["iteration_s"],
            communication_s=data["communication_s"],
            overlap_s=parts.pop("overlap_s"),
            communication=Parts(**parts),
            slowest_rank=data["slowest_rank"],
            phases=tuple(PhaseAnatomy.from_json(phase) for phase in data["phases"]),
            path=CriticalPath(tuple(Step(**step) for step in path["steps"]), path["late_s"]),
            path_compute_s=path["compute_s"],
            path_parts=Parts(**path["parts_s"]),
        )


def anatomy_of(timeline: Timeline, topology: Topology, *, policy: str) -> Anatomy:
    """Take a replayed iteration apart."""
    costs = Costs(topology)
    cost_of = {
        index: costs.of(operation)
        for index, operation in enumerate(timeline.program.operations)
        if isinstance(operation, Collective)
    }
    path = critical_path(timeline)
    moving = [step for step in path.steps if step.operation in cost_of]
    path_parts = (cost_of[step.operation].parts(0.0, step.duration_s) for step in moving)
    busy_s = timeline.busy_s(list(cost_of))
    slowest = int(busy_s.argmax())
    own = (parts_at(timeline, index, slowest, cost) for index, cost in cost_of.items())
    communication = sum(own, Parts())
    return Anatomy(
        policy=policy,
        iteration_s=timeline.iteration_s,
        communication_s=float(busy_s[slowest]),
        communication=communication,
        overlap_s=communication.total_s - float(busy_s[slowest]),
        slowest_rank=slowest,
        phases=tuple(
            phase_anatomy(name, timeline, indices, cost_of)
            for name, indices in named_collectives(timeline).items()
        ),
        path=path,
        path_compute_s=added(step.duration_s for step in path.steps if step.operation not in cost_of),
        path_parts=sum(path_parts, Parts()),
    )


def parts_at(timeline: Timeline, index: int, rank: int, cost: CollectiveCost) -> Parts:
    """A rank's parts in a collective; none where it has no part in it."""
    if np.isnan(timeline.end_s[index, rank]):
        return Parts()
    return cost.parts(float(timeline.wait_s[index, rank]), float(timeline.transfer_s[index, rank]))


def phase_anatomy(
    name: str, timeline: Timeline, indices: Sequence[int], cost_of: Mapping[int, CollectiveCost]
) -> PhaseAnatomy:
    """All groups of one phase, by the slowest."""
    transfer_s = timeline.transfer_s[list(indices)]
    row, rank = np.unravel_index(int(np.nanargmax(transfer_s)), transfer_s.shape)
    slowest = indices[int(row)]
    cost, wait_s = cost_of[slowest], timeline.wait_s[list(indices)]
    return PhaseAnatomy(
        name=name,
        parts=parts_at(timeline, slowest, int(rank), cost),
        mean_wait_s=float(np.nanmean(wait_s)),
        max_wait_s=float(np.nanmax(wait_s)),
        transfer_s=float(transfer_s[row, rank]),
        bound_s=cost.bound_s,
        lead=cost.lead,
    )
