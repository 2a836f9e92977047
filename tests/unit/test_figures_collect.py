"""A dataset's experiment file to its CSV: every point once, whatever happened in between."""

import json
from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.figures.collect import Places, collect
from simulator.figures.figure import Dataset
from simulator.figures.measures import PREDICTED, metrics, phases, predicted
from simulator.figures.rows import read_csv
from simulator.metrics.records import METRIC_NAMES

ROOT = Path(__file__).parents[2]
FILE = """
name: small
topology: {root}/topologies/teaching_2x2.yaml
workload: {root}/workloads/tiny.yaml
policies: [row_wise, {{name: flexshard, memory: hbm, label: "ours, hbm"}}]
vary:
  workload.batch_per_rank: [2, 4]
  topology.scale_out.nic_bandwidth: [10 GB/s, 20 GB/s]
engine: fluid
"""
QUICK = """
datasets:
  small:
    vary: {workload.batch_per_rank: [2]}
    engine: bound
"""


class Counted:
    """A measure that remembers what it was asked for, and may fail."""

    def __init__(self, fails_after: int | None = None) -> None:
        self.points: list[str] = []
        self.fails_after = fails_after

    def __call__(self, bench, point):
        if self.fails_after is not None and len(self.points) >= self.fails_after:
            raise KeyboardInterrupt
        self.points.append(f"{point.label} {point.values} {point.engine}")
        return [{"half": number / 2, "engine": point.engine} for number in range(2)]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "small.yaml").write_text(FILE.format(root=ROOT))
    (tmp_path / "quick.yaml").write_text(QUICK)
    return Places(tmp_path, tmp_path, quick=False)


def gather(places: Places, measure, *, columns=None, told=None) -> list[dict[str, str]]:
    """The rows of the CSV after a collection."""
    dataset = Dataset("small", measure, columns or {})
    observer = (lambda done, every: told.append((done, every))) if told is not None else (lambda *_: None)
    collect(dataset, places, workers=1, observer=observer)
    return [row for rows in read_csv(places.target / "small.csv").values() for row in rows]


def test_every_point_has_its_inputs_and_its_rows(places):
    rows = gather(places, Counted())
    assert len(rows) == 4 * 2 * 2
    assert rows[0] == {
        "batch_per_rank": "2",
        "nic_bandwidth": "10 GB/s",
        "policy": "row_wise",
        "half": "0",
        "engine": "fluid",
    }
    assert rows[3]["policy"] == "ours, hbm"
    assert rows[3]["half"] == "0.5"


def test_nothing_is_measured_twice(places):
    gather(places, Counted())
    before = (places.target / "small.csv").read_bytes()
    again = Counted()
    gather(places, again)
    assert again.points == []
    assert (places.target / "small.csv").read_bytes() == before


def test_after_a_kill_it_goes_on_and_ends_with_the_same_bytes(places, tmp_path):
    gather(places, Counted())
    undisturbed = (places.target / "small.csv").read_bytes()
    (places.target / "small.csv").unlink()
    first, second = Counted(fails_after=3), Counted()
    with pytest.raises(KeyboardInterrupt):
        gather(places, first)
    assert not (places.target / "small.csv").exists()
    gather(places, second)
    assert len(first.points) == 3
    assert len(second.points) == 5
    assert not set(first.points) & set(second.points)
    assert (places.target / "small.csv").read_bytes() == undisturbed
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_changed_file_measures_what_is_new_and_drops_what_is_gone(places):
    gather(places, Counted())
    file = places.source / "small.yaml"
    file.write_text(file.read_text().replace("[2, 4]", "[4, 8]"))
    again = Counted()
    rows = gather(places, again)
    assert len(again.points) == 4
    assert {row["batch_per_rank"] for row in rows} == {"4", "8"}


def test_a_new_label_measures_nothing_and_shows(places):
    gather(places, Counted())
    file = places.source / "small.yaml"
    file.write_text(file.read_text().replace("ours, hbm", "theirs"))
    again = Counted()
    rows = gather(places, again)
    assert again.points == []
    assert {row["policy"] for row in rows} == {"row_wise", "theirs"}


def test_a_default_that_is_spelled_out_measures_nothing(places):
    gather(places, Counted())
    file = places.source / "small.yaml"
    file.write_text(file.read_text() + "seed: 0\nexecution: {sync: dense}\n")
    again = Counted()
    gather(places, again)
    assert again.points == []


@pytest.mark.parametrize(
    "change", ["seed: 1", "execution: {sync: sparse}", "iterations: 2", "tolerance: 0.02"]
)
def test_whatever_changes_the_answer_measures_everything_again(places, change):
    gather(places, Counted())
    file = places.source / "small.yaml"
    file.write_text(f"{file.read_text()}{change}\n")
    again = Counted()
    gather(places, again)
    assert len(again.points) == 8


