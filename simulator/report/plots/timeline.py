"""The timeline of the first iteration: ranks down, time across, a colour for each phase, waiting hatched."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from simulator.report.folder import Results
from simulator.report.plots.bars import HATCH, marker, upright_axis
from simulator.report.plots.interactive import axis, label_text, short
from simulator.report.plots.plot import InteractiveFigure, Plot, View
from simulator.report.plots.style import GREY, new_figure, policy_title, shade, title
from simulator.report.scales import Scale, time_scale, time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

QUESTION = "Who does what, and who waits?"
COMPUTE_COLOURS = ("#B9C0C7", "#98A1AA", "#D3D8DD")
COMPUTE, WAITING = "compute", "waiting for others"
ROW_PX, FRAME_PX = 17, 120
PANEL_IN, FRAME_IN = 0.95, 0.4
LEGEND_COLUMNS, LEGEND_ROW_IN = 3, 0.18
NAME_CHARACTERS = 38  # of a policy, beside which rank names stand
READING = (
    "A colour is a tier, its shades are ids, embeddings and gradients; pale grey is compute, hatched is waiting for "
    "the last rank to come; slow is who moves bytes longest. Of more than 48 ranks, the interactive figure has the "
    "slowest, the median and the fastest of each island (dotted lines part islands), of at most 16 islands; the still "
    "picture has those of all shown ranks, each policy on an axis of its own."
)


@dataclass(frozen=True)
class Lane:
    """A rank that is shown."""

    rank: int
    island: int
    role: str
    moving_s: float  # in collectives and transfers, without waiting
    waiting_s: float


@dataclass(frozen=True)
class Stretch:
    """A piece of a lane in one colour."""

    rank: int
    name: str  # an operation, or `WAITING`
    begin_s: float
    length_s: float
    colour: str
    level: float  # 0 to 1 from the top of its lane
    height: float


def lanes(timeline: "DataFrame") -> list[Lane]:
    """The ranks of a timeline, in its order."""
    found = []
    for _, own in timeline.groupby("rank", sort=False):
        rank, island, role = (own[name].iloc[0] for name in ("rank", "island", "role"))
        moved = own[own["kind"] != COMPUTE]
        moving_s, waiting_s = (
            (moved["end_s"] - moved["start_s"]).sum(),
            (own["start_s"] - own["enter_s"]).sum(),
        )
        found.append(Lane(int(rank), int(island), str(role), float(moving_s), float(waiting_s)))
    return found


def extremes(timeline: "DataFrame") -> list[tuple[str, Lane]]:
    """Of all lanes the slowest, the median and the fastest, as far as they are different ranks."""
    order = sorted(lanes(timeline), key=lambda lane: (-lane.moving_s, lane.rank))
    places = {len(order) // 2: "median", len(order) - 1: "fastest", 0: "slowest"}
    return [(places[place], order[place]) for place in sorted(places)]


def colours(results: Results) -> dict[str, str]:
    """Of every operation, the same under all policies: a phase's by its step and tier, a compute's by its turn."""
    phases = results.phases[["phase", "step", "tier"]].drop_duplicates("phase")
    shades = {name: shade(step, tier) for name, step, tier in phases.itertuples(index=False)}
    made: dict[str, str] = {}
    computes = 0
    for policy in results.policies:
        timeline = results.timeline(policy)
        for operation, kind in dict(zip(timeline["operation"], timeline["kind"], strict=True)).items():
            if operation not in made and kind == COMPUTE:
                made[operation] = COMPUTE_COLOURS[computes % len(COMPUTE_COLOURS)]
                computes += 1
            elif operation not in made:
                made[operation] = shades.get(operation, GREY)
    return made


def stretches(timeline: "DataFrame", colour_of: dict[str, str]) -> Iterator[Stretch]:
    """Every lane's pieces; where its streams overlap in time, each stream has a part of the lane's height."""
    streams = list(dict.fromkeys(timeline["stream"])) if overlapping(timeline) else [None]
    height = 1 / len(streams)
    columns = ("rank", "operation", "stream", "enter_s", "start_s", "end_s")
    for rank, operation, stream, enter_s, start_s, end_s in timeline[list(columns)].itertuples(index=False):
        level = streams.index(stream) * height if len(streams) > 1 else 0.0
        colour = colour_of[operation]
        if start_s > enter_s:
            yield Stretch(rank, WAITING, enter_s, start_s - enter_s, colour, level, height)
        if end_s > start_s:
            yield Stretch(rank, operation, start_s, end_s - start_s, colour, level, height)


def overlapping(timeline: "DataFrame") -> bool:
    """Whether some rank does two things at once."""
    for _, own in timeline.groupby("rank", sort=False):
        times = sorted(zip(own["enter_s"], own["end_s"], strict=True))
        if any(later[0] < earlier[1] * (1 - 1e-9) for earlier, later in pairwise(times)):
            return True
    return False


def end_of(timeline: "DataFrame") -> tuple[float, Scale]:
    """When the last lane ends, and the axis' unit."""
    end_s = float(timeline["end_s"].max()) if len(timeline) else 0.0
    return end_s, time_scale([end_s])


