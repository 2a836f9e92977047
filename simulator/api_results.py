"""What the functions of `simulator.api` return: typed values, with pandas frames of what the result files hold.

Frames are made when they are asked for; their columns are those of docs/results.md, in SI units.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.engine.timeline import Timeline
from simulator.errors import UserError
from simulator.experiment import results
from simulator.experiment.simulate import Comparison, Iteration
from simulator.explanation.explanation import PolicyExplanation
from simulator.explanation.text import explanation_text
from simulator.metrics.summary import PolicySummary
from simulator.replanning.renewals import Replanning
from simulator.replanning.text import replan_text
from simulator.report.plan_view import plan_text
from simulator.report.table import TEXT_WIDTH, comparison_text
from simulator.sharding.explain import explain_plan
from simulator.sharding.memory import MemoryUse
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.plan_file import save_plan
from simulator.sharding.registry import unknown
from simulator.sweeps.frame import frame_of
from simulator.sweeps.frontier import Setting, settings_of
from simulator.sweeps.plot import plot_sweep
from simulator.sweeps.rows import Row
from simulator.sweeps.text import sweep_text
from simulator.topology.topology import Topology
from simulator.traffic.traffic import Traffic
from simulator.workload.workload import Statistics

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PlanResult:
    """Where every row goes. `memory` has what each rank keeps. Printed, it is the text of the command line."""

    plan: ShardingPlan
    memory: MemoryUse
    topology: Topology
    statistics: Statistics

    @property
    def notes(self) -> tuple[str, ...]:
        """What the planner has to say."""
        return self.plan.notes

    @property
    def memory_bytes_per_rank_max(self) -> int:
        """What the fullest rank keeps."""
        return self.memory.max_bytes

    @cached_property
    def runs(self) -> "pd.DataFrame":
        """A row for each run of rows of each table: table, tier, start, stop, lookup_share, lookups,
        all_to_all_bytes, memory_bytes and why it ends where it does."""
        import pandas as pd

        runs = explain_plan(self.plan, self.statistics, self.topology)
        frame = pd.DataFrame([asdict(run) for run in runs]).drop(columns="margins")
        return frame.assign(inequality=[run.inequality for run in runs])

    def save(self, path: str | Path) -> None:
        """Write the plan as YAML that can be edited and read back."""
        save_plan(self.plan, Path(path))

    def __str__(self) -> str:
        runs = explain_plan(self.plan, self.statistics, self.topology)
        return plan_text(self.plan, runs, width=TEXT_WIDTH).rstrip()


class ExplanationResult(tuple[PolicyExplanation, ...]):
    """An explanation for each policy. Printed, it is the text of the command line."""

    __slots__ = ()

    def to_json(self) -> list[dict[str, Any]]:
        """What `shardsim explain --json` writes."""
        return [each.to_json() for each in self]

    def __str__(self) -> str:
        return explanation_text(self, width=TEXT_WIDTH).rstrip()


class _Frames:
    """Tables of a comparison. Printed, it is the tables of the command line."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @cached_property
    def summary(self) -> "pd.DataFrame":
        """A row a policy: means over the iterations, memory, bottleneck, and the comparison with the baseline."""
        return _frame(results.summary_rows(self.comparison))

    @cached_property
    def iterations(self) -> "pd.DataFrame":
        """A row a policy and iteration: every metric, and lookups by tier."""
        return _frame(results.iteration_rows(self.comparison))

    @cached_property
    def phases(self) -> "pd.DataFrame":
        """A row a policy, iteration and phase: bytes, waiting, transfer, bound, bottleneck."""
        return _frame(results.phase_rows(self.comparison))

    @cached_property
    def links(self) -> "pd.DataFrame":
        """A row a policy and port or link: mean bytes, utilisation."""
        return _frame(results.link_rows(self.comparison))

    @cached_property
    def memory(self) -> "pd.DataFrame":
        """A row a policy and tier: bytes on the fullest rank."""
        return _frame(results.memory_rows(self.comparison))

    @cached_property
    def tiers(self) -> "pd.DataFrame":
        """A row a policy, table and run of rows: its tier and its share of the lookups."""
        return _frame(results.tier_rows(self.comparison))

    def to_json(self) -> dict[str, Any]:
        """What `shardsim compare --json` writes."""
        return results.summary_json(self.comparison)

    def __str__(self) -> str:
        return comparison_text(self.to_json(), width=TEXT_WIDTH).rstrip()


class ComparisonResult(_Frames):
    """Several policies on one topology and workload."""

    def policy(self, label: str) -> PolicySummary:
        """One policy's summary. Raises UserError for an unknown label."""
        by_label = {summary.policy: summary for summary in self.comparison.summaries}
        if label not in by_label:
            raise UserError(unknown("policy", label, list(by_label)))
        return by_label[label]


class SimulationResult(_Frames):
    """One policy. `first` is all that its first iteration left behind."""

    def __init__(self, comparison: Comparison, first: Iteration) -> None:
        super().__init__(comparison)
        self.first = first

    @property
    def metrics(self) -> PolicySummary:
        """Means over the iterations, with their spread: `metrics.mean("communication_s")`."""
        return self.comparison.summaries[0]

    @property
    def communication_s(self) -> float:
        """Mean time in which the slowest rank has a collective in flight."""
        return self.metrics.mean("communication_s") or 0.0

    @property
    def iteration_s(self) -> float:
        """Mean time of an iteration."""
        return self.metrics.mean("iteration_s") or 0.0

    @property
    def timeline(self) -> Timeline:
        """When each rank came to, began and ended each operation of the first iteration."""
        return self.first.timeline

    @property
    def traffic(self) -> Traffic:
        """The byte matrices of the first iteration."""
        return self.first.traffic


class ReplanResult:
    """How often to plan anew. Printed, it is the table of the command line."""

    def __init__(self, study: Replanning) -> None:
        self.study = study

    @property
    def best_every(self) -> int | None:
        """The interval with the least net time; None: never."""
        return self.study.best.every

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """A row an interval (`every` missing: never): times and bytes of an iteration and of a re-plan, and
        `achieved_<tier>` shares of the lookups."""
        return _frame([flat_row(row) for row in self.to_json()["renewals"]])

    def to_json(self) -> dict[str, Any]:
        """What `shardsim replan --json` writes."""
        return self.study.to_json()

    def __str__(self) -> str:
        return replan_text(self.study, width=TEXT_WIDTH).rstrip()


def flat_row(row: dict[str, Any]) -> dict[str, Any]:
    """One interval's figures side by side."""
    plain = {name: value for name, value in row.items() if name not in ("hit_rates", "move")}
    moved = {f"move_{name}": value for name, value in (row["move"] or {}).items()}
    return plain | moved | {f"achieved_{rate['tier']}": rate["achieved_share"] for rate in row["hit_rates"]}


class SweepResult:
    """A sweep's points, in order. Printed, it is the table of the command line."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """A row a point: its varied values, inputs, figures, error and key; numbers as numbers."""
        return frame_of(self.rows)

    def settings(self, by: str = "communication_s") -> list[Setting]:
        """Clusters and workloads with their fronts of memory and latency."""
        return settings_of(self.rows, by=by)

    def plot(self, path: str | Path, *, x: str | None = None, y: str = "communication_s") -> None:
        """Draw a figure over a key, as PNG and SVG."""
        plot_sweep(self.rows, Path(path).with_suffix(""), x=x, y=y)

    def __str__(self) -> str:
        return sweep_text(self.rows, width=TEXT_WIDTH).rstrip()


def _frame(rows: Any) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows)
