"""Floats are added one way on every Python."""

from simulator.sums import added


def test_each_step_is_rounded() -> None:
    """Compensated, as `sum` does from Python 3.12 on, the first would be 1 and the second 2."""
    assert added([0.1] * 10) == 0.9999999999999999
    assert added([1.0, 1e100, 1.0, -1e100]) == 0.0


def test_order_counts_and_whole_numbers_stay_whole() -> None:
    assert added([1e100, -1e100, 1.0]) == 1.0
    assert added([1.0, 1e100, -1e100]) == 0.0
    assert added(number for number in (2**60, 1)) == 2**60 + 1
    assert added([]) == 0