def draw(results: Results) -> "Figure":
    """A panel a policy."""
    colour_of, used = colours(results), set[str]()
    entries = len(colour_of) + 1  # of the legend, with waiting
    legend_in = LEGEND_ROW_IN * -(-entries // LEGEND_COLUMNS)
    figure = new_figure(FRAME_IN + legend_in + PANEL_IN * len(results.policies))
    panels = figure.subplots(len(results.policies), 1, squeeze=False)[:, 0]
    for ax, policy in zip(panels, results.policies, strict=True):
        timeline = results.timeline(policy)
        draw_lanes(ax, timeline, colour_of)
        used |= set(timeline["operation"])
        ax.set_title(
            f"{policy_title(policy, results.baseline, NAME_CHARACTERS)}, {end_of(timeline)[1].unit}", size=8.5
        )
    draw_legend(figure, {name: colour for name, colour in colour_of.items() if name in used})
    title(figure, QUESTION)
    return figure


def draw_lanes(ax: "Axes", timeline: "DataFrame", colour_of: dict[str, str]) -> None:
    """The slowest, the median and the fastest of all lanes."""
    rows = {lane.rank: place for place, (_, lane) in enumerate(extremes(timeline))} if len(timeline) else {}
    end_s, scale = end_of(timeline)
    for part in stretches(timeline[timeline["rank"].isin(list(rows))], colour_of):
        look: dict[str, Any] = {"color": part.colour, "linewidth": 0}
        if part.name == WAITING:
            look = {"facecolor": "white", "edgecolor": part.colour, "hatch": HATCH, "linewidth": 0.5}
        low = rows[part.rank] - 0.4 + 0.8 * part.level
        place = (part.begin_s / scale.size, part.length_s / scale.size)
        ax.broken_barh([place], (low, 0.8 * part.height), **look)
    named = extremes(timeline) if len(timeline) else []
    ax.set_yticks(range(len(named)), [f"rank {lane.rank}, {role}" for role, lane in named])
    ax.set(ylim=(max(len(named), 1) - 0.5, -0.5), xlim=(0, end_s / scale.size or 1))
    ax.tick_params(axis="both", length=0)
    ax.spines[:].set_visible(False)


def draw_legend(figure: "Figure", colour_of: dict[str, str]) -> None:
    """All operations, and waiting."""
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name.replace("_", " ")) for name, colour in colour_of.items()]
    handles.append(Patch(facecolor="white", edgecolor=GREY, hatch=HATCH, label=WAITING))
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=LEGEND_COLUMNS,
        handlelength=1.2,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def views(results: Results) -> tuple[View, ...]:
    """A view a policy: all lanes."""
    colour_of = colours(results)
    timelines = {policy: results.timeline(policy) for policy in results.policies}
    return tuple(
        View(policy, lanes_figure(timeline, colour_of))
        for policy, timeline in timelines.items()
        if len(timeline)
    )


