"""Sequence lengths: their means, their draws, and the sums over a rank's samples."""

from math import erf, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from simulator.seeds import generator
from simulator.workload.lengths import (
    LengthDistribution,
    _normal_cdf,
    empirical,
    fixed,
    lognormal,
    sums_by_rank,
)

LOGNORMAL = {"mean": 200, "sigma": 1.0, "min": 1, "max": 1000}


def convolved(law: LengthDistribution, samples: int) -> np.ndarray:
    """P(sum of `samples` lengths), by convolution."""
    one = np.zeros(law.max + 1)
    one[law.lengths] = law.probabilities
    total = np.ones(1)
    for _ in range(samples):
        total = np.convolve(total, one)
    return total


def chi_square_p(observed: np.ndarray, chance: np.ndarray) -> float:
    draws = observed.sum()
    likely = chance * draws >= 8
    expected = np.append(chance[likely], max(1 - chance[likely].sum(), 1e-12)) * draws
    counted = np.append(observed[likely], draws - observed[likely].sum())
    keep = expected >= 1
    return float(chi2.sf((((counted - expected) ** 2) / expected)[keep].sum(), keep.sum() - 1))


class TestLognormal:
    def test_the_mean_is_that_of_the_clipped_lengths(self) -> None:
        law = lognormal(**LOGNORMAL)
        assert law.mean == pytest.approx(200, rel=1e-12)
        drawn = law.draw(generator(1, "test"), 200_000)
        assert drawn.mean() == pytest.approx(200, rel=0.01)
        assert drawn.min() >= 1
        assert drawn.max() == 1000

    def test_probabilities_are_those_of_the_rounded_lognormal(self) -> None:
        """Far from the clip, mu = ln(mean) - sigma^2 / 2 up to the rounding."""
        law = lognormal(mean=100, sigma=0.5, min=1, max=100_000)
        mu = log(100) - 0.125
        upper, lower = norm.cdf((np.log([60.5, 59.5]) - mu) / 0.5)
        assert law.probabilities[law.lengths == 60] == pytest.approx(upper - lower, rel=1e-3)

    def test_what_lies_outside_counts_as_the_ends(self) -> None:
        law = lognormal(mean=50, sigma=2.0, min=10, max=100)
        assert law.probabilities[0] > 0.2
        assert law.probabilities[-1] > 0.2
        assert law.mean == pytest.approx(50, rel=1e-12)

    @settings(deadline=None, max_examples=60)
    @given(
        least=st.integers(0, 50),
        width=st.integers(2, 3_000),
        part=st.floats(0.01, 0.99),
        sigma=st.floats(0.05, 4.0),
    )
    def test_any_mean_between_the_ends_is_reached(
        self, least: int, width: int, part: float, sigma: float
    ) -> None:
        mean = least + part * width
        law = lognormal(mean=mean, sigma=sigma, min=least, max=least + width)
        assert law.mean == pytest.approx(mean, rel=1e-9)
        assert law.probabilities.sum() == pytest.approx(1.0, rel=1e-12)
        assert (law.probabilities > 0).all()

    def test_the_normal_distribution_function_is_exact(self) -> None:
        z = np.concatenate([np.linspace(-12, 12, 20_001), [-1e9, 1e9]])
        exact = [0.5 + 0.5 * erf(value / sqrt(2)) for value in z]
        assert _normal_cdf(z) == pytest.approx(exact, abs=2e-15)

    def test_a_wide_sigma_keeps_the_mean_of_the_lognormal(self) -> None:
        law = lognormal(mean=20, sigma=1.0, min=0, max=1_000_000)
        median = law.lengths[np.searchsorted(np.cumsum(law.probabilities), 0.5)]
        assert median == pytest.approx(20 * exp(-0.5), abs=1)


