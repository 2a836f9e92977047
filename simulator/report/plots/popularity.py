"""Row popularity of each table, coloured by the tier that a policy puts the rows into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.report.folder import Results
from simulator.report.plots.interactive import axis, label_text, line_trace
from simulator.report.plots.plot import InteractiveFigure, Plot, View
from simulator.report.plots.style import (
    BLACK,
    GREY,
    HALO,
    TIER_COLOURS,
    legend_above,
    new_figure,
    shortened,
    title,
)
from simulator.report.scales import share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "How much do the hottest rows hold, and which tier gets them?"
MOST_LABELS = 5
MOST_CURVES = 12  # that can be told apart when pointed at
Runs = tuple[tuple[str, float, float], ...]  # (tier, first row, row after the last), in order


@dataclass(frozen=True, eq=False)
class Curve:
    """Tables of one popularity and one placement."""

    tables: tuple[str, ...]
    rows: FloatArray  # [points] the hottest so many
    share: FloatArray  # [points] of lookups that they get
    runs: Runs

    @property
    def label(self) -> str:
        more = len(self.tables) - 1
        return shortened(self.tables[0], 24) + (f" and {more} alike" if more else "")

    def share_at(self, row: float) -> float:
        """Interpolated on the logarithm of rows, as the curve is drawn."""
        return float(np.interp(np.log(max(row, 1.0)), np.log(self.rows), self.share))


def policies_that_cut(results: Results) -> tuple[tuple[str, ...], ...]:
    """Policies with several tiers in one table, those with the same cuts together; all of them if there is none."""
    cutting = [
        policy
        for policy in results.policies
        if any(len(runs) > 1 for runs in tier_runs(results, policy).values())
    ]
    groups: dict[tuple[tuple[str, Runs], ...], list[str]] = {}
    for policy in cutting:
        groups.setdefault(tuple(tier_runs(results, policy).items()), []).append(policy)
    return tuple(tuple(group) for group in groups.values()) or (results.policies[:1],)


def tier_runs(results: Results, policy: str) -> dict[str, Runs]:
    """Each table's runs of rows under a policy, neighbours of one tier joined."""
    mine = results.tiers[results.tiers["policy"] == policy]
    runs: dict[str, Runs] = {}
    columns = (mine[name].tolist() for name in ("table", "tier", "start_row", "stop_row"))
    for table, tier, start, stop in zip(*columns, strict=True):
        before = runs.get(table, ())
        if before and before[-1][0] == tier and before[-1][2] == start:
            start, before = before[-1][1], before[:-1]
        runs[table] = (*before, (tier, start, stop))
    return runs


def curves(results: Results, policy: str) -> list[Curve]:
    """A curve for each kind of table, the most skewed first."""
    runs = tier_runs(results, policy)
    kinds: dict[tuple[object, ...], Curve] = {}
    for table, points in results.popularity.groupby("table", sort=False):
        name = str(table)
        rows, share = points["rows"].to_numpy(np.float64), points["cumulative_share"].to_numpy(np.float64)
        key = (rows.tobytes(), share.tobytes(), runs.get(name, ()))
        alike = kinds[key].tables if key in kinds else ()
        kinds[key] = Curve((*alike, name), rows, share, runs.get(name, ()))
    return sorted(kinds.values(), key=lambda curve: -curve.share_at(curve.rows[-1] ** 0.5))


def draw_popularity(ax: "Axes", drawn: Sequence[Curve]) -> None:
    """Cumulative share of lookups over rows on a log axis, each run of rows in its tier's colour."""
    from matplotlib.ticker import EngFormatter, PercentFormatter

    for curve in drawn:
        ax.plot(curve.rows, curve.share, color=GREY, linewidth=0.6, linestyle=":")
        for place, (tier, start, stop) in enumerate(curve.runs):
            rows, shares = run_points(curve, start, stop)
            ax.plot(rows, shares, color=TIER_COLOURS.get(tier, GREY), linewidth=1.8)
            if place:
                ax.plot(rows[0], shares[0], "o", color=BLACK, markersize=3)
    ax.set_xscale("log")
    ax.set_xlim(1, max([10.0, *(curve.rows[-1] for curve in drawn)]))
    ax.set_ylim(0, 1.02)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.xaxis.minorticks_off()
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    ax.set_ylabel("share of lookups")
    label_curves(ax, drawn)


