"""Over keys, `permute` sends each row anywhere equally often, and neighbours independently of each other."""

import numpy as np
import pytest
from scipy.stats import chi2

from simulator.workload.shuffle import permute

KEYS = 4_000


def chi_square_p(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1))


@pytest.mark.parametrize("rows", [2, 3, 7, 10, 16, 100])
def test_a_row_lands_anywhere_equally_often(rows: int) -> None:
    landed = np.array([permute(rows, np.array([0, rows - 1]), key=key) for key in range(KEYS)])
    for column in landed.T:
        assert chi_square_p(np.bincount(column, minlength=rows)) > 1e-4


@pytest.mark.parametrize("rows", [3, 5, 8])
def test_two_rows_land_on_any_pair_of_places_equally_often(rows: int) -> None:
    landed = np.array([permute(rows, np.array([0, 1]), key=key) for key in range(KEYS)])
    pairs = np.bincount(landed[:, 0] * rows + landed[:, 1], minlength=rows * rows).reshape(rows, rows)
    assert (np.diag(pairs) == 0).all()
    assert chi_square_p(pairs[~np.eye(rows, dtype=bool)]) > 1e-4


def test_hot_rows_of_one_key_spread_over_owners_like_balls_over_bins() -> None:
    """65,536 rows of 1e9 over 128 owners: the counts' variance is binomial, not that of a lattice."""
    owners = permute(10**9, np.arange(65_536), key=5) // -(-(10**9) // 128)
    assert chi_square_p(np.bincount(owners, minlength=128)) > 1e-3
    assert chi_square_p(np.bincount(owners[:2_560], minlength=128)) > 1e-3
