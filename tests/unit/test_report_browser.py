"""All pages in a real browser, where there is one, with the network off.

No errors, tables sort and are searched, pictures are drawn with the files' numbers, and no width is too small.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, browse, probed
from results_folder import write_folder
from test_report_sweep import NIC, SKEW, failed, grid

from simulator.report.build import build_comparison, build_report
from simulator.sweeps.csv_file import write_rows
from simulator.sweeps.rows import columns
from simulator.sweeps.run import build_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

POLICIES = ("row_wise", "zeta_10", "zeta_9", "flexshard memory=hbm dedup=rank sync=sparse tiers=concurrent")
HTML_IN_A_LABEL = "<img src=x onerror=alert(1)>"
LONG = "a_very_long_name" * 4
WIDTHS = (400, 1400)
SHOWN = """
  const found = {
    page_width: document.documentElement.scrollWidth,
    drawn: [...document.querySelectorAll(".interactive")].map((each) => each.querySelectorAll(".main-svg").length > 0),
    still: [...document.querySelectorAll(".static")].map((each) => each.hidden),
    figure_widths: [...document.querySelectorAll(".interactive")].map((each) => each.scrollWidth),
    notice: !document.querySelector(".notice").hidden,
    background: getComputedStyle(document.body).backgroundColor,
    text: document.querySelector(".xtick text") && getComputedStyle(document.querySelector(".xtick text")).fill,
  };
  for (const part of document.querySelectorAll("details")) part.open = true;
  await pause();
  found.open_width = document.documentElement.scrollWidth;
"""
TABLES = """
  const table = document.querySelector("table.sortable");
  const names = () => [...table.tBodies[0].rows].map((row) => row.cells[0].dataset.value);
  const button = (text) =>
    [...table.tHead.rows[0].cells].find((cell) => cell.textContent.includes(text)).querySelector("button");
  const click = (text) => {
    button(text).click();
    return { order: names(), sort: button(text).parentElement.getAttribute("aria-sort") };
  };
  button("on NICs").focus();
  Object.assign(found, {
    focused: document.activeElement === button("on NICs"),
    first: names(),
    ascending: click("on NICs"),
    descending: click("on NICs"),
    cut: click("cut"),
    cut_descending: click("cut"),
    by_name: click("policy"),
    sorted_columns: table.querySelectorAll("[aria-sort]").length,
    images: [...document.images].map((image) => image.complete && image.naturalWidth > 0),
  });
  const choice = document.querySelector("#timeline select");
  const rows = () => document.querySelector("#timeline .interactive").data.length;
  found.choices = [...choice.options].map((option) => option.textContent);
  choice.selectedIndex = 0;
  choice.dispatchEvent(new Event("change"));
  await pause();
  const before = rows();
  choice.selectedIndex = 3;
  choice.dispatchEvent(new Event("change"));
  await pause();
  found.more_traces = rows() > before;
  found.heatmap = document.querySelector("#matrix .interactive").data[0];
  dispatchEvent(new Event("beforeprint"));
  found.closed_in_print = document.querySelectorAll("details:not([open])").length;
"""
SEARCH = """
  const part = [...document.querySelectorAll("[data-searchable]")].at(-1);
  const field = part.querySelector("input");
  const type = (text) => {
    field.value = text;
    field.dispatchEvent(new Event("input"));
    const rows = [...part.querySelectorAll("tbody tr")];
    return { shown: rows.filter((row) => !row.hidden).length, said: part.querySelector("output").textContent };
  };
  Object.assign(found, {
    offered: !field.closest("p").hidden,
    both: type("TIERS  200"),
    none: type("nothing like it"),
    all: type(""),
    dots: document.querySelector(".interactive").data.map((trace) => trace.x.length),
  });
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def run_page(root: Path) -> Path:
    """A run's page whose third policy lacks a cut."""
    folder = write_folder(root / "run", policies=(*POLICIES, HTML_IN_A_LABEL), tables=(LONG,))
    summary = json.loads((folder / "summary.json").read_text())
    for row, size in zip(summary["policies"], (30, 4, 200, 1, 5), strict=True):
        row |= {"inter_island_bytes": size, "all_to_all_reduction": None if size == 200 else size / 1000}
    (folder / "summary.json").write_text(json.dumps(summary))
    return build_report(folder)


@pytest.fixture(scope="module")
def pages(root: Path, run_page: Path) -> dict[str, Path]:
    """A page of each kind, with names that are long or HTML."""
    (root / "sweep").mkdir()
    rows = [*grid(), failed(98, f"{LONG} {HTML_IN_A_LABEL}"), failed(99, "no memory")]
    write_rows(root / "sweep" / "sweep.csv", columns([NIC, SKEW]), rows)
    other = write_folder(root / LONG, policies=(*POLICIES, HTML_IN_A_LABEL))
    return {
        "run": run_page,
        "sweep": build_page(root / "sweep"),
        "comparison": build_comparison(run_page.parent, other),
    }


