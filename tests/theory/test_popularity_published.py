"""Shares and reuse of finite Zipf laws against published and closed-form figures."""

import numpy as np
import pytest

from simulator.workload.distinct import expected_distinct
from simulator.workload.popularity.zipf import ZipfMandelbrot

ROWS = 10_000_000
SHARES = {
    0.8: (0.224, 0.376, 0.617),
    0.9: (0.386, 0.545, 0.747),
    1.0: (0.586, 0.724, 0.862),
    1.2: (0.890, 0.944, 0.978),
}
REUSE = [(10**7, 0.9, 1.62), (10**7, 1.0, 2.34), (10**7, 1.2, 7.09), (10**8, 0.9, 1.38)]


@pytest.mark.parametrize("s", SHARES)
def test_shares_on_the_hottest_rows(s: float) -> None:
    """Finite Zipf over 1e7 rows, share on the top 0.1, 1 and 10 %."""
    shares = ZipfMandelbrot(ROWS, s).cumulative_share([ROWS // 1000, ROWS // 100, ROWS // 10])
    assert shares == pytest.approx(SHARES[s], rel=0.01)


@pytest.mark.parametrize(("rows", "s", "lookups_per_row"), REUSE)
def test_lookups_per_distinct_row(rows: int, s: float, lookups_per_row: float) -> None:
    """1,024 samples of 200 lookups."""
    lookups = 1024 * 200
    distinct = expected_distinct(ZipfMandelbrot(rows, s).blocks(), lookups)
    assert lookups / float(distinct) == pytest.approx(lookups_per_row, rel=0.01)


def test_the_hottest_row_of_the_headline_has_five_point_seven_fair_shares_of_128() -> None:
    share = ZipfMandelbrot(4_000_000, 1.15, 2.75).row_share(0)
    assert share == pytest.approx(0.045, rel=0.01)
    assert share * 128 == pytest.approx(5.7, rel=0.01)


def test_s_one_is_the_harmonic_numbers() -> None:
    """Share of the first k of n rows is H_k / H_n, H_n = ln n + gamma + 1/2n - 1/12n^2 + ..."""
    rows = 10**12
    harmonic = np.log(rows) + np.euler_gamma + 0.5 / rows
    assert ZipfMandelbrot(rows, 1.0).row_share(0) == pytest.approx(1.0 / harmonic, rel=1e-14)


def test_s_two_reaches_the_basel_sum() -> None:
    """pi^2 / 6 - sum over 1..n of x^-2 = 1/n - 1/2n^2 + ..."""
    rows = 10**9
    total = np.pi**2 / 6 - 1 / rows
    assert ZipfMandelbrot(rows, 2.0).row_share(0) == pytest.approx(1 / total, rel=1e-14)
