"""Figure 12: how evenly policies spread over the ranks what they send, under uniform and under hot rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.arrays import FloatArray
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, names, numbers
from simulator.figures.look import SMALL, plain_axes, policy_colour
from simulator.report.plots.style import BLACK
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

EMBEDDINGS = "embeddings"
MB = 1e6
NOTHING_MB = 2.0  # where ranks that send nothing stand on a logarithmic axis
WORKLOADS = {
    "uniform": "4 tables, every row alike",
    "headline_40": "40 tables, s = 1.15",
    "headline_4": "4 tables, s = 1.15",
}


def sent_by_rank(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """A row for each rank: bytes of embeddings that it sends to other islands in one iteration."""
    experiment, setup = bench.set_up(point)
    traffic = bench.iteration(point, experiment, setup, 0).traffic
    island_of = bench.topology(point).island_of
    crosses = island_of[:, None] != island_of
    own = [(phase.matrix * crosses).sum(axis=1) for phase in traffic.phases if phase.step == EMBEDDINGS]
    return [{"rank": rank, "sent_bytes": int(sent)} for rank, sent in enumerate(sum(own))]


def sent_mb(frame: "DataFrame", workload: str, policy: str) -> FloatArray:
    """[ranks] MB that each rank sends."""
    sent: FloatArray = numbers(chosen(frame, workload=workload, policy=policy), "sent_bytes") / MB
    return sent


def draw_ranks(ax: "Axes", frame: "DataFrame", workload: str) -> None:
    """A mark a rank on the line of its policy, the busiest over the mean in figures."""
    policies = names(frame, "policy")
    for row, policy in enumerate(policies):
        sent = sent_mb(frame, workload, policy)
        style: dict[str, Any] = {"color": policy_colour(policy), "alpha": 0.35, "ms": 7, "mew": 0.8}
        ax.plot(sent.clip(NOTHING_MB), [row] * len(sent), "|", **style)
        ax.annotate(
            f"{sent.max() / sent.mean():.2f}x",
            (sent.max(), row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=BLACK,
        )
    ax.set(xscale="log", xlim=(1.6, 30_000), ylim=(len(policies) - 0.4, -0.6))
    ax.set_xticks([NOTHING_MB, 10, 100, 1000, 10_000], ["0", "10", "100", "1,000", "10,000"])
    ax.minorticks_off()
    ax.set_yticks(range(len(policies)), policies, size=SMALL)
    for label in ax.get_yticklabels():
        label.set_color(policy_colour(label.get_text()))
    ax.set_title(WORKLOADS[workload], size=SMALL, loc="left", pad=3)
    plain_axes(ax, grid="x")


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    frame = frames["balance"]
    workloads = [workload for workload in WORKLOADS if workload in names(frame, "workload")]
    axes = figure.subplots(len(workloads), 1, sharex=True)
    for ax, workload in zip(axes, workloads, strict=True):
        draw_ranks(ax, frame, workload)
    axes[-1].set_xlabel("MB of embeddings that a rank sends to other islands")


FIGURE = PaperFigure(
    number=12,
    name="balance",
    question="How evenly do ranks send?",
    assumptions=(
        "Ours, not the paper's: each mark is one of 128 ranks (16 islands of 8), figures the busiest over the mean; "
        "one iteration, one seed; workloads uniform, headline_40 and headline_4."
    ),
    datasets=(Dataset("balance", sent_by_rank),),
    height_in=4.6,
    draw=draw,
)
