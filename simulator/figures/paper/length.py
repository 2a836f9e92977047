"""Figure 1: what un-pooled lookups make a rank hold and send as sequences grow, beside pooled ones.

Un-pooled bytes are simulated, row-wise. The simulator has no pooled tables, so theirs are closed forms, for b samples
a rank, t tables and rows of r bytes on W ranks; ids are those of the un-pooled tables, for pooling spares none.

    held by the reader     b t r
    sent, table-wise       ids + 2 b t r (W - 1) / W     a sum a sample from the table's owner, its gradient back
    sent, row-wise         ids + 2 b t r (W - 1)         reduce-scatter of every owner's partial sums, all-gather back
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import levels, series
from simulator.figures.look import line_labels, plain_axes
from simulator.metrics.measure import remote_bytes
from simulator.report.plots.style import BLUE, GREEN, VERMILLION
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MB = 1e6
LINES = {
    "unpooled": ("un-pooled", VERMILLION),
    "pooled_row_wise": ("pooled, row-wise", GREEN),
    "pooled_table_wise": ("pooled, table-wise", BLUE),
    "pooled": ("pooled", BLUE),
}


def bytes_of_a_rank(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """One row: mean bytes of a rank in one iteration, held after the lookup and sent in all steps."""
    experiment, setup = bench.set_up(point)
    iteration = bench.iteration(point, experiment, setup, 0)
    workload, ranks = bench.workload(point), bench.topology(point).world_size
    sent = {phase.step: remote_bytes(phase.matrix) / ranks for phase in iteration.traffic.phases}
    row_bytes = sum(table.dim for table in workload.tables) * workload.element_bytes
    held = sum(
        workload.batch_per_rank * table.length.mean * table.dim * workload.element_bytes
        for table in workload.tables
    )
    output_bytes = workload.batch_per_rank * row_bytes
    return [
        {
            "held_unpooled_bytes": held,
            "held_pooled_bytes": output_bytes,
            "sent_unpooled_bytes": sum(sent.values()),
            "sent_pooled_row_wise_bytes": sent["ids"] + 2 * output_bytes * (ranks - 1),
            "sent_pooled_table_wise_bytes": sent["ids"] + 2 * output_bytes * (ranks - 1) / ranks,
        }
    ]


def draw_lines(ax: "Axes", frame: "DataFrame", kind: str) -> None:
    """Every line of a kind, `held` or `sent`, over the length; the un-pooled one with its points."""
    lengths = levels(frame, "value")
    labels = []
    for name, (text, colour) in LINES.items():
        column = f"{kind}_{name}_bytes"
        if column in frame:
            mb = series(frame, column, "value") / MB
            ax.plot(lengths, mb, color=colour, linewidth=1.6, marker="o" if name == "unpooled" else "", ms=3)
            labels.append((text, float(lengths[-1]), float(mb[-1]), colour))
    ax.set(xscale="log", yscale="log", xlim=(lengths[0], lengths[-1]), ylim=(0.3, 3000))
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    ax.set_yticks([1, 10, 100, 1000], ["1 MB", "10 MB", "100 MB", "1 GB"])
    ax.minorticks_off()
    ax.set_xlabel("lookups of a sample in a table")
    plain_axes(ax)
    line_labels(ax, labels)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    titles = {"held": "a rank holds after its lookups", "sent": "a rank sends in one iteration"}
    for ax, (kind, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        ax.set_title(title, size=8.5, loc="left")
        draw_lines(ax, frames["length"], kind)


FIGURE = PaperFigure(
    number=1,
    name="length",
    question="Why do sequence tables hurt?",
    assumptions=(
        "Ours, not the paper's: 4 tables of 128 columns fp16, 512 samples a rank, 128 ranks; ids, embeddings and "
        "gradients. Un-pooled: simulated, row-wise. Pooled: closed forms."
    ),
    datasets=(Dataset("length", bytes_of_a_rank),),
    height_in=3.1,
    draw=draw,
)
