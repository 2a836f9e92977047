"""The figures of a re-planning study: plain values. See `replan` for how they are found."""

from dataclasses import asdict, dataclass
from typing import Any

from simulator.experiment.experiment import Experiment
from simulator.experiment.provenance import assumptions, provenance
from simulator.metrics.hit_rates import HitRate
from simulator.sharding.plan import ShardingPlan


@dataclass(frozen=True)
class Move:
    """What one re-plan takes. Rows are expected numbers; those initialised were reclaimed and travel from nowhere."""

    rows: float
    initialised_rows: float
    bytes: int
    inter_island_bytes: int
    transfer_s: float
    pause_s: float

    @property
    def changes_plan(self) -> bool:
        """Whether any row is placed otherwise."""
        return self.rows + self.initialised_rows > 0.0


@dataclass(frozen=True)
class Renewal:
    """A plan renewed every `every` iterations, with the means of an iteration; None: never renewed."""

    every: int | None
    hit_rates: tuple[HitRate, ...]
    communication_s: float
    move: Move | None

    @property
    def moved_bytes_per_iteration(self) -> float:
        return self.move.bytes / self.every if self.move and self.every else 0.0

    @property
    def move_s_per_iteration(self) -> float:
        """Of transfer and pause."""
        return (self.move.transfer_s + self.move.pause_s) / self.every if self.move and self.every else 0.0

    @property
    def net_s(self) -> float:
        """Communication and moving."""
        return self.communication_s + self.move_s_per_iteration

    def to_json(self) -> dict[str, Any]:
        """Its figures, with what follows from them."""
        return {
            **asdict(self),
            "moved_bytes_per_iteration": self.moved_bytes_per_iteration,
            "move_s_per_iteration": self.move_s_per_iteration,
            "net_s": self.net_s,
        }


@dataclass(frozen=True, eq=False)
class Replanning:
    """`renewals` by interval, and the plan that is `never` renewed over `horizon` iterations."""

    experiment: Experiment
    plan: ShardingPlan
    over: int  # iterations that the workload's declared changes take
    horizon: int
    renewals: tuple[Renewal, ...]
    never: Renewal

    @property
    def all(self) -> tuple[Renewal, ...]:
        """The most often first, never last."""
        return (*self.renewals, self.never)

    @property
    def best(self) -> Renewal:
        """The least net time; where it is equal, the least often."""
        return min(reversed(self.all), key=lambda renewal: renewal.net_s)

    def gain_s(self, renewal: Renewal) -> float:
        """An iteration's, against the plan that is never renewed."""
        return self.never.net_s - renewal.net_s

    def to_json(self) -> dict[str, Any]:
        """What `shardsim replan --json` writes."""
        return {
            "policy": self.plan.policy,
            "provenance": provenance(self.experiment),
            "assumptions": assumptions(self.experiment),
            "over_iterations": self.over,
            "horizon_iterations": self.horizon,
            "best_every": self.best.every,
            "renewals": [{**each.to_json(), "gain_s": self.gain_s(each)} for each in self.all],
        }
