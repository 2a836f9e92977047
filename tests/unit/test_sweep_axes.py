"""Axes of a sweep's pictures show every dot whole, and their ticks in plain digits."""

import pytest

from simulator.report.plots.style import house_style, new_figure
from simulator.sweeps.axes import fit, logarithmic
from simulator.sweeps.frontier import settings_of
from simulator.sweeps.frontier_plot import draw_frontier


def axes():
    return new_figure(3.0).subplots()


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 20], True), ([1, 19.9], False), ([0, 100], False), ([-1, 50], False)]
)
def test_values_that_span_decades_are_logarithmic(values, expected):
    assert logarithmic(values) is expected


@pytest.mark.parametrize("values", [[80.0, 83.0], [5.0, 5.0], [0.0, 0.0], [1.0, 1000.0]])
@pytest.mark.parametrize("from_zero", [False, True])
def test_all_values_lie_inside(values, from_zero):
    ax = axes()
    fit(ax, "x", values, from_zero=from_zero)
    low, high = ax.get_xlim()
    assert low <= 0 if from_zero and not logarithmic(values) else low < min(values)
    assert max(values) < high


def test_an_axis_that_is_fitted_is_filled():
    ax = axes()
    fit(ax, "x", [80.0, 83.0], from_zero=False)
    low, high = ax.get_xlim()
    assert (83.0 - 80.0) / (high - low) > 0.8


def test_ticks_of_a_logarithmic_axis_are_numbers():
    with house_style():
        ax = axes()
        fit(ax, "y", [1.0, 1000.0], from_zero=True)
        ax.figure.canvas.draw()
        texts = [label.get_text() for label in ax.get_yticklabels()]
    assert {"1", "10", "100", "1000"} <= set(texts)


def test_dots_of_a_frontier_fill_its_memory_axis():
    rows = [
        {"policy": policy, "engine": "bound", "communication_s": time, "memory_bytes_per_rank_max": memory}
        for policy, time, memory in (("a", "0.004", "80000000000"), ("b", "0.003", "81000000000"))
    ]
    ax = axes()
    draw_frontier(ax, settings_of(rows), "communication_s")
    low, high = ax.get_xlim()
    assert 79.9 < low < 80 < 81 < high < 81.1
