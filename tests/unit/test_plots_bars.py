"""Bars: the still picture and the interactive figure show the same sizes at the same places."""

from html import unescape

import numpy as np
import pytest
from matplotlib.text import Text

from simulator.report.plots.bars import Bar, BarChart, Group, Part, bar_chart_picture, bar_figure
from simulator.report.plots.interactive import label_text, short
from simulator.report.plots.style import house_style
from simulator.report.scales import Scale

CHART = BarChart(
    groups=(
        Group(
            "one", (Bar("up", (Part("a", 1.0, "#111111"), Part("b", 2.0, "#222222")), "3"), Bar("", (), "0"))
        ),
        Group("two", (Bar("up", (Part("b", 4.0, "#222222"), Part("w", 1.0, "#333333", hatched=True)), "5"),)),
    ),
    scale=Scale("ms", 0.5, 1),
    label="ms of time",
    order=("b", "a", "missing", "w"),
    line=("limit", 3.0),
)


def still(chart: BarChart):
    with house_style():
        return bar_chart_picture(chart, "Which?")


def places(figure: dict) -> set[tuple[float, float, float]]:
    """(left, length, height) of every part of an interactive figure."""
    return {
        (left, size, y)
        for trace in figure["data"]
        for left, size, y in zip(trace["base"], trace["x"], trace["y"], strict=True)
    }


def test_sizes_and_places_agree():
    drawn = {
        (
            round(bar.get_x(), 6),
            round(bar.get_width(), 6),
            round(bar.get_y() + bar.get_height() / 2, 6),
        )
        for bar in still(CHART).axes[0].patches
    }
    assert places(bar_figure(CHART)) == drawn == {(0, 2, 0.85), (2, 4, 0.85), (0, 8, 3.75), (8, 2, 3.75)}


def test_the_legend_has_what_occurs_in_order():
    assert [trace["name"] for trace in bar_figure(CHART)["data"]] == ["b", "a", "w"]
    names = [text.get_text() for text in still(CHART).axes[0].get_legend().get_texts()]
    assert names == ["b", "a", "w", "limit"]


def test_every_group_and_end_is_told():
    notes = [note["text"] for note in bar_figure(CHART)["layout"]["annotations"]]
    assert notes == ["<b>one</b>", "3", "0", "<b>two</b>", "5"]
    shown = {text.get_text() for text in still(CHART).findobj(Text)}
    assert {"one", "two", "3", "0", "5", "up"} <= shown


def test_hovering_tells_whose_what_and_how_much():
    told = {text for trace in bar_figure(CHART)["data"] for text in trace["customdata"]}
    assert "one<br>a: <b>2.0 ms</b>" in told
    assert "two<br>w: <b>2.0 ms</b>" in told


def test_waiting_is_hatched():
    by_name = {trace["name"]: trace["marker"] for trace in bar_figure(CHART)["data"]}
    assert "pattern" in by_name["w"]
    assert by_name["a"] == {"color": "#111111"}


def test_the_line_stands_where_it_should():
    (line,) = bar_figure(CHART)["layout"]["shapes"]
    assert (line["x0"], line["x1"]) == (6.0, 6.0)
    np.testing.assert_allclose(still(CHART).axes[0].lines[0].get_xdata(), [6.0, 6.0])


def test_no_bar_at_all():
    chart = BarChart((Group("one", (Bar("", (), "nothing"),)),), Scale("s", 1.0, 0), "s", order=())
    assert bar_figure(chart)["data"] == []
    assert bar_figure(chart)["layout"]["xaxis"]["range"] == [0, 1]
    still(chart)


@pytest.mark.parametrize(
    "name", ["a<b>c</b>", "<a href='javascript:x'>y</a>", "&lt;", "</script>", "%{x}", "row_wise"]
)
def test_a_label_is_shown_as_it_is(name):
    shown = label_text(name)
    assert unescape(shown) == name
    assert "<" not in shown


def test_a_label_never_is_a_template():
    """plotly.js fills in `%{...}` of a template: what a user named is data of it."""
    chart = BarChart(
        (Group("%{x}", (Bar("", (Part("a", 1.0, "#111111"),), ""),)),), Scale("s", 1.0, 0), "s", order=("a",)
    )
    (trace,) = bar_figure(chart)["data"]
    assert trace["hovertemplate"] == "%{customdata}<extra></extra>"
    assert trace["customdata"] == ["%{x}<br>a: <b>1 s</b>"]


def test_numbers_have_six_digits():
    assert short(0.123456789) == 0.123457
    assert short(123456789.0) == 123457000.0
