"""Two runs on one page: what was changed key by key, what came of it, and whether it is beyond chance."""

import json
from pathlib import Path

import pytest
from html_page import Page
from results_folder import write_folder

from simulator.metrics.summary import Estimate
from simulator.report.build import build_comparison
from simulator.report.folder import read_results
from simulator.report.page.comparison import run_names
from simulator.report.page.difference import (
    MEASURED,
    FigureDifference,
    figure_differences,
    key_differences,
    phase_estimates,
)

HOSTILE = '</script><script>alert("x")</script>&amp;{{ 7 }}'


def edited(folder: Path, name: str, **changes: object) -> None:
    """Change keys of a JSON file; `a__b` is the key b of the mapping a."""
    data = json.loads((folder / name).read_text())
    for path, value in changes.items():
        *outer, last = path.split("__")
        inner = data
        for key in outer:
            inner = inner[key]
        inner[last] = value
    (folder / name).write_text(json.dumps(data))


def faster(folder: Path, policy: str, factor: float, half_width: float | None = 0.001) -> None:
    """Divide a policy's communication time."""
    data = json.loads((folder / "summary.json").read_text())
    for row in data["policies"]:
        spread = row["spread"]["communication_s"]
        spread["half_width"] = half_width
        if row["policy"] == policy:
            row["communication_s"] /= factor
    (folder / "summary.json").write_text(json.dumps(data))


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return write_folder(tmp_path / "before"), write_folder(tmp_path / "after")


def page_of(two: tuple[Path, Path]) -> Page:
    return Page(build_comparison(*two).read_text(encoding="utf-8"))


class TestKeys:
    def test_nested_keys_are_told_apart(self) -> None:
        one = {"a": {"b": 1, "c": "x"}, "d": [1, 2]}
        other = {"a": {"b": 2, "c": "x"}, "d": [1, 3], "e": None}
        found = [(each.key, each.one, each.other) for each in key_differences(one, other)]
        assert found == [("a.b", "1", "2"), ("d", "[1, 2]", "[1, 3]"), ("e", "-", "null")]

    def test_members_of_a_list_go_by_their_names(self) -> None:
        one = {"tables": [{"name": "items", "dim": 64}, {"name": "users", "dim": 8}]}
        other = {"tables": [{"name": "users", "dim": 8}, {"name": "items", "dim": 128}]}
        (found,) = key_differences(one, other)
        assert (found.key, found.one, found.other) == ("tables.items.dim", "64", "128")

    def test_members_of_one_name_stay_a_list(self) -> None:
        one, other = ({"t": [{"name": "a", "x": x}, {"name": "a"}]} for x in (1, 2))
        assert [each.key for each in key_differences(one, other)] == ["t"]

    def test_nothing_differs(self, two: tuple[Path, Path]) -> None:
        assert "Nothing: both runs have the same topology" in page_of(two).text("p")

    def test_they_stand_on_the_page(self, two: tuple[Path, Path]) -> None:
        edited(two[1], "manifest.json", topology__scale_up__bandwidth="900 GB/s", experiment__seed=8)
        assert page_of(two).rows("Keys of topology") == [
            ["topology.scale_up.bandwidth", "450 GB/s", "900 GB/s"],
            ["experiment.seed", "7", "8"],
        ]


class TestFigures:
    @pytest.mark.parametrize(
        ("one", "other", "change", "beyond"),
        [
            (Estimate(10.0, 1.0, 0.3), Estimate(11.0, 1.0, 0.4), 0.1, True),
            (Estimate(10.0, 1.0, 0.6), Estimate(11.0, 1.0, 0.8), 0.1, False),  # just as wide
            (Estimate(10.0, None, None), Estimate(11.0, 1.0, 0.1), 0.1, None),
            (Estimate(None, None, None), Estimate(11.0, 1.0, 0.1), None, None),
            (Estimate(0.0, 0.0, 0.0), Estimate(11.0, 0.0, 0.0), None, True),
            (Estimate(0.0, 0.0, 0.0), Estimate(0.0, 0.0, 0.0), 0.0, False),
        ],
    )
    def test_change_and_interval(self, one, other, change, beyond) -> None:
        found = FigureDifference("p", "communication", "time", one, other)
        assert found.change == (None if change is None else pytest.approx(change))
        assert found.beyond is beyond

    def test_memory_is_exact(self, two: tuple[Path, Path]) -> None:
        edited(two[1], "summary.json")
        data = json.loads((two[1] / "summary.json").read_text())
        data["policies"][0]["memory_bytes_per_rank_max"] += 1
        (two[1] / "summary.json").write_text(json.dumps(data))
        found = figure_differences(*map(read_results, two))
        memory = [each for each in found if each.kind == "memory"]
        assert [each.beyond for each in memory] == [True, False, False]

    def test_the_page_has_the_summarys_numbers(self, two: tuple[Path, Path]) -> None:
        faster(two[1], "flexshard", 2.0)
        rows = page_of(two).rows("Every figure")
        summaries = [json.loads((folder / "summary.json").read_text())["policies"] for folder in two]
        keys = [column.key for column in MEASURED]
        expected = [
            (row["policy"], row[key], other[key])
            for row, other in zip(*summaries, strict=True)
            for key in keys
        ]
        assert [(row[0], float(row[2]), float(row[3])) for row in rows] == expected

    def test_the_difference_is_in_percent_with_its_verdict(self, two: tuple[Path, Path]) -> None:
        faster(two[1], "flexshard", 2.0)
        page = page_of(two)
        (row,) = [row for row in page.rows("Every figure") if row[:2] == ["flexshard", "communication"]]
        assert float(row[4]) == pytest.approx(-0.5)
        assert row[5] == "yes"
        assert "-50.0 %" in page.text("td")
        assert [cell for cell in page.all("td") if "better" in (cell.get("class") or "")] != []

    def test_phases_are_means_over_the_iterations(self, two: tuple[Path, Path]) -> None:
        results = read_results(two[0])
        found = phase_estimates(results)["flexshard", "embeddings_island"]
        own = results.phases[
            (results.phases["policy"] == "flexshard") & (results.phases["phase"] == "embeddings_island")
        ]
        assert found.mean == pytest.approx(own["transfer_s"].mean())
        assert found.half_width > 0
        rows = page_of(two).rows("Transfer time of each phase")
        assert [(row[0], row[1]) for row in rows] == list(phase_estimates(results))
        assert all(row[2] == row[3] for row in rows)


