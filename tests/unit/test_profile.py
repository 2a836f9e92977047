"""Profiles: fits that find what was drawn, figures of small traces by hand, workloads that reproduce."""

from pathlib import Path

import numpy as np
import pytest

from simulator.seeds import generator
from simulator.workload.fit import (
    fit_lognormal,
    fit_repeats,
    fit_zipf,
    fit_zipf_mandelbrot,
    golden_section,
)
from simulator.workload.lengths import empirical, fixed, lognormal
from simulator.workload.load import load_workload
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.profile import Profile, profile_trace, top_shares
from simulator.workload.profile_view import plot_profile, profile_rows
from simulator.workload.traces.source import TraceSource


class TestFits:
    @pytest.mark.parametrize("s", [0.0, 0.46, 0.97, 1.0, 1.5])
    @pytest.mark.parametrize("rows", [200, 10**9])
    def test_a_zipf_law_is_found_again(self, s: float, rows: int) -> None:
        assert fit_zipf(ZipfMandelbrot(rows, s)).s == pytest.approx(s, abs=1e-3)

    @pytest.mark.parametrize(("s", "q"), [(1.15, 2.75), (0.9, 50.0), (1.0, 0.0)])
    def test_a_zipf_mandelbrot_law_is_found_again(self, s: float, q: float) -> None:
        law = fit_zipf_mandelbrot(ZipfMandelbrot(1_000_000, s, q))
        assert law.s == pytest.approx(s, abs=2e-3)
        assert law.q == pytest.approx(q, rel=0.02, abs=0.02)

    def test_uniform_rows_have_no_exponent(self) -> None:
        assert fit_zipf(Uniform(10_000)).s == pytest.approx(0.0, abs=1e-3)

    @pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0])
    def test_the_sigma_of_clipped_lengths_is_found_again(self, sigma: float) -> None:
        fit = fit_lognormal(lognormal(mean=40, sigma=sigma, min=1, max=300))
        assert fit is not None
        assert fit.sigma == pytest.approx(sigma, rel=0.01)
        assert fit.distance < 1e-3

    def test_what_is_not_lognormal_says_how_far_off_it_is(self) -> None:
        fit = fit_lognormal(empirical([1, 100], [1, 1]))
        assert fit is not None
        assert fit.distance > 0.2

    @pytest.mark.parametrize("lengths", [fixed(5), empirical([3, 4], [1, 1])])
    def test_lengths_that_hardly_vary_are_not_fitted(self, lengths) -> None:  # type: ignore[no-untyped-def]
        assert fit_lognormal(lengths) is None

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
    def test_repeats_are_told_from_chance(self, share: float) -> None:
        """Sequences drawn lookup by lookup over few rows, so that chance repeats as well."""
        rng, law = generator(1, "test"), ZipfMandelbrot(500, 1.0)
        shares = law.share_between(np.arange(500), np.arange(1, 501))
        drawn = empirical([5, 20, 60], [2, 1, 1]).draw(rng, 3_000)
        distinct = []
        for length in drawn:
            fresh = 1 + rng.binomial(length - 1, 1 - share)
            distinct.append(len(set(rng.choice(500, size=fresh, p=shares).tolist())))
        lengths = empirical(drawn, np.ones(3_000))
        assert fit_repeats(law, lengths, float(np.mean(distinct))) == pytest.approx(share, abs=0.02)

    def test_golden_section_finds_a_minimum_inside_and_at_an_end(self) -> None:
        assert golden_section(lambda x: (x - 0.3) ** 2, 0, 1, tolerance=1e-6) == pytest.approx(0.3, abs=1e-5)
        assert golden_section(lambda x: x, 0, 1, tolerance=1e-6) == 0
        assert golden_section(lambda x: -x, 0, 1, tolerance=1e-6) == 1


TEXT = "1 1 1 1\n1 2\n2 3 4\n\n1 5 5 6\n7 8\n"


def profile(folder: Path, text: str = TEXT, **options: object) -> Profile:
    path = folder / "trace.dat"
    path.write_text(text)
    return profile_trace(TraceSource(path, "sessions"), **options)  # type: ignore[arg-type]