def lanes_figure(timeline: "DataFrame", colour_of: dict[str, str]) -> InteractiveFigure:
    """A row a lane; a trace for each operation, and for waiting before each."""
    shown = lanes(timeline)
    rows = {lane.rank: place for place, lane in enumerate(shown)}
    _, scale = end_of(timeline)
    traces: dict[tuple[str, str], dict[str, Any]] = {}
    for part in stretches(timeline, colour_of):
        if (part.name, part.colour) not in traces:
            first = not any(name == part.name for name, _ in traces)
            traces[part.name, part.colour] = _trace(part, scale, first=first)
        trace = traces[part.name, part.colour]
        begin, length = part.begin_s / scale.size, part.length_s / scale.size
        height = 0.8 * part.height
        y = rows[part.rank] - 0.4 + 0.8 * part.level + height / 2
        for key, value in zip(("base", "x", "y", "width"), (begin, length, y, height), strict=True):
            trace[key].append(short(value))
        trace["customdata"].append([part.rank, scale.with_unit(part.length_s)])
    ticks = [(float(rows[lane.rank]), f"rank {lane.rank} {lane.role}".strip()) for lane in shown]
    waits_last = sorted(traces.items(), key=lambda item: item[0][0] == WAITING)
    return {
        "data": [trace for _, trace in waits_last],
        "layout": {
            "height": FRAME_PX + ROW_PX * len(shown),
            "barmode": "overlay",
            "xaxis": axis(scale.unit, rangemode="tozero"),
            "yaxis": upright_axis(ticks, len(shown) - 0.4),
            "shapes": list(island_lines(shown)),
        },
    }


def _trace(part: Stretch, scale: Scale, *, first: bool) -> dict[str, Any]:
    name = label_text(part.name.replace("_", " "))
    span = f"from %{{base:.4~r}} to %{{x:.4~r}} {scale.unit}"
    hover = f"rank %{{customdata[0]}}, {name}: <b>%{{customdata[1]}}</b><br>{span}<extra></extra>"
    return {
        **{"type": "bar", "orientation": "h", "name": name, "legendgroup": part.name, "showlegend": first},
        **{"marker": marker(part.colour, part.name == WAITING), "hovertemplate": hover},
        **{"base": [], "x": [], "y": [], "width": [], "customdata": []},
    }


def island_lines(shown: list[Lane]) -> Iterator[dict[str, Any]]:
    """Between the lanes of two islands."""
    for place, (one, other) in enumerate(pairwise(shown)):
        if one.island != other.island:
            across = {"x0": 0, "x1": 1, "xref": "paper", "y0": place + 0.5, "y1": place + 0.5}
            yield {"type": "line", **across, "line": {"color": GREY, "width": 0.5, "dash": "dot"}}


def quickest(results: Results) -> str:
    """The policy whose iteration ends first."""
    return min(results.policies, key=lambda policy: end_of(results.timeline(policy))[0])


def finding(results: Results) -> str:
    """Who moves bytes longest and shortest under the policy whose iteration ends first."""
    policy = quickest(results)
    timeline = results.timeline(policy)
    found = extremes(timeline) if len(timeline) else []
    if not found or not found[0][1].moving_s:
        return f"Under {policy} no rank moves a byte."
    slowest, fastest = found[0][1], found[-1][1]
    if slowest.rank == fastest.rank:
        return f"Under {policy} rank {slowest.rank} moves bytes for {time_text(slowest.moving_s)}."
    return (
        f"Under {policy} rank {slowest.rank} moves bytes longest, {time_text(slowest.moving_s)}; rank {fastest.rank} "
        f"shortest, {time_text(fastest.moving_s)}, and waits {time_text(fastest.waiting_s)} for others."
    )


PLOT = Plot("timeline", QUESTION, draw, views, finding, READING, subject=quickest, needs_first_iteration=True)
