"""Sums of floats that are the same on every Python: from 3.12 on, `sum` makes up for rounding, before it does not."""

from collections.abc import Iterable


def added(terms: Iterable[float]) -> float:
    """Left to right, each step rounded."""
    so_far: float = 0
    for term in terms:
        so_far += term
    return so_far
