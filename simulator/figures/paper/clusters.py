"""Figure 3: what an even all-to-all achieves against the size of its group, on each shipped topology.

Groups are the first ranks: within an island until it is full, then over several. Achieved is what a rank sends to
others over the time, as nccl-tests' bus bandwidth.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.figures.figure import Dataset, PaperFigure
from simulator.figures.frames import chosen, names, numbers
from simulator.figures.look import SMALL, plain_axes
from simulator.report.plots.style import BLACK, BLUE, GREEN, GREY
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MESSAGES = {256_000_000: "-", 1_000_000: (0, (2, 1.5))}  # bytes of a rank, and the line's dashes
GB = 1e9
COLUMNS = 4


def bandwidths(bench: Bench, point: Point) -> list[dict[str, Any]]:
    """A row for each number of ranks and of bytes: what each rank of the group achieves."""
    topology = bench.topology(point)
    rows = []
    for ranks in group_sizes(topology.world_size, topology.island_sizes[0]):
        for message_bytes in MESSAGES:
            matrix = even_group(topology.world_size, ranks, message_bytes // ranks)
            time_s = run_all_to_all(topology, matrix).time_s
            sent_bytes = message_bytes // ranks * (ranks - 1)
            rows.append(
                {
                    "island_ranks": topology.island_sizes[0],
                    "ranks": ranks,
                    "message_bytes": message_bytes,
                    "achieved_bytes_per_s": sent_bytes / time_s,
                }
            )
    return rows


def group_sizes(world_size: int, island_ranks: int) -> list[int]:
    """Powers of two, one full island, and all ranks."""
    powers = {2**k for k in range(1, world_size.bit_length()) if 2**k <= world_size}
    return sorted(powers | {island_ranks, world_size})


def even_group(world_size: int, ranks: int, pair_bytes: int) -> IntArray:
    """[world_size, world_size] so many bytes between each two of the first ranks."""
    matrix = np.zeros((world_size, world_size), dtype=np.int64)
    matrix[:ranks, :ranks] = pair_bytes
    np.fill_diagonal(matrix, 0)
    return matrix


def steepness(frame: "DataFrame", topology: str) -> float:
    """How much more a rank of a full island achieves than one of the whole cluster, with large messages."""
    own = chosen(frame, topology=topology, message_bytes=max(MESSAGES))
    achieved, ranks = numbers(own, "achieved_bytes_per_s"), numbers(own, "ranks")
    return float(achieved[ranks == numbers(own, "island_ranks")][0] / achieved[-1])


def draw_cluster(ax: "Axes", frame: "DataFrame", topology: str) -> None:
    """One cluster: green inside an island, blue beyond it; dashed for small messages."""
    for message_bytes, dashes in MESSAGES.items():
        own = chosen(frame, topology=topology, message_bytes=message_bytes)
        ranks, island = numbers(own, "ranks"), numbers(own, "island_ranks")
        achieved = numbers(own, "achieved_bytes_per_s") / GB
        inside = ranks <= island
        first_beyond = int(inside.sum())
        style: dict[str, Any] = {"linewidth": 1.5, "linestyle": dashes}
        ax.plot(ranks[inside], achieved[inside], color=GREEN, marker=".", ms=3, **style)
        ax.plot(ranks[first_beyond - 1 :], achieved[first_beyond - 1 :], color=BLUE, **style)
        ax.plot(ranks[~inside], achieved[~inside], ".", color=BLUE, ms=3)
    ax.text(1, 0.9, f"{steepness(frame, topology):.0f}x less", size=SMALL, ha="right", transform=ax.transAxes)
    ax.set(xscale="log", yscale="log", xlim=(1.7, 640), ylim=(0.1, 3000))
    ax.set_xticks([2, 8, 64, 512], ["2", "8", "64", "512"])
    ax.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    ax.minorticks_off()
    ax.set_title(topology, size=6.5, loc="left", pad=3)
    plain_axes(ax)


def draw(figure: "Figure", frames: "Mapping[str, DataFrame]") -> None:
    """Draw the figure from its committed data."""
    frame = frames["clusters"]
    topologies = names(frame, "topology")
    axes = figure.subplots(-(-len(topologies) // COLUMNS), COLUMNS, sharex=True, sharey=True, squeeze=False)
    for ax, topology in zip(axes.flat, topologies, strict=False):
        draw_cluster(ax, frame, topology)
    for row in axes:
        row[0].set_ylabel("GB/s", size=SMALL)
    for ax in axes[-1]:
        ax.set_xlabel("ranks in the group", size=SMALL)
    key = axes.flat[-1]
    key.set_axis_off()
    lines = (
        ("within an island", GREEN),
        ("across islands", BLUE),
        ("solid: 256 MB a rank", GREY),
        ("dashed: 1 MB a rank", GREY),
        ("less: all ranks against", BLACK),
        ("a full island, 256 MB", BLACK),
    )
    for place, (text, colour) in enumerate(lines):
        key.text(0, 0.95 - 0.17 * place, text, color=colour, size=SMALL, transform=key.transAxes)


FIGURE = PaperFigure(
    number=3,
    name="clusters",
    question="How flat are clusters?",
    assumptions=(
        "Ours, not the paper's: even all-to-all, direct, each pair the same; per rank and direction, as nccl-tests' "
        "bus bandwidth. Sources of each topology's figures stand in its file."
    ),
    datasets=(Dataset("clusters", bandwidths),),
    height_in=4.6,
    draw=draw,
)
