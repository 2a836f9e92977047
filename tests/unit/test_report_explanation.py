"""The explanation on a page: the words, the tables behind them, and elasticities once they are computed."""

import json
from pathlib import Path

import pytest
from html_page import Page
from results_folder import write_folder

from simulator.errors import UserError
from simulator.report.build import build_report
from simulator.report.explanation_words import lead_sentence, times_as_long
from simulator.report.folder import read_results

ELASTICITIES = {
    "elasticities": [
        {"knob": "scale-up latency", "factor": 1.1, "base_s": 0.2, "changed_s": 0.2, "value": 0.0},
        {"knob": "NIC bandwidth", "factor": 2.0, "base_s": 0.2, "changed_s": 0.1, "value": -1.0},
    ],
    "not_turned": [{"knob": "skew (Zipf's s)", "why": "no table is Zipf's"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path, policies=("row_wise", "flexshard"))


def page_of(folder: Path) -> Page:
    build_report(folder)
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def edit(folder: Path, policy: str, **changes: object) -> None:
    path = folder / f"explanation_{policy}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_words_come_first(folder: Path) -> None:
    said = page_of(folder).text("p")
    assert "of communication on rank 3: the port bound " in said
    assert "Its longest phase is embeddings_global, " in said
    assert "nic/3/egress limits it: 2.00x as long busy as the next, nic/2/egress; 8.00x as long as" in said
    assert "Critical path: " in said


def test_the_policy_that_communicates_least_is_open(folder: Path) -> None:
    page = page_of(folder)
    folds = dict(zip(page.texts["summary"], page.all("details"), strict=True))
    assert "open" in folds["flexshard"]
    assert "open" not in folds["row_wise"]


def test_tables_have_the_files_numbers(folder: Path) -> None:
    page = page_of(folder)
    tables = [rows for caption, rows in page.tables if caption.startswith("Each phase's time by part")]
    for policy, rows in zip(("row_wise", "flexshard"), tables, strict=True):
        phases = json.loads((folder / f"explanation_{policy}.json").read_text())["phases"]
        assert [row[0] for row in rows] == [phase["name"] for phase in phases]
        for row, phase in zip(rows, phases, strict=True):
            assert float(row[1]) == phase["parts"]["even_s"]
            assert [float(cell) for cell in row[7:9]] == [phase["transfer_s"], phase["bound_s"]]
            assert float(row[9]) == pytest.approx(phase["transfer_s"] / phase["bound_s"])
            assert [float(cell) for cell in row[10:]] == [phase["mean_wait_s"], phase["max_wait_s"]]


def test_leads_and_path(folder: Path) -> None:
    page = page_of(folder)
    leads = next(rows for caption, rows in page.tables if caption.startswith("What limits each phase"))
    assert leads[0] == ["ids_global", "nic/3/egress", "2.0", "nic/2/egress", "8.0", "scale_up/3/egress"]
    path = next(rows for caption, rows in page.tables if caption.startswith("The critical path"))
    steps = json.loads((folder / "explanation_row_wise.json").read_text())["critical_path"]["steps"]
    assert [float(row[1]) for row in path] == [step["begin_s"] for step in steps]
    assert {row[5] for row in path} == {"2"}  # whom all waited for


def test_what_would_help_is_not_made_up(folder: Path) -> None:
    page = page_of(folder)
    assert page.text("p").count("What would help most is not computed yet") == 2
    assert not [caption for caption, _ in page.tables if caption.startswith("What communication follows")]


def test_elasticities_are_shown_once_computed(folder: Path) -> None:
    edit(folder, "flexshard", **ELASTICITIES)
    page = page_of(folder)
    assert [row[0] for row in page.rows("What communication follows")] == [
        "NIC bandwidth",
        "scale-up latency",
    ]
    assert [float(row[2]) for row in page.rows("What communication follows")] == [-1.0, 0.0]
    lines = page.text("li")
    assert "Most would help: more NIC bandwidth (elasticity -1.00)." in lines
    assert "No difference: scale-up latency." in lines
    assert "Not turned: skew (Zipf's s): no table is Zipf's" in lines
    assert page.text("p").count("What would help most is not computed yet") == 1


def test_timelines_for_perfetto_are_linked(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, policies=("row_wise", "a/b c"))
    addresses = [each["href"] for each in page_of(folder).all("a")]
    assert "trace_row_wise.json" in addresses
    assert "trace_a%252Fb%20c.json" in addresses  # the file is trace_a%2Fb c.json


def test_a_file_that_is_none_is_named(folder: Path) -> None:
    edit(folder, "row_wise", critical_path={})
    with pytest.raises(UserError, match=r"explanation_row_wise\.json: is no explanation: 'steps'"):
        build_report(folder)


def test_a_timeline_that_lacks_a_column_is_named(folder: Path) -> None:
    (folder / "timeline_row_wise.csv").write_text("rank,island\n0,0\n")
    with pytest.raises(UserError, match=r"timeline_row_wise\.csv: lacks the column\(s\) role, stream"):
        build_report(folder)


def test_without_communication_there_is_little_to_say(tmp_path: Path) -> None:
    page = page_of(write_folder(tmp_path, traffic=False))
    assert "an iteration, no communication." in page.text("p")
    assert lead_sentence(read_results(tmp_path).explanation("row_wise").anatomy) == ""


@pytest.mark.parametrize(
    ("first_s", "next_s", "text"), [(2.1, 1.0, "2.10x"), (30.0, 1.0, "30x"), (1.0, 0.0, "n/a")]
)
def test_leads_in_words(first_s: float, next_s: float, text: str) -> None:
    assert times_as_long(first_s, next_s) == text
