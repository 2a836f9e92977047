"""The sweep CSV: aligned, readable, never half a row, and one file out of several."""

import io

import pandas as pd
import pytest

from simulator.errors import UserError
from simulator.sweeps.csv_file import SweepFile, combined, numeric, read_rows, write_rows
from simulator.sweeps.frame import frame_of, read_frame
from simulator.sweeps.rows import cell, columns, number, varied_columns

NAMES = columns(["workload.batch_per_rank"])


def row(key: str, **cells: str) -> dict[str, str]:
    return {"policy": "row_wise", "engine": "bound", "key": key, **cells}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.csv"


def test_rows_come_back_as_they_went(path):
    rows = [row("a", error='no, "never"'), row("bb", communication_s="0.25", policy="two words")]
    write_rows(path, NAMES, rows)
    assert read_rows(path) == (NAMES, rows)


def test_columns_line_up(path):
    write_rows(path, NAMES, [row("a", communication_s="0.25"), row("b", communication_s="12.125")])
    lines = path.read_text().splitlines()
    commas = [[place for place, char in enumerate(line) if char == ","] for line in lines]
    assert commas[0] == commas[1] == commas[2]


def test_pandas_reads_it(path):
    write_rows(path, NAMES, [row("a", communication_s="0.25", error="x, y")])
    frame = pd.read_csv(path, skipinitialspace=True)
    assert list(frame.columns) == NAMES
    assert frame["communication_s"][0] == 0.25
    assert frame["error"][0] == "x, y"


def test_appended_rows_are_in_the_file_at_once(path):
    with SweepFile(path, NAMES, [row("a")], [row("b"), row("c")]) as file:
        file.append([row("b", communication_s="1")])
        assert [found["key"] for found in read_rows(path)[1]] == ["a", "b"]
        file.append([row("c")])
        assert [found["key"] for found in read_rows(path)[1]] == ["a", "b", "c"]
    lines = path.read_text().splitlines()
    assert len({len(line) for line in lines}) == 1


def test_rows_are_appended_inside_only(path):
    with pytest.raises(ValueError, match="entered"):
        SweepFile(path, NAMES, [], []).append([row("a")])


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_last_line_that_was_cut_is_dropped(path, cut):
    write_rows(path, NAMES, [row("a", communication_s="1"), row("b", communication_s="2")])
    path.write_text(path.read_text()[:-cut])
    assert [found["key"] for found in read_rows(path)[1]] == ["a"]


FIGURED = "policy,engine,bound_s,error,key\nrow_wise,bound,{},,k\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no CSV of a sweep"),
        ("a,b\n1,2\n", "no CSV of a sweep"),
        ("x" * 200_000 + "\n", ":1: field larger than field limit"),
        ("policy,error,key\nrow_wise,,k\n", "first line has no columns policy, engine, key and error"),
        ("policy,engine,error,key\nrow_wise,bound,,k,9\n", ":2: 5 cells, the first line has 4"),
        ("policy,engine,error,key\nrow_wise,bound,,\n", ":2: a row without a key"),
        ("policy,engine,error,key\nrow_wise,,,k\n", ":2: a row without an engine"),
        (FIGURED.format("1.5") + "row_wise,bound,slow,,l\n", ":3: bound_s: found 'slow', allowed: a finite"),
        (FIGURED.format("nan"), ":2: bound_s: found 'nan', allowed: a finite number"),
        (FIGURED.format("1e400"), ":2: bound_s: found '1e400', allowed: a finite number"),
    ],
)
def test_other_files_are_refused(path, text, words):
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        read_rows(path)


def test_a_file_that_is_not_there(path):
    with pytest.raises(UserError, match="no such file or directory"):
        read_rows(path)


class TestCombined:
    def test_each_point_stands_once_and_columns_are_joined(self):
        one = (columns(["a.b"]), [row("x", **{"a.b": "1"}), row("y")])
        two = (columns(["c.d"]), [row("y"), row("z", **{"c.d": "2"})])
        names, rows = combined({"one": one, "two": two})
        assert varied_columns(names) == ["a.b", "c.d"]
        assert [found["key"] for found in rows] == ["x", "y", "z"]

    def test_figures_go_before_errors_whichever_comes_first(self):
        answered, failed = row("x", communication_s="1"), row("x", error="boom")
        for files in ([answered, failed], [failed, answered]):
            _, rows = combined({str(index): (NAMES, [each]) for index, each in enumerate(files)})
            assert rows == [answered]

    def test_one_of_two_errors_stays(self):
        _, rows = combined({"a": (NAMES, [row("x", error="one")]), "b": (NAMES, [row("x", error="two")])})
        assert rows == [row("x", error="one")]

    def test_rounding_is_no_difference_and_anything_more_is_told(self):
        def files(first: str, second: str):
            return {
                "a.csv": (NAMES, [row("x", communication_s=first)]),
                "b.csv": (NAMES, [row("x", communication_s=second)]),
            }

        combined(files("1.00000000000", "1.00000000001"))
        with pytest.raises(UserError, match=r"b.csv: point x has communication_s 1.1, another file 1"):
            combined(files("1", "1.1"))
        with pytest.raises(UserError, match="bottleneck"):
            combined(
                {
                    "a": (NAMES, [row("x", bottleneck="nic/0/egress")]),
                    "b": (NAMES, [row("x", bottleneck="nic/1/egress")]),
                }
            )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (3, "3"),
        (2.0, "2"),
        (1 / 3, "0.333333333333"),
        (1e-7, "1e-07"),
        (1e300, "1e+300"),
        ("400 Gbit/s", "400 Gbit/s"),
        ("two\nlines", "two lines"),
        ({"kind": "zipf", "s": 1}, '{"kind": "zipf", "s": 1}'),
        ([8, 4], "[8, 4]"),
    ],
)
def test_cells(value, text):
    assert cell(value) == text


def test_a_number_is_read_or_absent():
    assert number({"bound_s": "0.5"}, "bound_s") == 0.5
    assert number({}, "bound_s") is None
    assert numeric("1e-9")
    assert not numeric("nic/0")


class TestFrame:
    def test_numbers_are_numbers_and_the_rest_is_text(self):
        rows = [
            {**row("7"), "workload.batch_per_rank": "16", "communication_s": "0.5"},
            {**row("8"), "workload.batch_per_rank": "32", "error": "boom"},
        ]
        frame = frame_of(rows)
        assert frame["workload.batch_per_rank"].tolist() == [16, 32]
        assert frame["communication_s"].isna().tolist() == [False, True]
        assert frame["key"].tolist() == ["7", "8"]
        assert frame["error"].tolist() == ["", "boom"]

    def test_of_a_file(self, path):
        write_rows(path, NAMES, [row("a", **{"workload.batch_per_rank": "16"})])
        assert read_frame(path)["workload.batch_per_rank"].tolist() == [16]

    def test_of_no_rows_has_the_columns(self):
        assert list(frame_of([]).columns) == columns([])
        assert io.StringIO(frame_of([]).to_csv()).readline().startswith(",policy")
