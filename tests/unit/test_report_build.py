"""The report of a folder: all of it is there, the same each time, escaped, and true to the files."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from html_page import Page
from results_folder import ASSUMPTIONS, write_folder

from simulator.errors import UserError
from simulator.report.build import build_report
from simulator.report.folder import read_results

PLOT_NAMES = ("latency", "links", "made_of", "matrix", "memory", "popularity", "timeline", "traffic")
HOSTILE = '<script>alert("x")</script>&amp;\'{{ 7 * 7 }}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_folder(
        tmp_path_factory.mktemp("results") / "folder",
        notes={"flexshard": ["Rows that nothing touches are reclaimed."]},
    )
    build_report(folder)
    return folder


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A report in which all that a user may name is an attack."""
    folder = write_folder(
        tmp_path_factory.mktemp("hostile"),
        policies=("row_wise", HOSTILE),
        tables=(HOSTILE,),
        name=HOSTILE,
        notes={HOSTILE: [HOSTILE]},
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["assumptions"].append(HOSTILE)
    manifest["topology"]["source"] = HOSTILE
    manifest["inputs"] = {HOSTILE: HOSTILE}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    build_report(folder)
    return Page((folder / "report.html").read_text(encoding="utf-8"))


class TestFiles:
    def test_every_plot_in_both_forms(self, folder: Path) -> None:
        expected = sorted(f"{name}{ending}" for name in PLOT_NAMES for ending in (".png", ".svg"))
        assert sorted(path.name for path in (folder / "plots").iterdir()) == expected
        assert all(path.stat().st_size > 1000 for path in (folder / "plots").iterdir())

    def test_the_same_bytes_in_another_process_and_place(self, folder: Path, tmp_path: Path) -> None:
        """Another order of hashing, another folder, another current folder, drawn twice."""
        other = write_folder(
            tmp_path / "other", notes={"flexshard": ["Rows that nothing touches are reclaimed."]}
        )
        program = "import sys; from pathlib import Path; from simulator.report.build import build_report\n"
        program += "build_report(Path(sys.argv[1])); build_report(Path(sys.argv[1]))"
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": root}
        subprocess.run(
            [sys.executable, "-c", program, other], check=True, cwd=tmp_path, env=environment, timeout=120
        )
        for path in [*(folder / "plots").iterdir(), folder / "report.html"]:
            assert path.read_bytes() == (other / path.relative_to(folder)).read_bytes(), path.name

    def test_a_folder_that_takes_no_files(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        (tmp_path / "plots").write_text("in the way")
        with pytest.raises(UserError, match="the report cannot be written: File exists"):
            build_report(tmp_path)

    def test_a_folder_without_results(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"phases\.csv: cannot be read"):
            build_report(tmp_path)
        assert not (tmp_path / "plots").exists()


class TestSelfContained:
    def test_nothing_is_fetched(self, page: Page, text: str) -> None:
        for tag in ("img", "script", "link", "a", "iframe", "source"):
            for attributes in page.all(tag):
                for key in ("src", "href", "srcset"):
                    address = attributes.get(key) or "data:"
                    assert address.startswith(("data:", "#section-", "trace_"))
        assert "@import" not in text
        assert "url(" not in text

    def test_the_browser_is_told_so(self, page: Page) -> None:
        (policy,) = [each["content"] for each in page.all("meta") if each.get("http-equiv")]
        assert policy is not None
        assert policy == (
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'self'"
        )

    def test_no_path_and_no_date(self, folder: Path, text: str) -> None:
        assert str(folder.parent) not in text
        assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text)

    def test_tags_close(self, page: Page) -> None:
        assert page.open == []

    def test_pictures_say_what_they_show(self, page: Page) -> None:
        pictures = page.all("img")
        assert len(pictures) == len(PLOT_NAMES)
        assert all(len(each["alt"] or "") > 40 for each in pictures)
        assert page.text("figcaption").count("flexshard puts least on the NICs") == 1


class TestContent:
    def test_the_headline_stands_with_its_assumptions(self, text: str) -> None:
        begin = text.index('<section class="headline"')
        section = text[begin : text.index("</section>", begin)].replace("\N{NO-BREAK SPACE}", " ")
        assert "Against row_wise, flexshard cuts global all-to-all traffic by 84.4 %" in section
        for assumption in ASSUMPTIONS:
            assert assumption.replace("'", "&#39;") in section

    def test_the_numbers_are_those_of_the_summary(self, folder: Path, page: Page) -> None:
        summary = json.loads((folder / "summary.json").read_text())
        values = [
            attributes["data-value"]
            for tag, attributes in page.elements
            if tag in ("th", "td") and attributes.get("data-value") is not None
        ]
        for row in summary["policies"]:
            place = values.index(row["policy"])
            shown = values[place + 1 : place + 14]
            assert [float(each) for each in shown[:-1]] == [
                row["global_all_to_all_bytes"],
                row["all_to_all_reduction"],
                row["inter_island_bytes"],
                row["replica_sync_inter_island_bytes"],
                row["intra_island_bytes"],
                row["memory_bytes_per_rank_max"],
                row["communication_s"],
                row["communication_without_sync_s"],
                row["communication_speedup"],
                row["bound_s"],
                row["iteration_s"],
                row["imbalance"],
            ]
            assert shown[-1] == row["bottleneck"]

    def test_every_phase_has_a_row(self, folder: Path, page: Page) -> None:
        with (folder / "phases.csv").open() as file:
            phases = {(row["policy"], row["phase"]) for row in csv.DictReader(file)}
        rows = [each["data-value"] for each in page.all("th") if each.get("scope") == "row"]
        tables = 4  # its means, its parts, what limits it, and its step of the critical path
        assert sorted(tables * [phase for _, phase in phases]) == sorted(
            row for row in rows if row and row.endswith(("_global", "_island", "_replicated"))
        )

    def test_the_spread_stands_beside_the_mean(self, page: Page) -> None:
        assert "493 ± 3" in page.text("td")

    def test_the_baseline_is_marked(self, page: Page) -> None:
        assert len([each for each in page.all("tr") if each.get("class") == "baseline"]) == 1

    def test_columns_are_explained(self, page: Page) -> None:
        titles = [each.get("title") or "" for each in page.all("button")]
        assert "All bytes between islands, synchronisation of replicas included." in titles
        assert "All bytes between islands, synchronisation of replicas included." in page.text("dd")

    def test_notes_configuration_and_provenance(self, page: Page) -> None:
        assert "Rows that nothing touches are reclaimed." in page.text("dd")
        assert "batch_per_rank: 512" in page.text("pre")
        assert "scale_up: bandwidth: 450 GB/s" in page.text("pre")
        for part in ("digest", "0123abcd", "versions: numpy", "inputs: made_up.yaml", "cafe"):
            assert part in page.text("dl")

    def test_policies_without_notes_are_left_out(self, folder: Path, tmp_path: Path) -> None:
        build_report(write_folder(tmp_path, policies=("row_wise",)))
        assert "What the planners say" not in (tmp_path / "report.html").read_text()
        assert "What the planners say" in (folder / "report.html").read_text()

    def test_what_is_missing_is_said(self, tmp_path: Path) -> None:
        build_report(write_folder(tmp_path, traffic=False))
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert 'data-value="">n/a</td>' in text
        assert "nan" not in Page(text).text("table").lower()
        assert "None" not in Page(text).text("table")


class TestEscaping:
    def test_names_stay_text(self, hostile: Page) -> None:
        (script,) = hostile.scripts
        assert "alert" not in script
        assert hostile.open == []

    def test_names_in_figures_are_what_plotly_shows_as_written(self, hostile: Page) -> None:
        """plotly.js takes `<b>` and `&amp;` for HTML of its own: they arrive escaped once more."""
        texts = json.dumps([view["figure"] for views in hostile.views for view in views])
        assert "&lt;script&gt;alert" in texts
        assert "<script" not in texts

    @pytest.mark.parametrize("tag", ["title", "h1", "th", "td", "li", "dt", "dd", "p", "figcaption"])
    def test_names_are_shown_as_written(self, hostile: Page, tag: str) -> None:
        assert HOSTILE in hostile.text(tag)

    def test_names_within_attributes(self, hostile: Page) -> None:
        assert any(HOSTILE in (each["alt"] or "") for each in hostile.all("img"))
        assert any(each.get("data-value") == HOSTILE for each in hostile.all("th"))


def test_a_real_number_of_bytes_is_not_rounded_on_the_way(tmp_path: Path) -> None:
    """Sorting and reading go by the exact values."""
    write_folder(tmp_path, policies=("row_wise",))
    summary = json.loads((tmp_path / "summary.json").read_text())
    summary["policies"][0]["intra_island_bytes"] = 12345678901234567
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    build_report(tmp_path)
    assert 'data-value="12345678901234567"' in (tmp_path / "report.html").read_text()
    assert read_results(tmp_path).summary["policies"][0]["intra_island_bytes"] == 12345678901234567


def test_what_is_known_less_well_than_was_asked_is_said(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r", policies=("row_wise",))
    summary = json.loads((folder / "summary.json").read_text())
    time = {"mean": 0.010, "std": 0.001, "half_width": 0.0002}
    summary["policies"][0] |= {"iterations": 2, "spread": {"communication_s": time}}
    for wanted, is_said in ((0.01, True), (0.03, False), (None, False)):
        summary["wanted_half_width"] = wanted
        (folder / "summary.json").write_text(json.dumps(summary))
        build_report(folder)
        text = (folder / "report.html").read_text(encoding="utf-8")
        assert ("the `maximum`; wanted were" in text) == is_said
