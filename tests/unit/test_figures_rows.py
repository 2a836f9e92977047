"""Rows of figures' data: cells, the CSV, and what is kept of data that are being made."""

from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.figures.rows import Unfinished, cell, read_csv, write_csv

TASKS = [
    ("k1", [{"policy": "a, b", "s": "1.1"}]),
    ("k2", [{"policy": "c", "s": "1.2"}, {"policy": "d", "s": ""}]),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3, "3"),
        (2.0, "2"),
        (1 / 3, "0.3333333"),
        (12345678.5, "1.234568e+07"),
        (1e18, "1e+18"),
        ("200 Gbit/s", "200 Gbit/s"),
        (True, "True"),
    ],
)
def test_a_cell_has_seven_digits_at_most(value, text):
    assert cell(value) == text


def test_what_is_written_is_read_back(tmp_path: Path):
    write_csv(tmp_path / "a.csv", TASKS)
    assert read_csv(tmp_path / "a.csv") == dict(TASKS)


def test_the_key_stands_last_and_lines_end_alike_everywhere(tmp_path: Path):
    write_csv(tmp_path / "a.csv", TASKS)
    content = (tmp_path / "a.csv").read_bytes()
    assert content.startswith(b"policy,s,key\n")
    assert b"\r" not in content
    assert b'"a, b",1.1,k1\n' in content


def test_rows_without_a_column_have_it_empty(tmp_path: Path):
    write_csv(tmp_path / "a.csv", [("k1", [{"x": "1"}]), ("k2", [{"error": "does not fit"}])])
    assert read_csv(tmp_path / "a.csv") == {
        "k1": [{"x": "1", "error": ""}],
        "k2": [{"x": "", "error": "does not fit"}],
    }


def test_no_file_holds_no_rows(tmp_path: Path):
    assert read_csv(tmp_path / "none.csv") == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "its first line has no column key"),
        (b"", "its first line has no column key"),
        (b"a,key\n1,2,3\n", "a.csv:2: has other cells than its first line"),
        (b"a,key\n1\n", "a.csv:2: has other cells than its first line"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_another_kind_of_file_is_refused_in_a_line(tmp_path: Path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(UserError, match=message) as refused:
        read_csv(tmp_path / "a.csv")
    assert "\n" not in str(refused.value)


def killed_after(path: Path, tasks) -> None:
    """Appends these tasks and dies."""
    with Unfinished(path) as unfinished:
        for task in tasks:
            unfinished.append(*task)
        raise KeyboardInterrupt


class TestUnfinished:
    def test_finished_tasks_survive_a_kill(self, tmp_path: Path):
        path = tmp_path / "a.jsonl"
        with pytest.raises(KeyboardInterrupt):
            killed_after(path, TASKS[:1])
        assert Unfinished(path).rows == dict(TASKS[:1])

    @pytest.mark.parametrize("lost", [1, 5, 40])
    def test_a_line_cut_short_is_dropped(self, tmp_path: Path, lost: int):
        path = tmp_path / "a.jsonl"
        with pytest.raises(KeyboardInterrupt):
            killed_after(path, TASKS)
        path.write_bytes(path.read_bytes()[:-lost])
        with pytest.raises(KeyboardInterrupt):
            killed_after(path, [("k3", [])])
        assert list(Unfinished(path).rows) == (["k1", "k2", "k3"] if lost == 1 else ["k1", "k3"])

    def test_nothing_is_left_when_all_is_done(self, tmp_path: Path):
        with Unfinished(tmp_path / "a.jsonl") as unfinished:
            unfinished.append(*TASKS[0])
            assert unfinished.rows == dict(TASKS[:1])
        assert list(tmp_path.iterdir()) == []

    def test_it_must_be_entered_first(self, tmp_path: Path):
        with pytest.raises(ValueError, match="entered"):
            Unfinished(tmp_path / "a.jsonl").append("k", [])
