"""The report in a real browser, where there is one: no errors, sorting works, and no width is too small."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from results_folder import write_folder

from simulator.report.build import build_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

POLICIES = ("row_wise", "zeta_10", "zeta_9", "flexshard memory=hbm dedup=rank sync=sparse tiers=concurrent")
HTML_IN_A_LABEL = "<img src=x onerror=alert(1)>"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    "--hide-scrollbars",
    *("--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"),
)
PROBE = """
<script>
const table = document.querySelector("table.sortable");
const names = () => [...table.tBodies[0].rows].map((row) => row.cells[0].dataset.value);
const click = (text) => {
  const heading = [...table.tHead.rows[0].cells].find((cell) => cell.textContent.includes(text));
  heading.querySelector("button").click();
  return { order: names(), sort: heading.getAttribute("aria-sort") };
};
addEventListener("load", () => {
  const found = {
    first: names(),
    ascending: click("on NICs"),
    descending: click("on NICs"),
    cut: click("cut"),
    cut_descending: click("cut"),
    by_name: click("policy"),
    sorted_columns: table.querySelectorAll("[aria-sort]").length,
    page_width: document.documentElement.scrollWidth,
    window_width: innerWidth,
    pictures: [...document.images].map((image) => image.complete && image.naturalWidth > 0),
  };
  dispatchEvent(new Event("beforeprint"));
  found.closed_in_print = document.querySelectorAll("details:not([open])").length;
  found.open_width = document.documentElement.scrollWidth;
  parent.postMessage(JSON.stringify(found), "*");
});
</script>
"""
# A window of headless Chromium is 500 pixels wide at least; a frame may be narrower.
FRAME = """<!DOCTYPE html><title>frame</title><pre id="probe"></pre>
<script>addEventListener("message", (event) => { document.getElementById("probe").textContent = event.data; });</script>
<iframe src="probed.html" style="width: WIDTHpx; height: 2000px; border: 0"></iframe>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose third policy lacks a cut, with a probe that clicks headings and measures."""
    folder = write_folder(
        tmp_path_factory.mktemp("report"),
        policies=(*POLICIES, HTML_IN_A_LABEL),
        tables=("a_very_long_name" * 4,),
    )
    summary = json.loads((folder / "summary.json").read_text())
    for row, size in zip(summary["policies"], (30, 4, 200, 1, 5), strict=True):
        row |= {"inter_island_bytes": size, "all_to_all_reduction": None if size == 200 else size / 1000}
    (folder / "summary.json").write_text(json.dumps(summary))
    build_report(folder)
    page = folder / "report.html"
    (folder / "probed.html").write_text(
        page.read_text(encoding="utf-8").replace("</main>", "</main>" + PROBE)
    )
    return folder


def browse(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The page after its scripts ran, and what the console said."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, "--window-size=1600,2000", f"--user-data-dir={profile}", page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module", params=[400, 1400])
def seen(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    frame = folder / f"frame_{request.param}.html"
    frame.write_text(FRAME.replace("WIDTH", str(request.param)))
    dom, console = browse(frame, tmp_path_factory.mktemp("profile"))
    found = re.search(r'<pre id="probe">(.+?)</pre>', dom, re.DOTALL)
    assert found, "the probe did not finish"
    return {"width": request.param, "console": console, **json.loads(html.unescape(found[1]))}


def test_no_console_errors_and_all_pictures_shown(seen: dict[str, Any]) -> None:
    assert seen["console"] == []
    assert seen["pictures"] == [True] * 8


def test_the_page_does_not_scroll_sideways(seen: dict[str, Any]) -> None:
    assert seen["window_width"] == seen["width"]
    assert seen["page_width"] <= seen["width"]
    assert seen["open_width"] <= seen["width"]


def test_headings_sort_numbers_both_ways(seen: dict[str, Any]) -> None:
    row_wise, zeta_10, zeta_9, flexshard = POLICIES
    upwards = [flexshard, zeta_10, HTML_IN_A_LABEL, row_wise, zeta_9]
    assert seen["first"] == [*POLICIES, HTML_IN_A_LABEL]
    assert seen["ascending"] == {"order": upwards, "sort": "ascending"}
    assert seen["descending"] == {"order": upwards[::-1], "sort": "descending"}


def test_what_is_missing_sorts_last_both_ways(seen: dict[str, Any]) -> None:
    row_wise, zeta_10, zeta_9, flexshard = POLICIES
    assert seen["cut"]["order"] == [flexshard, zeta_10, HTML_IN_A_LABEL, row_wise, zeta_9]
    assert seen["cut_descending"]["order"] == [row_wise, HTML_IN_A_LABEL, zeta_10, flexshard, zeta_9]


def test_names_sort_as_people_count(seen: dict[str, Any]) -> None:
    row_wise, zeta_10, zeta_9, flexshard = POLICIES
    assert seen["by_name"]["order"] == [HTML_IN_A_LABEL, flexshard, row_wise, zeta_9, zeta_10]
    assert seen["sorted_columns"] == 1


def test_all_details_are_printed(seen: dict[str, Any]) -> None:
    assert seen["closed_in_print"] == 0


def test_the_console_is_heard(folder: Path, tmp_path: Path) -> None:
    """Guards the test above: an error in a page does reach us."""
    page = tmp_path / "broken.html"
    page.write_text("<!DOCTYPE html><title>x</title><script>undefinedName()</script>")
    _, console = browse(page, tmp_path / "profile")
    assert any("undefinedName" in line for line in console)