def label_curves(ax: "Axes", drawn: Sequence[Curve]) -> None:
    """Names beside the curves; of many only the most and the least skewed."""
    named = drawn if len(drawn) <= MOST_LABELS else (drawn[0], drawn[-1])
    for place, curve in enumerate(named):
        share = 0.75 - 0.5 * (place + 0.5) / len(named)
        row = float(np.exp(np.interp(share, curve.share, np.log(curve.rows))))
        late = np.log(row) > 0.6 * np.log(ax.get_xlim()[1])
        ax.annotate(
            curve.label,
            (row, curve.share_at(row)),
            xytext=(-6 if late else 6, 0),
            textcoords="offset points",
            ha="right" if late else "left",
            va="center",
            color=BLACK,
            bbox=HALO,
        )


def draw(results: Results) -> "Figure":
    """Draw the plot of a results folder."""
    groups = policies_that_cut(results)
    figure = new_figure(0.9 + 1.9 * len(groups))
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    used: set[str] = set()
    for ax, group in zip(axes, groups, strict=True):
        drawn = curves(results, group[0])
        used |= {tier for curve in drawn for tier, _, _ in curve.runs}
        draw_popularity(ax, drawn)
        ax.set_title(shortened(", ".join(group)), size=8.5, loc="right")
    axes[-1].set_xlabel("hottest rows, in order of planned frequency")
    legend_above(axes[0], {tier: colour for tier, colour in TIER_COLOURS.items() if tier in used})
    title(figure, QUESTION)
    return figure


def views(results: Results) -> tuple[View, ...]:
    """A view for each way of cutting tables."""
    return tuple(
        View(", ".join(group), curves_figure(curves(results, group[0])))
        for group in policies_that_cut(results)
    )


def curves_figure(drawn: Sequence[Curve]) -> InteractiveFigure:
    """Every run of rows of every curve in its tier's colour; of many curves some, the most and the least skewed."""
    chosen = [
        drawn[int(place)] for place in np.linspace(0, len(drawn) - 1, min(len(drawn), MOST_CURVES)).round()
    ]
    traces: list[dict[str, Any]] = []
    for curve in chosen:
        name = label_text(curve.label)
        hover = "%{meta}<br>hottest %{x:,.0f} rows: <b>%{y:.1%}</b> of lookups<extra></extra>"
        gone = {"showlegend": False, "hovertemplate": hover, "meta": name}
        traces.append(
            line_trace("reclaimed", curve.rows, curve.share, GREY, **gone)
            | {"line": {"color": GREY, "width": 1, "dash": "dot"}}
        )
        for tier, start, stop in curve.runs:
            rows, shares = run_points(curve, start, stop)
            first = not any(trace["name"] == tier and trace["showlegend"] for trace in traces)
            own = hover.replace("<extra>", f"<br>{tier} rows<extra>")
            more = {"legendgroup": tier, "showlegend": first, "hovertemplate": own, "meta": name}
            traces.append(line_trace(tier, rows, shares, TIER_COLOURS.get(tier, GREY), **more))
    return {
        "data": traces,
        "layout": {
            "height": 380,
            "xaxis": axis("hottest rows, in order of planned frequency", type="log", exponentformat="SI"),
            "yaxis": axis("share of lookups", tickformat=".0%", range=[0, 1.02]),
        },
    }


def run_points(curve: Curve, start: float, stop: float) -> tuple[FloatArray, list[float]]:
    """Rows and shares of the curve from the first row of a run to its last."""
    first, last = max(start, 1.0), min(max(stop, 1.0), curve.rows[-1])
    inner = curve.rows[(curve.rows > first) & (curve.rows < last)]
    rows = np.array([first, *inner, last])
    return rows, [curve.share_at(row) for row in rows]


def finding(results: Results) -> str:
    """How concentrated the most and the least skewed table are."""
    drawn = curves(results, policies_that_cut(results)[0][0])
    if not drawn:
        return "The workload has no tables."
    parts = [
        f"{share_text(curve.share_at(max(curve.rows[-1] / 100, 1.0)))} of the lookups in {curve.label}"
        for curve in dict.fromkeys((drawn[0], drawn[-1]))
    ]
    return f"The hottest 1 % of rows hold {' and '.join(parts)}."


PLOT = Plot(
    "popularity",
    QUESTION,
    draw,
    views,
    finding,
    "Each way of cutting tables is drawn by itself; the colour of a curve is the tier of its rows, which changes at a "
    "cut. The policy reclaims the rows of a dotted stretch. Without a policy that cuts, the first policy is shown.",
)
