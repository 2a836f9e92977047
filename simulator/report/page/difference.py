"""What differs between two runs: keys of their configurations, and figures against their confidence intervals.

The half width of a difference's interval is the root of the sum of both squared half widths, as for independent means;
a difference is beyond the intervals when it is larger. Without an interval (one iteration) nothing is said.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.metrics.summary import Estimate, estimate
from simulator.report.columns import COLUMNS, Column, Kind
from simulator.report.folder import Results

MEASURED = tuple(
    column for column in COLUMNS if column.kind in ("traffic", "memory", "time") or column.key == "imbalance"
)
NAMES = {  # of columns whose headings need their neighbours to be understood
    "replica_sync_inter_island_bytes": "on NICs for sync",
    "communication_without_sync_s": "communication without sync",
    "memory_bytes_per_rank_max": "memory of the fullest GPU",
}
NO_KEY = "-"


@dataclass(frozen=True)
class KeyDifference:
    """A key whose value differs; a value is YAML's own writing, `NO_KEY` where there is none."""

    key: str
    one: str
    other: str


@dataclass(frozen=True)
class FigureDifference:
    """One figure of one policy in both runs."""

    policy: str
    name: str  # a column's heading, or a phase
    kind: Kind  # what unit it has
    one: Estimate
    other: Estimate

    @property
    def change(self) -> float | None:
        """Relative to the first run; None without a figure there to compare with."""
        if self.one.mean is None or self.other.mean is None:
            return None
        if self.one.mean == self.other.mean:
            return 0.0
        return self.other.mean / self.one.mean - 1 if self.one.mean else None

    @property
    def beyond(self) -> bool | None:
        """Whether the difference is larger than its interval; None where no interval is known."""
        if self.one.mean is None or self.other.mean is None:
            return None
        if self.one.half_width is None or self.other.half_width is None:
            return None
        return abs(self.other.mean - self.one.mean) > math.hypot(self.one.half_width, self.other.half_width)


def key_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[KeyDifference]:
    """Key by key, in the order of the first, then what only the second has."""
    left, right = dict(flat(one)), dict(flat(other))
    return [
        KeyDifference(key, left.get(key, NO_KEY), right.get(key, NO_KEY))
        for key in dict.fromkeys([*left, *right])
        if left.get(key) != right.get(key)
    ]


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested mappings as `a.b.c` and texts; members of a list that have names go by them, as in sweep files."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else str(key))
    elif named := _by_name(value):
        yield from flat(named, prefix)
    else:
        yield prefix, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _by_name(value: Any) -> dict[str, Any]:
    """A list of mappings as one, by their names (or labels); empty for anything else."""
    if not isinstance(value, list) or not all(isinstance(member, Mapping) for member in value):
        return {}
    names = [member.get("label") or member.get("name") for member in value]
    if not all(names) or len(set(names)) < len(names):
        return {}
    return {str(name): member for name, member in zip(names, value, strict=True)}


def figure_differences(one: Results, other: Results) -> list[FigureDifference]:
    """The figures of every policy that both runs have."""
    left, right = rows_by_policy(one), rows_by_policy(other)
    return [
        FigureDifference(
            policy,
            NAMES.get(column.key, column.title),
            column.kind,
            measured(left[policy], column),
            measured(right[policy], column),
        )
        for policy in left
        if policy in right
        for column in MEASURED
    ]


def rows_by_policy(results: Results) -> dict[str, Mapping[str, Any]]:
    return {row["policy"]: row for row in results.summary["policies"]}


def measured(row: Mapping[str, Any], column: Column) -> Estimate:
    """A figure with its interval; memory does not vary."""
    spread = row.get("spread", {}).get(column.key, {})
    exact = 0.0 if column.kind == "memory" else None
    return Estimate(row[column.key], spread.get("std"), spread.get("half_width", exact))


def phase_differences(one: Results, other: Results) -> list[FigureDifference]:
    """The transfer time of every phase that a policy has in both runs."""
    left, right = phase_estimates(one), phase_estimates(other)
    return [
        FigureDifference(policy, phase, "time", found, right[policy, phase])
        for (policy, phase), found in left.items()
        if (policy, phase) in right
    ]


def phase_estimates(results: Results) -> dict[tuple[str, str], Estimate]:
    """Transfer times over the iterations, by policy and phase."""
    grouped = results.phases.groupby(["policy", "phase"], sort=False)["transfer_s"]
    return {(str(policy), str(phase)): estimate(values.tolist()) for (policy, phase), values in grouped}
