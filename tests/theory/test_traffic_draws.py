"""Counts by place against their law and against drawing every lookup alone."""

import numpy as np
import pytest

from simulator.arrays import FloatArray, IntArray
from simulator.seeds import generator
from simulator.traffic.draws import Counts, draw_counts

SHARES = np.array([0.5, 0.0, 0.3, 0.15, 0.05, 0.0])


def alone(lookups: int, rounds: int, shares: FloatArray) -> IntArray:
    places = generator(1, "alone").choice(len(shares), (rounds, lookups), p=shares)
    return np.array([np.bincount(each, minlength=len(shares)) for each in places])


def drawn(lookups: int, rounds: int, shares: FloatArray) -> IntArray:
    return draw_counts(generator(2, "drawn"), Counts(np.full(rounds, lookups), None), shares).fresh


@pytest.mark.parametrize("lookups", [1, 2, 7, 40])
def test_each_place_has_the_counts_of_lookups_drawn_alone(lookups: int) -> None:
    """Chi-square of the whole table of counts, place by place."""
    from scipy.stats import chi2_contingency

    one, other = alone(lookups, 4_000, SHARES), drawn(lookups, 4_000, SHARES)
    for place in np.flatnonzero(SHARES):
        table = np.array([np.bincount(each[:, place], minlength=lookups + 1) for each in (one, other)])
        table = table[:, table.sum(axis=0) > 20]
        assert chi2_contingency(table).pvalue > 1e-3


def test_pairs_of_places_are_dependent_as_drawn_alone() -> None:
    """Covariance -n p q: what one owner gets another does not."""
    other = drawn(40, 20_000, SHARES)
    covariance = np.cov(other.T)
    expected = 40 * (np.diag(SHARES) - np.outer(SHARES, SHARES))
    assert np.allclose(covariance, expected, atol=0.25)


def test_the_law_itself() -> None:
    """Chi-square of all (n, places) outcomes of 3 lookups against multinomial probabilities."""
    from scipy.stats import chisquare, multinomial

    outcomes = drawn(3, 30_000, SHARES)
    kinds, counts = np.unique(outcomes, axis=0, return_counts=True)
    expected = 30_000 * multinomial(3, SHARES).pmf(kinds)
    assert expected.sum() == pytest.approx(30_000)
    assert chisquare(counts, expected).pvalue > 1e-3


def test_places_without_share_get_nothing_whatever_rounding_does() -> None:
    shares = np.array([0.1] * 10 + [0.0])
    counts = draw_counts(generator(1, "test"), Counts(np.full(200, 1 << 50), None), shares).fresh
    assert (counts[:, 10] == 0).all()
    assert (counts.sum(axis=1) == 1 << 50).all()


def test_no_lookups_and_no_shares() -> None:
    nothing = draw_counts(generator(1, "test"), Counts(np.zeros(3, dtype=np.int64), None), np.zeros(4))
    assert nothing.all.tolist() == [[0] * 4] * 3


def test_repeats_land_where_fresh_lookups_did() -> None:
    fresh = generator(1, "test").integers(1, 5, 5_000)
    counts = draw_counts(generator(2, "test"), Counts(fresh, fresh * 3), SHARES)
    assert counts.repeats is not None
    assert (counts.repeats[counts.fresh == 0] == 0).all()
    assert (counts.repeats.sum(axis=1) == fresh * 3).all()
    assert (counts.all.sum(axis=1) == fresh * 4).all()


def test_repeats_spread_as_if_each_chose_an_earlier_lookup() -> None:
    """With F of 5 fresh lookups at a place, 20 repeats choose it with F / 5: the counts have the variance
    (1 + 20/5)^2 5 p q  +  20 (p q - p q / 5)  =  141 p q, where lookups drawn alone would have 25 p q."""
    rounds, fresh, repeats = 40_000, 5, 20
    lookups = Counts(np.full(rounds, fresh), np.full(rounds, repeats))
    counts = draw_counts(generator(3, "test"), lookups, SHARES).all
    assert np.allclose(counts.mean(axis=0), (fresh + repeats) * SHARES, atol=0.1)
    assert np.allclose(counts.var(axis=0), 141 * SHARES * (1 - SHARES), rtol=0.06)
