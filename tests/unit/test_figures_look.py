"""What figures have in common to the eye, and the questions that they ask of frames."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.figures.frames import chosen, levels, mean, names, series
from simulator.figures.look import change_text, policy_colour, spread
from simulator.report.plots.style import BLACK, BLUE, GREY, VERMILLION

PLACES = st.lists(st.floats(0, 100), min_size=1, max_size=8).map(sorted)


@given(PLACES)
def test_names_are_moved_apart_and_stay_in_order(places):
    moved = spread(places, 5.0)
    assert all(later - earlier >= 5.0 - 1e-9 for earlier, later in itertools.pairwise(moved))
    assert np.mean(moved) == pytest.approx(np.mean(places), abs=1e-6)


@given(PLACES)
def test_names_that_do_not_touch_stay_where_they_are(places):
    apart = [place + 10.0 * rank for rank, place in enumerate(places)]
    assert spread(apart, 5.0) == pytest.approx(apart)


@pytest.mark.parametrize(
    ("label", "colour"),
    [
        ("row-wise", BLACK),
        ("row-wise, dedup by island", BLUE),
        ("FlexShard, concurrent", VERMILLION),
        ("another", GREY),
    ],
)
def test_a_policy_has_the_colour_of_its_family(label, colour):
    assert policy_colour(label) == colour


@pytest.mark.parametrize(("change", "text"), [(-0.848, "-84.8 %"), (0.254, "+25.4 %"), (0.0001, "as much")])
def test_changes_are_told_with_their_sign(change, text):
    assert change_text(change) == text


class TestFrames:
    frame = pd.DataFrame(
        {"policy": ["b", "a", "b", "a"], "s": [1.2, 1.0, 1.0, 1.0], "x": [4.0, 2.0, 8.0, 4.0]}
    )

    def test_names_are_in_order_of_appearance_and_levels_ascend(self):
        assert names(self.frame, "policy") == ["b", "a"]
        assert levels(self.frame, "s").tolist() == [1.0, 1.2]

    def test_rows_are_chosen_by_all_values(self):
        assert chosen(self.frame, policy="b", s=1.0)["x"].tolist() == [8.0]

    def test_means_are_over_what_is_left(self):
        assert mean(self.frame, "x", policy="a") == 3.0

    def test_a_series_has_every_level_and_nan_where_nothing_is(self):
        assert series(self.frame, "x", "s", policy="b").tolist() == [8.0, 4.0]
        found = series(self.frame, "x", "s", policy="a")
        assert found[0] == 3.0
        assert np.isnan(found[1])
