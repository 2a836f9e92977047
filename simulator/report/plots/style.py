"""How all plots look, and how they reach the disk the same to the byte each time.

Colours are Okabe and Ito's (2008), which people with colour-blindness tell apart. `hue` gives a collective the colour
of its tier, synchronisation one of its own; `shade` tells steps of one hue apart; `policy_colours` is of policies.
Figures are narrow with text that is large beside them, so that they can be read on a telephone.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, GREY, PALE = "#222222", "#777777", "#E4E4E4"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

TIER_COLOURS = {"replicated": ORANGE, "island": GREEN, "group": SKY, "global": BLUE}
SYNC_COLOURS = {"replica_sync": PURPLE, "dense_sync": GREY}

STEP_SHADES = {  # how far each step's shade is from its hue
    **{"embeddings": 0.0, "embeddings_spread": 0.14, "gradients": 0.3, "gradients_gather": 0.42},
    **{"ids": 0.54, "ids_gather": 0.66},
}
SYNC_SHADES = {"replicated": 0.0, "island": 0.3, "group": 0.54}  # by tier
DARK, LIGHT = "#000000", "#FFFFFF"
SHADES_TOWARDS = {"group": LIGHT}  # others darken: a dark sky blue would look like global's

LINE_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY)

WIDTH_IN = 5.2
NAME_CHARACTERS = 52  # of a policy's name that fit into the width of a figure
DOTS_PER_INCH = 160
RC: dict[Any, Any] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 8.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": BLACK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": BLACK,
    "ytick.labelcolor": BLACK,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text stays text: a third of the size, and it can be searched
    "svg.hashsalt": "shardsim",
    "text.parse_math": False,  # a `$` in a user's label is a dollar
    "text.usetex": False,
    "path.simplify": True,
}


def hue(step: str, tier: str) -> str:
    """The colour of a collective by what it carries: its tier's rows, or a synchronisation."""
    return SYNC_COLOURS.get(step, TIER_COLOURS.get(tier, GREY))


def shade(step: str, tier: str) -> str:
    """The collective's hue, lightened or darkened so that steps of one tier are told apart."""
    is_sync = step in SYNC_COLOURS
    share = SYNC_SHADES.get(tier, 0.0) if is_sync else STEP_SHADES.get(step, 0.0)
    return mixed(hue(step, tier), DARK if is_sync else SHADES_TOWARDS.get(tier, DARK), share)


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with `share` of another in it, both as "#RRGGBB"."""
    pairs = ((int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(one + share * (two - one)):02X}" for one, two in pairs)


def policy_colours(policies: Iterable[str]) -> dict[str, str]:
    """A colour for each of all policies of a run or a sweep; pictures of some of them take theirs from here."""
    names = dict.fromkeys(policies)
    return {name: LINE_COLOURS[place % len(LINE_COLOURS)] for place, name in enumerate(names)}


HALO: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}  # behind a text


@contextmanager
def house_style() -> Iterator[None]:
    """The look of all plots, whatever the user's matplotlibrc says, and nothing left behind."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # of a label in another script
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def new_figure(height_in: float) -> "Figure":
    """An empty figure of the common width that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", stem: Path) -> None:
    """Write `<stem>.png` and `<stem>.svg`, without date or version."""
    figure.savefig(stem.with_suffix(".png"), dpi=DOTS_PER_INCH, metadata={"Software": None})
    save_svg(figure, stem.with_suffix(".svg"))


def save_svg(figure: "Figure", target: Path | IO[bytes]) -> None:
    """Write an SVG, without date or version."""
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


def shortened(name: str, characters: int = NAME_CHARACTERS) -> str:
    """The name, cut in its middle when it is longer than `characters`."""
    if len(name) <= characters:
        return name
    tail = (characters - 1) // 3
    return f"{name[: characters - 1 - tail]}…{name[len(name) - tail :]}"


def policy_title(policy: str, baseline: str, characters: int = NAME_CHARACTERS) -> str:
    """A policy's name with the mark of the baseline."""
    mark = " (baseline)" if policy == baseline else ""
    return shortened(policy, characters - len(mark)) + mark


def plain_bars(ax: "Axes", *, rows: float, longest: float, label: str) -> None:
    """An axis for horizontal bars at heights 0 to `rows`: the first on top, room for a figure at the end."""
    ax.set_ylim(rows, -0.7)
    ax.set_xlim(0, 1.2 * longest if longest > 0 else 1)
    ax.set_xlabel(label)
    if longest <= 0:
        ax.set_xticks([0])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="both", length=0)
    ax.grid(axis="x", color=PALE, linewidth=0.6)
    ax.set_axisbelow(True)


def bar_end(ax: "Axes", x: float, y: float, text: str) -> None:
    """A figure right of a bar that ends at `x`."""
    ax.annotate(text, (x, y), xytext=(3, 0), textcoords="offset points", va="center", color=BLACK)


def title(figure: "Figure", text: str) -> None:
    """The question, over the whole figure."""
    figure.suptitle(text, x=0.01, ha="left", weight="bold", size=10)


def legend_above(
    ax: "Axes", colours: Mapping[str, str], *, extra: Sequence[Any] = (), columns: int = 3
) -> None:
    """Names and colours between title and bars."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=name.replace("_", " ")) for name, colour in colours.items()]
    ax.legend(
        handles=[*handles, *extra],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        borderaxespad=0.2,
        borderpad=0,
        columnspacing=1.2,
        handlelength=1.2,
        handletextpad=0.5,
    )
