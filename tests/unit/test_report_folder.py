"""Reading a results folder back: what must be there, what text stays text, and how files are named."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_folder import write_folder

from simulator.errors import UserError
from simulator.report.folder import TABLE_COLUMNS, file_stem, matrix_name, read_results, trace_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def test_a_folder_is_read(folder: Path) -> None:
    results = read_results(folder)
    assert results.policies == ("row_wise", "table_wise", "flexshard")
    assert results.baseline == "row_wise"
    assert results.island_sizes == (4, 4)
    assert list(results.configuration) == ["topology", "workload", "experiment"]
    assert set(results.phases["step"]) == {"ids", "embeddings", "gradients", "replica_sync"}


@pytest.mark.parametrize("name", [*TABLE_COLUMNS, "summary.json", "manifest.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(
        UserError, match=f"{name}: cannot be read: No such file or directory; a results folder"
    ):
        read_results(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "summary.json: is not JSON: "),
        ("[1]", "summary.json: holds list; a results folder has an object there"),
    ],
)
def test_a_summary_that_is_none(folder: Path, text: str, message: str) -> None:
    (folder / "summary.json").write_text(text)
    with pytest.raises(UserError, match=message):
        read_results(folder)


def test_missing_columns_are_named(folder: Path) -> None:
    (folder / "memory.csv").write_text("policy,weight\nrow_wise,3\n")
    with pytest.raises(UserError, match=r"memory\.csv: lacks the column\(s\) tier, bytes"):
        read_results(folder)


def test_a_table_that_is_none(folder: Path) -> None:
    (folder / "memory.csv").write_text("policy,tier,bytes\nrow_wise,global,3\nrow_wise,global,3,4,5\n")
    with pytest.raises(UserError, match=r"memory\.csv: is not a table: .*line 3"):
        read_results(folder)


def test_a_table_without_rows(folder: Path) -> None:
    (folder / "phases.csv").write_text("\n")
    phases = read_results(folder).phases
    assert len(phases) == 0
    assert tuple(phases.columns) == TABLE_COLUMNS["phases.csv"]
    assert phases["bytes"].sum() == 0
    assert list(phases["step"].str.upper()) == []


@pytest.mark.parametrize("label", ["NA", "null", "007", "1e5", "None", "True", "a,b", 'say "so"'])
def test_a_label_stays_as_it_is(tmp_path: Path, label: str) -> None:
    results = read_results(write_folder(tmp_path, policies=("row_wise", label)))
    assert set(results.phases["policy"]) == set(results.memory["policy"]) == {"row_wise", label}


def test_a_phase_without_a_tier_has_an_empty_one(folder: Path) -> None:
    path = folder / "phases.csv"
    path.write_text(path.read_text() + "row_wise,0,dense_sync,dense_sync,,8,4,4,0,0,1,1,nic/0/egress\n")
    assert read_results(folder).phases["tier"].iloc[-1] == ""


def test_a_matrix_is_read(folder: Path) -> None:
    (folder / "traffic_row_wise_embeddings_global.txt").write_text("0 9007199254740993\n7 0\n")
    matrix = read_results(folder).matrix("row_wise", "embeddings_global")
    assert matrix is not None
    assert matrix.dtype == np.int64
    assert matrix.tolist() == [[0, 2**53 + 1], [7, 0]]  # beyond what a float holds


def test_a_matrix_of_one_rank(folder: Path) -> None:
    (folder / "traffic_row_wise_embeddings_global.txt").write_text("5\n")
    matrix = read_results(folder).matrix("row_wise", "embeddings_global")
    assert matrix is not None
    assert matrix.tolist() == [[5]]


def test_a_phase_without_a_matrix(folder: Path) -> None:
    assert read_results(folder).matrix("row_wise", "replica_sync_replicated") is None


def test_usual_labels_name_files_as_they_are() -> None:
    assert matrix_name("row_wise", "ids_global") == "traffic_row_wise_ids_global.txt"
    assert trace_name("flexshard memory=hbm") == "trace_flexshard memory=hbm.json"


@pytest.mark.parametrize("label", ["../../etc/passwd", "a/b", "a\\b", "a:b", "a\nb", "a*b", "50%"])
def test_no_label_leads_out_of_the_folder(label: str, tmp_path: Path) -> None:
    path = (tmp_path / trace_name(label)).resolve()
    assert path.parent == tmp_path.resolve()
    assert not set(path.name) & set('/\\:*?"<>|\n')


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_labels_never_share_a_file(one: str, two: str) -> None:
    assert (file_stem(one) == file_stem(two)) == (one == two)
