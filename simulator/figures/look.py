"""What the figures have in common to the eye: a colour a policy, direct labels, the assumptions in small print."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.report.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POLICY_COLOURS = {
    "row-wise": BLACK,
    "row-wise, dedup": BLUE,
    "table-wise": SKY,
    "2D": PURPLE,
    "hybrid": GREEN,
    "RecShard": ORANGE,
    "FlexShard": VERMILLION,
}
SMALL = 7.5
SMALL_PRINT_CHARACTERS = 112
SAME = 0.0005  # a change that rounds to nothing
LABEL_GAP = 1.25  # of neighbouring labels, in line heights


def policy_colour(label: str) -> str:
    """The colour of the family that a policy's label begins with; the longest such name decides."""
    families = [family for family in POLICY_COLOURS if label.startswith(family)]
    return POLICY_COLOURS[max(families, key=len)] if families else GREY


def small_print(figure: "Figure", text: str) -> None:
    """The assumptions, at the foot: a figure that travels alone keeps them."""
    whole = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    figure.supxlabel(textwrap.fill(whole, SMALL_PRINT_CHARACTERS), x=0.01, ha="left", size=6.5, color=GREY)


def bar_text(ax: "Axes", x: float, y: float, text: str, colour: str = BLACK) -> None:
    """A figure right of a bar that ends at `x`."""
    ax.annotate(
        text, (x, y), xytext=(3, 0), textcoords="offset points", va="center", size=SMALL, color=colour
    )


def change_text(change: float) -> str:
    """A change against a baseline, in words where there is none."""
    return "as much" if abs(change) < SAME else f"{100 * change:+.1f} %"


def plain_axes(ax: "Axes", *, grid: str = "y") -> None:
    """Light lines behind the data, no ticks."""
    ax.grid(axis=grid, color=PALE, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.tick_params(which="both", length=0)


def line_labels(ax: "Axes", labels: Sequence[tuple[str, float, float, str]]) -> None:
    """Names right of where lines end, as (name, x, y, colour), moved apart where they would touch.

    Limits and scales of the axes must be set, for the height of a name is counted in them.
    """
    figure = ax.figure.figure  # of a panel of subfigures, the whole
    figure.draw_without_rendering()
    step = LABEL_GAP * SMALL * figure.dpi / 72
    places = [float(ax.transData.transform((x, y))[1]) for _, x, y, _ in labels]
    order = sorted(range(len(labels)), key=lambda index: places[index])
    heights = spread([places[index] for index in order], step)
    for index, height in zip(order, heights, strict=True):
        name, x, y, colour = labels[index]
        ax.annotate(
            name,
            (x, y),
            xytext=(4, (height - places[index]) * 72 / figure.dpi),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=colour,
            annotation_clip=False,
        )


def spread(places: Sequence[float], step: float) -> list[float]:
    """Ascending places moved as little as needed to be `step` apart: neighbours that touch share their mean."""
    blocks: list[tuple[float, int]] = []  # mean of (place - rank * step), members
    for rank, place in enumerate(places):
        blocks.append((place - rank * step, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (late, many), (early, few) = blocks.pop(), blocks.pop()
            blocks.append(((late * many + early * few) / (many + few), many + few))
    lifted = [mean for mean, members in blocks for _ in range(members)]
    return [base + rank * step for rank, base in enumerate(lifted)]
