"""Which points a second pass takes, and the Pareto front."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweep_inputs import small_sweep

from simulator.config.errors import ConfigError
from simulator.sweeps.pareto import front
from simulator.sweeps.then import chosen

FIGURES = [("a", 3.0, 10.0), ("b", 1.0, 40.0), ("a", 2.0, 30.0), ("a", 2.0, 20.0), ("b", 9.0, 40.0)]
NUMBERS = st.integers(0, 5).map(float)


def test_best_goes_by_policy_and_ties_go_to_the_earlier():
    assert chosen("best 1", FIGURES) == [1, 2]
    assert chosen("best 2", FIGURES) == [1, 2, 3, 4]
    assert chosen("best 99", FIGURES) == [0, 1, 2, 3, 4]


def test_a_share_is_rounded_up_and_at_least_one():
    figures = [("a", float(index), 0.0) for index in range(20)]
    assert chosen("best 10 %", figures) == [0, 1]
    assert chosen("best 11%", figures) == [0, 1, 2]
    assert chosen("best 0.1 %", figures) == [0]
    assert chosen("best 100 %", figures) == list(range(20))


def test_all_and_none():
    assert chosen("all", FIGURES) == [0, 1, 2, 3, 4]
    assert chosen("best 3", []) == []
    assert chosen("pareto", []) == []


def test_pareto_is_over_all_policies():
    assert chosen("pareto", FIGURES) == [0, 1, 3]


@pytest.mark.parametrize("rule", ["best", "best 0", "best 1.5", "best 101 %", "worst 3", 3, "best -1"])
def test_rules_that_are_none(tmp_path, rule):
    with pytest.raises(ConfigError) as error:
        small_sweep(tmp_path, then={"for": rule})
    assert "allowed: 'all', 'pareto', 'best 5' or 'best 10 %'" in str(error.value)


def test_a_metric_that_is_none(tmp_path):
    with pytest.raises(ConfigError, match="communication_s"):
        small_sweep(tmp_path, then={"for": "all", "by": "speed"})


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30))
def test_the_front_is_what_no_other_point_beats(points):
    def beaten(point):
        return any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True)) for other in points
        )

    assert front(points) == [index for index, point in enumerate(points) if not beaten(point)]