class TestSentence:
    @pytest.mark.parametrize(
        ("half_width", "ending"),
        [
            (0.001, "50.0 % less; that is beyond the confidence intervals."),
            (9.0, "50.0 % less; that is within the confidence intervals."),
            (None, "50.0 % less; with one iteration there is no interval to judge that by."),
        ],
    )
    def test_the_largest_change_is_told(self, two: tuple[Path, Path], half_width, ending: str) -> None:
        for folder, factor in zip(two, (1.0, 2.0), strict=True):
            faster(folder, "flexshard", factor, half_width)
        said = page_of(two).text("p")
        assert "flexshard changes most: it communicates for " in said
        assert ending in said

    def test_equal_runs(self, two: tuple[Path, Path]) -> None:
        assert "before and after agree in every figure of every policy that both have." in page_of(two).text(
            "p"
        )

    def test_no_policy_in_common(self, tmp_path: Path) -> None:
        two = (
            write_folder(tmp_path / "one", policies=("row_wise",)),
            write_folder(tmp_path / "other", policies=("table_wise",)),
        )
        page = page_of(two)
        assert "No policy is in both one and other: there is nothing to compare." in page.text("p")
        assert "Only one has row_wise.Only other has table_wise." in page.text("p")

    def test_assumptions_that_differ_are_told_apart(self, two: tuple[Path, Path]) -> None:
        edited(two[1], "manifest.json", assumptions=["Memory counts embedding weights.", "Network: none."])
        lines = page_of(two).text("li")
        assert "Memory counts embedding weights.In before: Cluster: made_up" in lines
        assert "In after: Network: none." in lines


class TestPage:
    def test_it_goes_into_the_second_folder_with_its_script(self, two: tuple[Path, Path]) -> None:
        assert build_comparison(*two) == two[1] / "against_before.html"
        assert (two[1] / "plotly.min.js").stat().st_size > 1e6

    def test_bars_are_the_two_times(self, two: tuple[Path, Path]) -> None:
        faster(two[1], "flexshard", 2.0)
        figure = page_of(two).figure()
        times_s = [
            [row["communication_s"] for row in json.loads((folder / "summary.json").read_text())["policies"]]
            for folder in two
        ]
        assert [trace["name"] for trace in figure["data"]] == ["before", "after"]
        for trace, own_s in zip(figure["data"], times_s, strict=True):
            assert trace["x"] == pytest.approx([1e3 * each for each in own_s], rel=1e-5)

    def test_the_same_bytes_each_time(self, two: tuple[Path, Path]) -> None:
        first = build_comparison(*two).read_bytes()
        assert build_comparison(*two).read_bytes() == first

    def test_no_path_is_told(self, two: tuple[Path, Path], tmp_path: Path) -> None:
        assert str(tmp_path) not in build_comparison(*two).read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [("a/run", "b/run", ("a/run", "b/run")), ("x/a", "x/b", ("a", "b"))],
    )
    def test_names_tell_the_runs_apart(self, tmp_path: Path, one: str, other: str, expected) -> None:
        assert run_names(tmp_path / one, tmp_path / other) == expected

    def test_a_run_compared_with_itself(self, two: tuple[Path, Path]) -> None:
        assert run_names(two[0], two[0]) == ("before (first)", "before (second)")
        assert "agree in every figure" in Page(build_comparison(two[0], two[0]).read_text()).text("p")

    def test_what_a_user_named_stays_text(self, tmp_path: Path) -> None:
        two = tuple(
            write_folder(tmp_path / name, policies=("row_wise", HOSTILE), name=HOSTILE, tables=(HOSTILE,))
            for name in ("<b>one", "<b>two")
        )
        edited(two[1], "manifest.json", topology__source=HOSTILE)
        page = page_of(two)
        assert len(page.scripts) == 1
        assert page.open == []
        assert HOSTILE in page.text("td")
        assert "&lt;/script&gt;" in json.dumps(page.figure())