def test_quick_mode_is_smaller_and_takes_nothing_from_committed_data(places, tmp_path):
    gather(places, Counted())
    quick = Places(places.source, tmp_path / "quick", quick=True)
    quick.target.mkdir()
    measure = Counted()
    rows = gather(quick, measure)
    assert len(measure.points) == 2
    assert {row["engine"] for row in rows} == {"bound"}


def test_another_folder_takes_committed_data_over(places, tmp_path):
    gather(places, Counted())
    other = Places(places.source, tmp_path / "other", quick=False)
    other.target.mkdir()
    measure = Counted()
    assert len(gather(other, measure)) == 16
    assert measure.points == []


def test_progress_counts_up_to_all_points(places):
    told: list[tuple[int, int]] = []
    gather(places, Counted(), told=told)
    assert told == [(done, 8) for done in range(9)]


def test_columns_can_be_renamed(places):
    rows = gather(places, Counted(), columns={"topology.scale_out.nic_bandwidth": "nic"})
    assert rows[0]["nic"] == "10 GB/s"


def test_what_made_the_data_is_written_beside_them_without_clock_or_path(places):
    gather(places, Counted())
    text = (places.target / "small.json").read_text()
    origin = json.loads(text)
    assert origin["points"] == 8
    assert origin["engine"] == "fluid"
    assert origin["seeds"] == [0]
    assert len(origin["configuration"]) == 64
    assert set(origin["versions"]) >= {"python", "numpy", "shardsim"}
    assert "/" not in text
    gather(places, Counted())
    assert (places.target / "small.json").read_text() == text


def test_a_point_that_cannot_run_says_why_in_its_row(places):
    def refuse(bench, point):
        raise UserError("table movies does not fit:\nshort by 2 GB")

    rows = gather(places, refuse)
    assert {row["error"] for row in rows} == {"table movies does not fit:; short by 2 GB"}


def test_a_value_that_makes_no_input_stops_before_anything_is_measured(places):
    file = places.source / "small.yaml"
    file.write_text(file.read_text().replace("20 GB/s", "20 gb/s"))
    measure = Counted()
    with pytest.raises(UserError, match="nic_bandwidth"):
        gather(places, measure)
    assert measure.points == []


def test_points_that_are_the_same_are_refused(places):
    file = places.source / "small.yaml"
    file.write_text(file.read_text().replace("policies: [", "policies: [{name: row_wise, label: twin}, "))
    with pytest.raises(UserError, match="is the same point as twin"):
        gather(places, Counted())


def test_an_unknown_key_of_quick_is_refused_with_its_place(places, tmp_path):
    (places.source / "quick.yaml").write_text(QUICK.replace("engine", "engin"))
    with pytest.raises(UserError, match=r"quick\.yaml:5:5: datasets\.small\.engin: unknown key"):
        gather(Places(places.source, tmp_path, quick=True), Counted())


def test_what_quick_does_not_name_is_made_in_full(places, tmp_path):
    (places.source / "quick.yaml").write_text("datasets: {}")
    measure = Counted()
    gather(Places(places.source, tmp_path, quick=True), measure)
    assert len(measure.points) == 8


class TestMeasures:
    def test_metrics_are_the_simulators_with_memory_and_prediction(self, places):
        rows = gather(places, metrics)
        assert set(rows[0]) >= {*METRIC_NAMES, "memory_bytes", *PREDICTED}
        by_nic = {
            row["nic_bandwidth"]: float(row["predicted_s"]) for row in rows if row["policy"] == "row_wise"
        }
        assert by_nic["10 GB/s"] == pytest.approx(2 * by_nic["20 GB/s"])
        for row in rows:
            assert float(row["communication_s"]) >= float(row["communication_without_sync_s"]) > 0

    def test_phases_are_in_the_order_of_the_program_and_fill_the_communication(self, places):
        rows = [row for row in gather(places, phases) if row["policy"] == "row_wise"]
        first = rows[: len(rows) // 4]
        assert [row["step"] for row in first][:3] == ["ids", "embeddings", "gradients"]
        moved_s = sum(float(row["transfer_s"]) for row in first if row["step"] != "dense_sync")
        assert moved_s <= float(first[0]["communication_s"]) * (1 + 1e-6)

    def test_predictions_need_no_draw(self, places):
        simulated = gather(places, metrics)
        (places.target / "small.csv").unlink()
        alone = gather(places, predicted)
        assert [row["predicted_s"] for row in alone] == [row["predicted_s"] for row in simulated]