@pytest.fixture(scope="module", params=["run", "sweep", "comparison"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def look(pages: dict[str, Path], root: Path) -> Callable[[str, int], dict[str, Any]]:
    """What a page of a kind reports in a window of a width."""

    @cache
    def look(kind: str, width: int) -> dict[str, Any]:
        body = SHOWN + {"run": TABLES, "sweep": SEARCH, "comparison": ""}[kind] + "return found;"
        return probed(pages[kind], body, root / f"profile_{kind}_{width}", width=width) | {"kind": kind}

    return look


@pytest.fixture(scope="module", params=WIDTHS)
def seen(
    request: pytest.FixtureRequest, kind: str, look: Callable[[str, int], dict[str, Any]]
) -> dict[str, Any]:
    return look(kind, request.param)


@pytest.fixture(scope="module")
def run_seen(look: Callable[[str, int], dict[str, Any]]) -> dict[str, Any]:
    return look("run", 1400)


def test_nothing_goes_wrong_and_nothing_is_fetched(seen: dict[str, Any]) -> None:
    assert seen["console"] == []
    assert seen["errors"] == []
    assert seen["violations"] == []


def test_every_picture_is_interactive(seen: dict[str, Any]) -> None:
    assert len(seen["drawn"]) == {"run": 8, "sweep": 2, "comparison": 2}[seen["kind"]]
    assert all(seen["drawn"])
    assert all(seen["still"])
    assert not seen["notice"]


def test_no_width_is_too_small(seen: dict[str, Any]) -> None:
    assert seen["window_width"] == seen["width"]
    assert seen["page_width"] <= seen["width"]
    assert seen["open_width"] <= seen["width"]
    assert all(width <= seen["width"] for width in seen["figure_widths"])


class TestTables:
    def test_headings_sort_numbers_both_ways(self, run_seen: dict[str, Any]) -> None:
        row_wise, zeta_10, zeta_9, flexshard = POLICIES
        upwards = [flexshard, zeta_10, HTML_IN_A_LABEL, row_wise, zeta_9]
        assert run_seen["first"] == [*POLICIES, HTML_IN_A_LABEL]
        assert run_seen["ascending"] == {"order": upwards, "sort": "ascending"}
        assert run_seen["descending"] == {"order": upwards[::-1], "sort": "descending"}

    def test_what_is_missing_sorts_last_both_ways(self, run_seen: dict[str, Any]) -> None:
        row_wise, zeta_10, zeta_9, flexshard = POLICIES
        assert run_seen["cut"]["order"] == [flexshard, zeta_10, HTML_IN_A_LABEL, row_wise, zeta_9]
        assert run_seen["cut_descending"]["order"] == [row_wise, HTML_IN_A_LABEL, zeta_10, flexshard, zeta_9]

    def test_names_sort_as_people_count(self, run_seen: dict[str, Any]) -> None:
        row_wise, zeta_10, zeta_9, flexshard = POLICIES
        assert run_seen["by_name"]["order"] == [HTML_IN_A_LABEL, flexshard, row_wise, zeta_9, zeta_10]
        assert run_seen["sorted_columns"] == 1

    def test_headings_are_reached_by_keyboard(self, run_seen: dict[str, Any]) -> None:
        assert run_seen["focused"]


class TestPictures:
    def test_a_list_chooses_the_policy(self, run_seen: dict[str, Any]) -> None:
        assert run_seen["choices"] == [*POLICIES, HTML_IN_A_LABEL]
        assert run_seen["more_traces"]  # flexshard has more phases than row_wise

    def test_colours_go_by_the_logarithm_and_hovering_tells_bytes(self, run_seen: dict[str, Any]) -> None:
        heatmap = run_seen["heatmap"]
        sent = heatmap["customdata"][0][1]
        assert sent > 1000
        assert 10 ** heatmap["z"][0][1] == pytest.approx(sent)

    def test_all_is_printed(self, run_seen: dict[str, Any]) -> None:
        assert run_seen["closed_in_print"] == 0
        assert all(run_seen["images"])

    def test_a_page_that_is_sent_alone_keeps_still_pictures_and_says_so(
        self, run_page: Path, tmp_path: Path
    ) -> None:
        alone = tmp_path / "report.html"
        alone.write_bytes(run_page.read_bytes())
        body = SHOWN + 'found.told = document.querySelector(".notice").textContent; return found;'
        found = probed(alone, body, tmp_path / "profile")
        assert found["notice"]
        assert "plotly.min.js" in found["told"]
        assert not any(found["drawn"])
        assert not any(found["still"])  # none is hidden
        assert found["errors"] == []

    def test_the_dark_scheme_is_followed(self, run_page: Path, root: Path, run_seen: dict[str, Any]) -> None:
        dark = probed(
            run_page, SHOWN + "return found;", root / "dark", "--blink-settings=preferredColorScheme=0"
        )
        assert (run_seen["background"], dark["background"]) == ("rgb(255, 255, 255)", "rgb(20, 24, 28)")
        assert (run_seen["text"], dark["text"]) == ("rgb(29, 33, 38)", "rgb(229, 233, 237)")


def test_long_tables_are_searched(look: Callable[[str, int], dict[str, Any]]) -> None:
    found = look("sweep", 1400)
    assert found["offered"]
    assert found["both"] == {"shown": 4, "said": "4 of 16 rows"}
    assert found["none"] == {"shown": 0, "said": "0 of 16 rows"}
    assert found["all"] == {"shown": 16, "said": ""}
    assert found["dots"] == [4, 8, 4, 8]


def test_the_console_is_heard(tmp_path: Path) -> None:
    """Guards the tests above: an error in a page does reach us."""
    page = tmp_path / "broken.html"
    page.write_text("<!DOCTYPE html><title>x</title><script>undefinedName()</script>")
    _, console = browse(page, tmp_path / "profile")
    assert any("undefinedName" in line for line in console)


def test_what_is_fetched_is_seen(tmp_path: Path) -> None:
    """Guards the tests above: a page that asks the network for something is caught."""
    page = tmp_path / "greedy.html"
    policy = "default-src 'none'; script-src 'unsafe-inline'"
    page.write_text(
        f'<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="{policy}"><title>x</title>'
        '<main></main><script>addEventListener("load", () => { new Image().src = "https://example.org/x.png"; });'
        "</script>"
    )
    found = probed(page, "await pause(); return {};", tmp_path / "profile")
    assert found["violations"] == ["https://example.org/x.png"]
