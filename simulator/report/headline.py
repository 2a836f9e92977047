"""The one sentence of a comparison, which never goes without its assumptions.

Two pairs stand side by side in it: global all-to-all bytes and all bytes between islands (synchronisation of
replicas included), and communication time with and without that synchronisation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.report.scales import factor_text

INTRODUCTION = "Under these assumptions:"
SAME_SHARE = 0.005  # figures within half a percent are called the same; of equals the first is named


@dataclass(frozen=True)
class Headline:
    """A claim and the assumptions under which it holds (at least one)."""

    sentence: str
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.assumptions:
            raise ValueError("a headline must come with its assumptions")


def headline(summary: Mapping[str, Any], assumptions: Sequence[str]) -> Headline:
    """The claim about the policy that communicates fastest. Raises ValueError without assumptions."""
    return Headline(sentence(summary), tuple(assumptions))


def sentence(summary: Mapping[str, Any]) -> str:
    """What the comparison found, in one or two sentences."""
    baseline = next(row for row in summary["policies"] if row["policy"] == summary["baseline"])
    others = [row for row in summary["policies"] if row is not baseline]
    compared = [row for row in others if row["communication_speedup"] is not None]
    if not others:
        return f"Only {baseline['policy']} was run: there is nothing to compare it with."
    if not compared:
        return f"{baseline['policy']} takes no time to communicate here: there is nothing to speed up."
    most = max(row["communication_speedup"] for row in compared)
    best = next(row for row in compared if row["communication_speedup"] >= most * (1 - SAME_SHARE))
    if best["communication_speedup"] <= 1 + SAME_SHARE:
        return f"No policy communicates faster than {baseline['policy']} here. {_against(best, baseline)}"
    return _against(best, baseline)


def _against(best: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    traffic = _change("global all-to-all traffic", best, baseline, "global_all_to_all_bytes")
    wire = _change(
        "all traffic between islands, synchronisation included,", best, baseline, "inter_island_bytes"
    )
    without = _ratio(baseline, best, "communication_without_sync_s")
    return (
        f"Against {baseline['policy']}, {best['policy']} {traffic} and {wire}; "
        f"its communication is {factor_text(best['communication_speedup'])} as fast "
        f"({factor_text(without)} without synchronisation)."
    )


def _change(what: str, row: Mapping[str, Any], baseline: Mapping[str, Any], key: str) -> str:
    ratio = _ratio(row, baseline, key)
    if ratio is None:
        return f"compares with no {what}" if row[key] == 0 else f"adds {what} where there was none"
    if abs(ratio - 1) < SAME_SHARE / 10:
        return f"leaves {what} as it is"
    return f"{'cuts' if ratio < 1 else 'raises'} {what} by {100 * abs(ratio - 1):.1f} %"


def _ratio(row: Mapping[str, Any], under: Mapping[str, Any], key: str) -> float | None:
    return float(row[key] / under[key]) if under[key] else None