class TestByHand:
    """15 lookups: id 1 six times, 2 twice, 5 twice, 3 4 6 7 8 once. The second half begins at byte 14."""

    def test_sums(self, tmp_path: Path) -> None:
        measured = profile(tmp_path)
        assert (measured.lookups, measured.rows_touched, measured.sequences) == (15, 8, 6)
        assert measured.top_shares == pytest.approx((6 / 15, 6 / 15, 6 / 15))

    def test_reuse_in_batches_of_two_sequences(self, tmp_path: Path) -> None:
        """6 lookups of {1, 2}, 3 of {2, 3, 4}, 6 of {1, 5, 6, 7, 8}."""
        assert profile(tmp_path, batch_sequences=2).lookups_per_distinct_row == pytest.approx(15 / 10)

    def test_only_whole_batches_count(self, tmp_path: Path) -> None:
        assert profile(tmp_path, batch_sequences=5).lookups_per_distinct_row == pytest.approx(13 / 6)
        assert profile(tmp_path, batch_sequences=7).lookups_per_distinct_row is None

    def test_inside_sequences(self, tmp_path: Path) -> None:
        lengths = profile(tmp_path).lengths
        assert lengths is not None
        assert lengths.lookups_per_distinct == pytest.approx((4 + 1 + 1 + 4 / 3 + 1) / 5)
        assert lengths.distribution.mean == pytest.approx(15 / 6)
        assert lengths.quantiles == (2, 4, 4)

    def test_drift_between_halves(self, tmp_path: Path) -> None:
        """First half 1 1 1 1 1 2 2 3 4, second 1 5 5 6 7 8."""
        drift = profile(tmp_path).drift
        assert drift is not None
        assert drift.planned_shares[0] == pytest.approx(5 / 9)
        assert drift.achieved_shares[0] == pytest.approx(1 / 6)
        assert drift.possible_shares[0] == pytest.approx(2 / 6)

    def test_one_sequence_has_no_halves(self, tmp_path: Path) -> None:
        assert profile(tmp_path, "1 2 3\n").drift is None


class TestView:
    def test_rows_say_what_is_known_and_na_what_is_not(self, tmp_path: Path) -> None:
        rows = dict(profile_rows(profile(tmp_path)))
        assert rows["lookups"] == "15"
        assert rows["rows touched"] == "8"
        assert rows["share on the hottest 10% of them"] == "0.400"
        assert rows["lookups per distinct row, 512 samples"] == "n/a"
        assert rows["longest"] == "4"
        assert "nan" not in str(rows).lower()

    def test_lengths_alike_are_not_fitted(self, tmp_path: Path) -> None:
        assert dict(profile_rows(profile(tmp_path, "1 2\n3 4\n")))["lognormal sigma"] == "n/a"

    def test_the_plot_shows_both_curves_up_to_the_whole(self, tmp_path: Path) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots()
        plot_profile(profile(tmp_path), ax)
        measured, fitted = ax.get_lines()
        assert measured.get_ydata()[-1] == fitted.get_ydata()[-1] == 1.0
        assert measured.get_xdata()[-1] == 1.0
        assert ax.get_xlabel()
        plt.close(figure)


class TestReproduction:
    def text(self) -> str:
        rng, law = generator(2, "test"), ZipfMandelbrot(3_000, 1.05, 3.0)
        shares = law.share_between(np.arange(3_000), np.arange(1, 3_001))
        lengths = lognormal(mean=15, sigma=0.8, min=1, max=120).draw(rng, 4_000)
        items = rng.choice(3_000, size=int(lengths.sum()), p=shares)
        ends = np.cumsum(lengths)
        return "".join(
            " ".join(map(str, items[end - length : end])) + "\n"
            for end, length in zip(ends, lengths, strict=True)
        )

    @pytest.mark.parametrize(("style", "tolerance"), [("measured", 0.003), ("fitted", 0.06)])
    def test_a_workload_written_from_a_profile_draws_what_was_measured(
        self, tmp_path: Path, style: str, tolerance: float
    ) -> None:
        measured = profile(tmp_path, self.text())
        path = tmp_path / "w.yaml"
        path.write_text(measured.to_workload_yaml(style=style, batch_per_rank=64, dim=32))  # type: ignore[arg-type]
        workload = load_workload(path)
        (table,) = workload.tables
        assert (workload.batch_per_rank, table.dim, table.rows) == (64, 32, measured.rows_touched)
        assert top_shares(table.popularity) == pytest.approx(measured.top_shares, rel=tolerance)
        assert measured.lengths is not None
        assert table.length.mean == pytest.approx(measured.lengths.distribution.mean, rel=0.01)
        assert table.repeat_share < 0.02

    def test_repeats_are_written_where_there_are_some(self, tmp_path: Path) -> None:
        text = "".join(f"{line} {line} {line} {line + 1}\n" for line in range(500))
        yaml = profile(tmp_path, text).to_workload_yaml()
        assert "    repeat: 0.66" in yaml

    @pytest.mark.parametrize("name", ["a: b", "no", '"quoted" # not a comment', "ünï"])
    def test_any_file_name_makes_a_file_that_loads(self, tmp_path: Path, name: str) -> None:
        source = tmp_path / f"{name}.dat"
        source.write_text(TEXT)
        path = tmp_path / "w.yaml"
        path.write_text(profile_trace(TraceSource(source, "sessions")).to_workload_yaml(), encoding="utf-8")
        assert load_workload(path).name == name

    @pytest.mark.parametrize("text", ["1\n", "1 2\n", "1 1 1 1\n", "1 2 3\n1\n"])
    def test_the_smallest_traces_make_workloads_that_load(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "w.yaml"
        for style in ("measured", "fitted"):
            path.write_text(profile(tmp_path, text).to_workload_yaml(style=style))  # type: ignore[arg-type]
            assert load_workload(path).tables[0].length.mean == pytest.approx(
                len(text.split()) / text.count("\n")
            )
