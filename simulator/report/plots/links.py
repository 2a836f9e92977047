"""Utilisation of every link, sorted from the busiest, by kind of link and policy."""

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.report.folder import Results
from simulator.report.plots.interactive import axis, label_text, line_trace
from simulator.report.plots.plot import InteractiveFigure, Plot, View
from simulator.report.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    PALE,
    PURPLE,
    new_figure,
    policy_colours,
    policy_title,
    title,
)
from simulator.report.scales import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import Series

QUESTION = "Which links are busy, and how evenly?"
KINDS = {
    "scale_up": ("scale-up ports", GREEN),
    "nic": ("NIC ports", BLUE),
    "fabric": ("fabric links", PURPLE),
}

MOST_NAMED = 128  # links of a line of the interactive figure
MOST_STEPS = 128  # of a profile; of more links, each step is the busiest of its neighbours


def sorted_utilisation(results: Results, policy: str, kind: str) -> FloatArray:
    """[links] share of the communication time that each link is busy at its full rate, the busiest first."""
    links = results.links
    chosen = links.loc[(links["policy"] == policy) & (links["kind"] == kind), "utilisation"]
    return np.sort(chosen.to_numpy(np.float64))[::-1]


def draw_links(ax: "Axes", utilisation: FloatArray, colour: str) -> None:
    """One filled profile over 0 to 100 % of the links; the busiest and the mean in figures."""
    places = np.linspace(0, len(utilisation), min(len(utilisation), MOST_STEPS) + 1).astype(np.int64)
    ax.stairs(
        utilisation[places[:-1]], places / len(utilisation), fill=True, color=colour, alpha=0.85, linewidth=0
    )
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xticks=[], yticks=[])
    ax.axhline(1, color=PALE, linewidth=0.8, zorder=0)
    text = f"max {share_text(utilisation.max())}, mean {share_text(utilisation.mean())}"
    ax.annotate(
        text, (1, 1), xytext=(0, 1), textcoords="offset points", ha="right", va="bottom", size=7, color=BLACK
    )
    ax.spines["left"].set_visible(False)


def draw(results: Results) -> "Figure":
    """Draw the plot of a results folder."""
    kinds = [kind for kind in KINDS if kind in set(results.links["kind"])]
    figure = new_figure(0.9 + 0.72 * len(results.policies))
    if not kinds:
        figure.text(0.02, 0.4, "There is no link: the cluster is one GPU.", color=BLACK)
    grid = figure.subplots(len(results.policies), max(len(kinds), 1), squeeze=False)
    for axes, policy in zip(grid, results.policies, strict=True):
        for ax, kind in zip(axes, kinds, strict=False):
            draw_links(ax, sorted_utilisation(results, policy, kind), KINDS[kind][1])
        axes[0].set_title(policy_title(policy, results.baseline), size=8.5, pad=12)
    for ax, kind in zip(grid[-1], kinds, strict=False):
        ax.set_xlabel(f"{KINDS[kind][0]}, busiest first")
        ax.set_xticks([0, 1], ["0 %", "100 %"])
    title(figure, QUESTION)
    return figure


def views(results: Results) -> tuple[View, ...]:
    """A view a kind of link, a line a policy."""
    return tuple(
        View(name, profiles_figure(results, kind))
        for kind, (name, _) in KINDS.items()
        if kind in set(results.links["kind"])
    )


def profiles_figure(results: Results, kind: str) -> InteractiveFigure:
    """Utilisation from the busiest link on; of many links every step is one of them, and named."""
    traces = []
    for policy, colour in policy_colours(results.policies).items():
        links = results.links[(results.links["policy"] == policy) & (results.links["kind"] == kind)]
        links = links.sort_values("utilisation", ascending=False, kind="stable")
        steps = np.linspace(0, len(links) - 1, min(len(links), MOST_NAMED)).round().astype(np.int64)
        chosen = links.iloc[steps]
        text = {"customdata": [label_text(name) for name in chosen["resource"]], "meta": label_text(policy)}
        hover = {"hovertemplate": "%{meta}<br>%{customdata}: <b>%{y:.1%}</b><extra></extra>"}
        shares = ((steps + 0.5) / max(len(links), 1)).tolist()
        line = line_trace(policy, shares, chosen["utilisation"].tolist(), colour, **text, **hover)
        traces.append(line | {"line": line["line"] | {"shape": "hv"}})
    return {
        "data": traces,
        "layout": {
            "height": 380,
            "xaxis": axis(f"{KINDS[kind][0]}, busiest first", tickformat=".0%", range=[0, 1]),
            "yaxis": axis("busy at full rate", tickformat=".0%", rangemode="tozero"),
        },
    }


def busiest(results: Results) -> "Series[Any] | None":
    """The row of the link that is busiest under any policy; None where no byte travels."""
    links = results.links
    if not len(links) or not links["utilisation"].max() > 0:
        return None
    return links.iloc[int(links["utilisation"].to_numpy().argmax())]


def finding(results: Results) -> str:
    """The busiest link of all, and under which policy."""
    link = busiest(results)
    if link is None:
        return "No link carries a byte."
    return (
        f"The busiest link is {link['resource']} under {link['policy']}: busy at its full rate for "
        f"{share_text(float(link['utilisation']))} of the communication time."
    )


def subject(results: Results) -> str:
    """The kind of the busiest link; without any, the first kind there is."""
    link, kinds = busiest(results), set(results.links["kind"])
    kind = next(each for each in KINDS if each in kinds) if link is None else link["kind"]
    return KINDS[kind][0]


PLOT = Plot(
    "links",
    QUESTION,
    draw,
    views,
    finding,
    "The height is the share of the communication time that a link needs at its full rate; a still picture's frame "
    "ends at 100 %. A flat profile is even use, a steep one a few hot links.",
    choice="links",
    subject=subject,
)
