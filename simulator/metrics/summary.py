"""From the iterations of several policies to one line a policy, compared with a baseline.

A ratio with nothing under it is None ("n/a" to people, null in JSON). The confidence interval is Student's, for
the mean of iterations drawn independently.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.metrics.records import METRIC_NAMES, IterationRecord

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A metric over iterations. `half_width` is that of the confidence interval; None for one iteration."""

    mean: float | None
    std: float | None
    half_width: float | None


@dataclass(frozen=True)
class Wait:
    """How long the ranks of a phase wait, on average, for its last rank to come."""

    phase: str
    mean_s: float


@dataclass(frozen=True)
class PolicySummary:
    """One policy's figures; per-iteration ones as estimates."""

    policy: str
    iterations: int
    estimates: dict[str, Estimate]
    memory_bytes_per_rank_max: int
    bottleneck: str
    longest_wait: Wait | None  # None without collectives
    all_to_all_reduction: float | None
    communication_speedup: float | None

    def mean(self, metric: str) -> float | None:
        return self.estimates[metric].mean

    def to_json(self) -> dict[str, Any]:
        """Means under the metrics' own names, spreads beside them."""
        row: dict[str, Any] = {"policy": self.policy, "iterations": self.iterations}
        row |= {name: estimate.mean for name, estimate in self.estimates.items()}
        row |= {
            "memory_bytes_per_rank_max": self.memory_bytes_per_rank_max,
            "all_to_all_reduction": self.all_to_all_reduction,
            "communication_speedup": self.communication_speedup,
            "bottleneck": self.bottleneck,
            "longest_wait": None if self.longest_wait is None else asdict(self.longest_wait),
        }
        row["spread"] = {name: asdict(estimate) for name, estimate in self.estimates.items()}
        return row


def estimate(values: Sequence[float | None]) -> Estimate:
    """Mean, standard deviation and half width of the 95 % interval of the values that exist."""
    known = [value for value in values if value is not None]
    if not known:
        return Estimate(None, None, None)
    mean = math.fsum(known) / len(known)
    if len(known) == 1:
        return Estimate(mean, None, None)
    std = statistics.stdev(known)
    return Estimate(mean, std, student_quantile(len(known) - 1) * std / math.sqrt(len(known)))


def student_quantile(degrees_of_freedom: int) -> float:
    """The factor t with P(|T| <= t) = 0.95."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, 0.5 + CONFIDENCE / 2))


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """None when either is missing or there is nothing under the line."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def summarise(
    records: Sequence[IterationRecord],
    *,
    policy: str,
    memory_bytes_per_rank_max: int,
    baseline: PolicySummary | None,
) -> PolicySummary:
    """One policy's summary; `baseline` is None for the baseline itself."""
    estimates = {
        name: estimate([getattr(record.metrics, name) for record in records]) for name in METRIC_NAMES
    }
    reference = estimates if baseline is None else baseline.estimates
    cut = ratio(estimates["global_all_to_all_bytes"].mean, reference["global_all_to_all_bytes"].mean)
    return PolicySummary(
        policy=policy,
        iterations=len(records),
        estimates=estimates,
        memory_bytes_per_rank_max=memory_bytes_per_rank_max,
        bottleneck=longest_bottleneck(records),
        longest_wait=longest_wait(records),
        all_to_all_reduction=None if cut is None else 1 - cut,
        communication_speedup=ratio(reference["communication_s"].mean, estimates["communication_s"].mean),
    )


def longest_bottleneck(records: Sequence[IterationRecord]) -> str:
    """The bottleneck of the phase that takes longest, over all iterations; "none" without traffic."""
    longest = max(
        (phase for record in records for phase in record.phases), key=lambda p: p.transfer_s, default=None
    )
    return "none" if longest is None else longest.bottleneck


def longest_wait(records: Sequence[IterationRecord]) -> Wait | None:
    """The phase in which ranks wait longest, and how long in the mean of the iterations."""
    by_phase: dict[str, list[float]] = {}
    for record in records:
        for phase in record.phases:
            by_phase.setdefault(phase.phase, []).append(phase.mean_wait_s)
    waits = [Wait(phase, math.fsum(waits_s) / len(records)) for phase, waits_s in by_phase.items()]
    return max(waits, key=lambda wait: wait.mean_s, default=None)
