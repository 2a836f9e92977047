"""Zipf-Mandelbrot against sums over every row."""

import math

import numpy as np
import pytest

from simulator.workload.popularity.zipf import HEAD_ROWS, ZipfMandelbrot

LAWS = [(s, q) for s in (0.0, 0.3, 0.9, 1.0, 1.0 + 1e-9, 1.2, 2.0, 6.0) for q in (0.0, 2.75, -0.5, 1000.0)]


def weights_of(rows: int, s: float, q: float) -> np.ndarray:
    return (np.arange(1, rows + 1) + q) ** -s


@pytest.mark.parametrize(("s", "q"), LAWS)
@pytest.mark.parametrize("rows", [1, 2, 10, HEAD_ROWS - 1, HEAD_ROWS, HEAD_ROWS + 1, 300_000])
def test_cumulative_shares_are_exact_sums(rows: int, s: float, q: float) -> None:
    weights = weights_of(rows, s, q)
    asked = np.unique(np.round(np.geomspace(1, rows, 60)).astype(int))
    total = math.fsum(weights)
    exact = [math.fsum(weights[:count]) / total for count in asked]
    assert ZipfMandelbrot(rows, s, q).cumulative_share(asked) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("s", "q"), LAWS)
def test_runs_of_the_tail_keep_their_digits(s: float, q: float) -> None:
    """Far below the resolution of a difference of cumulative shares."""
    rows = 300_000
    weights = weights_of(rows, s, q)
    starts = np.array([0, 10, 5_000, 100_000, 299_990, 200_000])
    stops = np.array([1, 20, 5_001, 100_001, 300_000, 260_000])
    exact = [math.fsum(weights[a:b]) / math.fsum(weights) for a, b in zip(starts, stops, strict=True)]
    assert ZipfMandelbrot(rows, s, q).share_between(starts, stops) == pytest.approx(exact, rel=1e-10)


def test_blocks_have_the_shares_of_their_rows() -> None:
    rows, law = 200_000, ZipfMandelbrot(200_000, 1.1, 2.0)
    weights = weights_of(rows, 1.1, 2.0)
    blocks = law.blocks(heads=100)
    exact = np.add.reduceat(weights, blocks.edges[:-1]) / weights.sum()
    assert blocks.shares == pytest.approx(exact, rel=1e-11)
    assert (np.diff(blocks.edges)[:100] == 1).all()
    assert (np.diff(blocks.edges)[100:-1] > 1).all()


def test_rows_inside_a_block_are_nearly_alike() -> None:
    law = ZipfMandelbrot(10**9, 1.0)
    edges = law.blocks(heads=1000).edges[1000:]
    hottest, coolest = (1 / (edges[:-1] + 1.0)), (1 / edges[1:].astype(float))
    assert (hottest / coolest).max() < 1.0 / (1 - 0.021)
