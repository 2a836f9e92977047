"""A sweep's points for plotly.js: one figure for each metric over one varied key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulator.report.plots.interactive import axis, label_text, short, shorts
from simulator.report.plots.plot import InteractiveFigure, View
from simulator.report.scales import Scale
from simulator.sweeps.axes import logarithmic
from simulator.sweeps.names import short_names
from simulator.sweeps.plot import (
    CHOICES,
    IN_TURN,
    MOST_DOTS,
    evenly,
    figure_name,
    medians,
    places_of,
    scale_of,
    varied_keys,
)
from simulator.sweeps.rows import Row, number
from simulator.sweeps.shared import shared_rows
from simulator.sweeps.text import at_text

MOST_TOLD = 300  # points up to which a dot tells all its values


def key_views(rows: Sequence[Row], x: str, y: str, colours: Mapping[str, str]) -> tuple[View, ...]:
    """A view for each metric that people compare, the chosen one first."""
    metrics = dict.fromkeys([y, *CHOICES])
    return tuple(View(figure_name(metric), key_figure(rows, x, metric, colours)) for metric in metrics)


def key_figure(rows: Sequence[Row], x: str, y: str, colours: Mapping[str, str]) -> InteractiveFigure:
    """Dots and median lines in the colours of their policies, a dash an engine."""
    places, unit = places_of([row[x] for row in rows])
    scale = scale_of(y, rows)
    heights = [(number(row, y) or 0.0) / scale.size for row in rows]
    wide = unit != IN_TURN and logarithmic(list(places.values()))
    named = {"tickvals": list(places.values()), "ticktext": [label_text(text, 24) for text in places]}
    name = short_names(varied_keys(rows))[x]
    return {
        "data": list(traces(rows, x, y, scale, colours)),
        "layout": {
            "height": 400,
            "xaxis": axis(
                f"{name}{f', {unit}' if unit and unit != IN_TURN else ''}",
                **({"type": "log"} if wide else {}),
                **(named if unit == IN_TURN else {}),
            ),
            "yaxis": axis(
                f"{figure_name(y)}, {scale.unit}",
                **({"type": "log"} if logarithmic(heights) else {"rangemode": "tozero"}),
            ),
        },
    }


def traces(
    rows: Sequence[Row], x: str, y: str, scale: Scale, colours: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """For each policy and engine its line, then its dots."""
    places, _ = places_of([row[x] for row in rows])
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    keys = varied_keys(rows)
    names = short_names(keys) if len(rows) <= MOST_TOLD else {}
    lined = {id(row) for row in shared_rows(rows, x, keys)}
    for policy, engine in dict.fromkeys((row["policy"], row["engine"]) for row in rows):
        own = [row for row in rows if (row["policy"], row["engine"]) == (policy, engine)]
        across = [places[row[x]] for row in own]
        up = [(number(row, y) or 0.0) / scale.size for row in own]
        name = label_text(policy + (f", {engine}" if len(engines) > 1 else ""))
        common = {"type": "scatter", "name": name, "meta": name, "legendgroup": f"{policy} {engine}"}
        kept = [place for place, row in enumerate(own) if id(row) in lined]
        line = medians([across[place] for place in kept], [up[place] for place in kept])
        yield {
            **{**common, "mode": "lines", "x": shorts(line), "y": shorts(line.values())},
            "line": {
                "color": colours[policy],
                "width": 2,
                "dash": "solid" if engine == engines[0] else "dash",
            },
            "hovertemplate": f"%{{meta}}, median: <b>%{{y:.4~r}} {scale.unit}</b> at %{{x}}<extra></extra>",
        }
        chosen = evenly(len(own), -(-MOST_DOTS * len(own) // len(rows)))
        told = [label_text(at_text(own[place], names), 200) if names else "" for place in chosen]
        yield {
            **{**common, "mode": "markers", "showlegend": False, "opacity": 0.55},
            "marker": {"color": colours[policy], "size": 5},
            "x": [short(across[place]) for place in chosen],
            "y": [short(up[place]) for place in chosen],
            **({"customdata": told} if names else {}),
            "hovertemplate": f"%{{meta}}: <b>%{{y:.4~r}} {scale.unit}</b>"
            f"{'<br>%{customdata}' if names else ' at %{x}'}<extra></extra>",
        }
