"""What stands under a comparison: how well its means are known and were to be, waiting that outweighs the
bottleneck, and hits that parted from the plan."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.report.scales import share_text, time_text

NOTABLE_SHARE = 0.02  # of the lookups, by which a tier's hits must part from the plan to be told
NOTABLE_WAIT_SHARE = 0.5  # of the communication, that waiting in one phase must take to be told


def remarks(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about the figures of `summary.json`."""
    return [*interval(summary), *short_of_precision(summary), *waiting(summary), *parted_hits(summary)]


def interval(summary: Mapping[str, Any]) -> Iterator[str]:
    """The widest 95 % interval of a policy's communication time, relative to it."""
    widths = relative_half_widths(summary)
    if widths:
        widest = max(widths, key=lambda policy: widths[policy])
        yield f"95 % intervals of communication: within ± {share_text(widths[widest])} ({widest})."


def short_of_precision(summary: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each policy that `iterations: auto` gave up before it was known as well as was asked."""
    wanted = summary.get("wanted_half_width")
    if wanted is None:
        return
    iterations = {row["policy"]: row["iterations"] for row in summary["policies"]}
    for policy, width in relative_half_widths(summary).items():
        if width > wanted:
            yield (
                f"{policy}: communication is known within ± {100 * width:.3g} % after {iterations[policy]} iterations, "
                f"the `maximum`; wanted were ± {100 * wanted:g} %."
            )


def relative_half_widths(summary: Mapping[str, Any]) -> dict[str, float]:
    """Of the 95 % interval of each policy's communication time, where it has one."""
    widths = {}
    for row in summary["policies"]:
        known = row.get("spread", {}).get("communication_s", {})
        if known.get("half_width") is not None and known["mean"]:
            widths[row["policy"]] = known["half_width"] / known["mean"]
    return widths


def waiting(summary: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each policy whose ranks mostly wait for one of theirs, which no bottleneck tells."""
    for row in summary["policies"]:
        wait = row.get("longest_wait")
        if wait and wait["mean_s"] > NOTABLE_WAIT_SHARE * row["communication_s"]:
            yield (
                f"{row['policy']}: ranks wait {time_text(wait['mean_s'])} on average for the last to come to "
                f"{wait['phase']}, most of its communication; `shardsim explain` says for which."
            )


def parted_hits(summary: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each tier that took more or fewer lookups than it was planned for."""
    for row in summary["policies"]:
        for rate in row.get("hit_rates", []):
            planned, achieved = rate["planned_share"], rate["achieved_share"]
            if achieved is not None and abs(achieved - planned) > NOTABLE_SHARE:
                yield (
                    f"{row['policy']}: {rate['tier']} rows took {share_text(achieved)} of the lookups, "
                    f"planned were {share_text(planned)}."
                )