class TestOtherKinds:
    def test_fixed_lengths_do_not_vary(self) -> None:
        assert fixed(7).mean == 7
        assert fixed(7).draw(generator(0, "test"), 4).tolist() == [7, 7, 7, 7]

    def test_empirical_lengths_merge_and_weigh(self) -> None:
        law = empirical([5, 1, 5, 9], [1.0, 2.0, 3.0, 0.0])
        assert law.lengths.tolist() == [1, 5]
        assert law.probabilities == pytest.approx([1 / 3, 2 / 3])

    @given(st.lists(st.tuples(st.integers(0, 1000), st.floats(0.01, 10)), min_size=1, max_size=40))
    def test_the_alias_table_holds_exactly_the_probabilities(self, pairs: list[tuple[int, float]]) -> None:
        law = empirical([length for length, _ in pairs], [weight for _, weight in pairs])
        threshold, alias = law._alias
        held = threshold.copy()
        np.add.at(held, alias, 1.0 - threshold)
        assert held / len(held) == pytest.approx(law.probabilities, abs=1e-12)


class TestSums:
    LAW = empirical([0, 1, 3, 8], [0.2, 0.4, 0.3, 0.1])

    @pytest.mark.parametrize("method", ["_sums_by_samples", "_sums_by_counts"])
    @pytest.mark.parametrize("samples", [1, 3, 6])
    def test_both_ways_of_summing_are_exact_in_distribution(self, method: str, samples: int) -> None:
        drawn = getattr(self.LAW, method)(generator(5, method), np.full(20_000, samples))
        chance = convolved(self.LAW, samples)
        assert chi_square_p(np.bincount(drawn.lookups, minlength=len(chance)), chance) > 1e-4

    @pytest.mark.parametrize("method", ["_sums_by_samples", "_sums_by_counts"])
    def test_nonempty_samples_are_counted_with_the_sums(self, method: str) -> None:
        drawn = getattr(self.LAW, method)(generator(6, method), np.full(20_000, 5))
        assert drawn.nonempty_samples.mean() == pytest.approx(4.0, rel=0.01)
        assert (drawn.nonempty_samples <= drawn.lookups).all()
        assert (drawn.nonempty_samples[drawn.lookups > 0] > 0).all()

    @pytest.mark.parametrize("samples", [[0], [0, 5, 0], [3, 0], [100, 0, 7]])
    def test_ranks_without_samples_have_no_lookups(self, samples: list[int]) -> None:
        for law in (self.LAW, fixed(3), fixed(0)):
            drawn = law.draw_sums(generator(7, "test"), np.array(samples))
            assert (drawn.lookups[np.array(samples) == 0] == 0).all()
            assert (drawn.nonempty_samples <= samples).all()

    def test_all_zero_lengths_are_allowed(self) -> None:
        drawn = fixed(0).draw_sums(generator(8, "test"), np.array([4, 4]))
        assert drawn.lookups.tolist() == [0, 0]
        assert drawn.nonempty_samples.tolist() == [0, 0]

    def test_a_fixed_length_needs_no_draw(self) -> None:
        assert fixed(50).draw_sums(generator(9, "test"), np.array([512, 3])).lookups.tolist() == [25_600, 150]

    def test_chunks_do_not_change_the_distribution(self) -> None:
        law = lognormal(**LOGNORMAL)
        drawn = law.draw_sums(generator(10, "test"), np.full(6_000, 512))
        assert drawn.lookups.mean() == pytest.approx(512 * 200, rel=0.002)
        spread = sqrt(512 * (law.probabilities @ law.lengths**2 - 200**2))
        assert drawn.lookups.std() == pytest.approx(spread, rel=0.05)

    @given(st.lists(st.integers(0, 6), min_size=1, max_size=20))
    def test_sums_by_rank_adds_consecutive_runs(self, samples: list[int]) -> None:
        values = np.arange(sum(samples), dtype=np.int64)
        ends = np.cumsum(samples)
        expected = [values[end - count : end].sum() for end, count in zip(ends, samples, strict=True)]
        assert sums_by_rank(values, np.array(samples)).tolist() == expected
