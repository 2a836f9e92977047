"""Figure 6: memory of the fullest rank by tier, for both readings of "no additional memory"."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, mean, names, numbers
from simulator.figures.look import SMALL, bar_text, policy_colour
from simulator.figures.measures import means
from simulator.report.plots.style import GREY, TIER_COLOURS, plain_bars
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

BASELINE = "row-wise"
MB = 1e6
TOUCHED = {0.4: "40 % of the rows are ever touched", 1.0: "every row is touched"}
LONGEST_MB = 230.0


def memory(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """A row for each tier that holds anything: bytes on the fullest rank, and the time of the plan."""
    experiment, setup = bench.set_up(point)
    records = [bench.iteration(point, experiment, setup, number).record for number in range(point.iterations)]
    fullest = int(setup.memory.total_bytes.argmax())
    time_s = means(records)["communication_s"]
    return [
        {"tier": str(tier), "bytes": int(held[fullest]), "communication_s": time_s}
        for tier, held in setup.memory.weights_bytes_by_tier.items()
        if held[fullest]
    ]


def held_mb(frame: "DataFrame", touched: float, policy: str) -> dict[str, float]:
    """MB of the fullest rank by tier."""
    own = chosen(frame, touched=touched, policy=policy)
    return {tier: mean(own, "bytes", tier=tier) / MB for tier in TIER_COLOURS if tier in names(own, "tier")}


def speedup(frame: "DataFrame", touched: float, policy: str) -> float:
    """Row-wise's time over the policy's, means over seeds."""
    base, own = (chosen(frame, touched=touched, policy=name) for name in (BASELINE, policy))
    return float(numbers(base, "communication_s").mean() / numbers(own, "communication_s").mean())


def draw_bars(ax: "Axes", frame: "DataFrame", touched: float) -> None:
    """One bar a policy, tier after tier; the line is row-wise."""
    policies = names(chosen(frame, touched=touched), "policy")
    for row, policy in enumerate(policies):
        left = 0.0
        for tier, mb in held_mb(frame, touched, policy).items():
            ax.barh(row, mb, left=left, height=0.7, color=TIER_COLOURS[tier])
            left += mb
        bar_text(ax, left, row, f"{left:.0f} MB, {speedup(frame, touched, policy):.1f}x as fast")
    ax.axvline(
        sum(held_mb(frame, touched, BASELINE).values()), color=GREY, linewidth=1, linestyle=(0, (3, 2))
    )
    ax.set_yticks(range(len(policies)), policies, size=SMALL)
    for label in ax.get_yticklabels():
        label.set_color(policy_colour(label.get_text()))
    ax.set_title(TOUCHED[touched], size=SMALL, loc="left", pad=3)
    plain_bars(ax, rows=len(policies) - 0.4, longest=LONGEST_MB, label="")


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    axes = figure.subplots(len(TOUCHED), 1, sharex=True)
    for ax, touched in zip(axes, TOUCHED, strict=True):
        draw_bars(ax, frames["memory"], touched)
    for place, (tier, colour) in enumerate(TIER_COLOURS.items()):
        axes[1].text(0.45 + 0.15 * place, 1.03, tier, size=SMALL, color=colour, transform=axes[1].transAxes)
    axes[-1].set_xlabel("MB of embedding weights on the fullest GPU")


FIGURE = PaperFigure(
    number=6,
    name="memory",
    question="Is there no additional memory?",
    assumptions=(
        "Ours, not the paper's: 40 tables of 1e6 rows x 128 fp16 on 16 islands of 8 (calibrated), s = 1.15; tiers by "
        "colour, dashed: row-wise. FlexShard alone reclaims rows that are never touched; the others keep every row."
    ),
    datasets=(Dataset("memory", memory),),
    height_in=3.9,
    draw=draw,
)
