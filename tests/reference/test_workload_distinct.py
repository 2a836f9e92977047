"""Expected distinct rows against counting: every row summed, every lookup drawn, every outcome listed."""

from itertools import product

import numpy as np
import pytest

from simulator.seeds import generator
from simulator.workload.distinct import expected_distinct
from simulator.workload.popularity.runs import from_counts
from simulator.workload.popularity.shares import Blocks
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot


def test_it_is_the_mean_over_all_outcomes() -> None:
    outcomes = [len(set(outcome)) for outcome in product(range(4), repeat=5)]
    assert float(expected_distinct(Uniform(4).blocks(), 5)) == pytest.approx(np.mean(outcomes), rel=1e-14)


def test_it_is_the_sum_over_rows() -> None:
    law = ZipfMandelbrot(3_000, 1.1, 2.0)
    shares = law.share_between(np.arange(3_000), np.arange(1, 3_001))
    lookups = np.array([0, 1, 17, 1_000, 10**6])
    exact = (1 - (1 - shares[:, None]) ** lookups).sum(axis=0)
    assert expected_distinct(law.blocks(), lookups) == pytest.approx(exact, rel=1e-10)


def test_blocks_of_the_tail_cost_no_accuracy() -> None:
    law = ZipfMandelbrot(10**6, 0.9)
    lookups = np.array([10, 10_000, 10**7])
    every_row = expected_distinct(law.blocks(10**6), lookups)
    assert expected_distinct(law.blocks(1_000), lookups) == pytest.approx(every_row, rel=1e-4)


def test_it_is_what_lookups_drawn_one_by_one_hit() -> None:
    popularity = from_counts(np.array([50, 20, 20, 5, 1, 1, 1, 1, 1]))
    shares = popularity.share_between(np.arange(9), np.arange(1, 10))
    rng = generator(4, "test")
    drawn = [len(set(rng.choice(9, size=12, p=shares).tolist())) for _ in range(4_000)]
    assert float(expected_distinct(popularity.blocks(), 12)) == pytest.approx(np.mean(drawn), rel=0.01)


def test_one_row_with_all_lookups_is_one_row() -> None:
    blocks = Blocks(np.array([0, 1, 5]), np.array([1.0, 0.0]))
    assert expected_distinct(blocks, [0, 1, 10**9]).tolist() == [0.0, 1.0, 1.0]


def test_lookups_need_not_be_whole_and_keep_their_shape() -> None:
    blocks = ZipfMandelbrot(100, 1.0).blocks()
    lookups = np.array([[0.5, 2.5], [10.0, 1e9]])
    expected = expected_distinct(blocks, lookups)
    assert expected.shape == (2, 2)
    assert (np.diff(expected.ravel()) > 0).all()
    assert expected[1, 1] == pytest.approx(100)
