"""Figure 5: communication time by policy and phase, and how the speed-up divides into less traffic and better balance.

Two clusters: ports alone, which is the claim's pure model, and the same with start-up, message gap and efficiency
as calibrated. Predicted times are those of perfectly balanced ranks, so the ratio of predictions is what less
traffic gains, and what is simulated beyond it is balance.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, levels, mean, names, numbers
from simulator.figures.look import SMALL, bar_text, line_labels, plain_axes, policy_colour
from simulator.figures.measures import metrics, phases
from simulator.report.plots.style import BLUE, GREY, PURPLE, TIER_COLOURS, VERMILLION, plain_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE, OURS = "row-wise", "FlexShard"
CLAIMED_SPEEDUP = 6.0  # "almost 6x", of the abstract
CLUSTERS = {"ideal_16x8": ("ports alone", VERMILLION), "zionex_16x8": ("calibrated", BLUE)}
WORKLOADS = {"headline_40": "40 tables of 1e6 rows", "headline_4": "4 tables of 1e7 rows"}
MS = 1e-3
LONGEST_MS = 46.0


def speedups(
    frame: "DataFrame", policy: str, column: str = "communication_s", **wanted: object
) -> FloatArray:
    """[seeds] row-wise's time over a policy's; `column` is the policy's time, with or without synchronisation."""
    base = chosen(frame, policy=BASELINE, **wanted).drop_duplicates("seed")
    own = chosen(frame, policy=policy, **wanted).drop_duplicates("seed")
    kind = "predicted_s" if column.startswith("predicted") else "communication_s"
    ratio: FloatArray = numbers(base, kind) / numbers(own, column)
    return ratio


def lanes(own: "DataFrame") -> list[list[tuple[str, float]]]:
    """What is drawn end to end, as (tier or step, ms): one lane, or one a tier when tiers go at once."""
    steps = list(dict.fromkeys(zip(own["step"], own["tier"], strict=True)))
    times = [
        (tier if step != "replica_sync" else step, mean(own, "transfer_s", step=step, tier=tier) / MS)
        for step, tier in steps
    ]
    total_ms = mean(own, "communication_s") / MS
    if sum(time for _, time in times) <= 1.02 * total_ms:
        return [times]
    return [[part for part in times if part[0] != "island"], [part for part in times if part[0] == "island"]]


def draw_bars(ax: "Axes", frame: "DataFrame") -> None:
    """A bar a policy on each cluster, phase by phase; times, and speed-ups with the range over seeds."""
    ticks: list[tuple[float, str]] = []
    row = 0.0
    for topology, (cluster, _) in CLUSTERS.items():
        ax.text(0, row, f"{cluster}", size=SMALL, weight="bold", va="center")
        mine = chosen(frame, topology=topology)
        for policy in names(mine, "policy"):
            row += 1
            own = chosen(mine, policy=policy)
            drawn = lanes(own)
            for lane, parts in enumerate(drawn):
                left, height = 0.0, 0.76 / len(drawn)
                for kind, time_ms in parts:
                    colour = TIER_COLOURS.get(kind, PURPLE)
                    y = row + (lane - (len(drawn) - 1) / 2) * height
                    ax.barh(y, time_ms, left=left, height=height, color=colour, edgecolor="white", lw=0.4)
                    left += time_ms
            bar_text(ax, mean(own, "communication_s") / MS, row, bar_end_text(frame, topology, policy))
            ticks.append((row, policy))
        row += 1.3
    ax.set_yticks([y for y, _ in ticks], [policy for _, policy in ticks], size=SMALL)
    for label in ax.get_yticklabels():
        label.set_color(policy_colour(label.get_text()))
    plain_bars(ax, rows=row - 0.7, longest=LONGEST_MS, label="ms of communication in one iteration")


def bar_end_text(frame: "DataFrame", topology: str, policy: str) -> str:
    """The time, and what it is against row-wise."""
    own_ms = mean(frame, "communication_s", topology=topology, policy=policy) / MS
    if policy == BASELINE:
        return f"{own_ms:.1f} ms"
    gain = speedups(frame, policy, topology=topology)
    without = speedups(frame, policy, "communication_without_sync_s", topology=topology)
    return (
        f"{own_ms:.1f} ms  {gain.mean():.1f}x ({gain.min():.1f} to {gain.max():.1f}), "
        f"{without.mean():.1f}x without sync"
    )


def draw_split(ax: "Axes", frame: "DataFrame") -> None:
    """Speed-up over skew: dashed what less traffic gains, solid what is simulated, shaded its range over seeds."""
    skews = levels(frame, "s")
    labels = []
    for topology, (cluster, colour) in CLUSTERS.items():
        every = [speedups(frame, OURS, topology=topology, s=s) for s in skews]
        balanced = [speedups(frame, OURS, "predicted_s", topology=topology, s=s).mean() for s in skews]
        middle = np.array([gain.mean() for gain in every])
        ax.fill_between(
            skews, [g.min() for g in every], [g.max() for g in every], color=colour, alpha=0.18, lw=0
        )
        ax.plot(skews, middle, color=colour, linewidth=1.6)
        ax.plot(skews, balanced, color=colour, linewidth=1.2, linestyle=(0, (3, 2)))
        labels += [(cluster, skews[-1], middle[-1], colour), ("balanced", skews[-1], balanced[-1], colour)]
    ax.axhline(CLAIMED_SPEEDUP, color=GREY, linewidth=0.8)
    ax.set(yscale="log", ylim=(2, 36), xlim=(skews[0], skews[-1]), xlabel="skew s")
    ax.set_yticks([2, 4, 6, 10, 20, 30], ["2x", "4x", "6x", "10x", "20x", "30x"])
    ax.set_yticks([], minor=True)
    plain_axes(ax)
    line_labels(ax, labels)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    panels: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    upper, lower = panels
    top = upper.subplots()
    draw_bars(top, frames["latency"])
    keys = [("global", BLUE), ("island", TIER_COLOURS["island"]), ("synchronisation", PURPLE)]
    for place, (text, colour) in enumerate(keys):
        top.text(0.55 + 0.13 * place, 1.01, text, size=SMALL, color=colour, transform=top.transAxes)
    for ax, (workload, name) in zip(lower.subplots(1, 2), WORKLOADS.items(), strict=True):
        ax.set_title(f"speed-up, {name}", size=SMALL, loc="left")
        draw_split(ax, chosen(frames["claim"], workload=workload))
    lower.axes[0].text(1.005, 1.04 * CLAIMED_SPEEDUP, "almost 6x", size=SMALL, color=GREY)


FIGURE = PaperFigure(
    number=5,
    name="latency",
    question="Where does communication time go, and what shortens it?",
    assumptions=(
        "Ours, not the paper's: 16 islands of 8, 300 and 25 GB/s; q = 2.75, 40 % of rows touched, 1,024,000 lookups a "
        "rank. Top: 40 tables, s = 1.15, fluid network, tiers serial unless concurrent; white lines part ids, "
        "embeddings and gradients. Below: serial, port bound; six seeds. Balanced: what less traffic alone would gain."
    ),
    datasets=(Dataset("latency", phases), Dataset("claim", metrics)),
    height_in=6.2,
    draw=draw,
)
