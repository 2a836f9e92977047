"""A CSV of measurements."""

from pathlib import Path

import pytest

from simulator.calibrate.measurement import Measurement
from simulator.calibrate.read import read_log
from simulator.errors import UserError


def written(folder: Path, text: str) -> Path:
    path = folder / "measured.csv"
    path.write_bytes(text.encode())
    return path


def test_the_four_needed_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "op,ngpus,bytes,time_us\nalltoall,8,65536,14.22\nall_reduce_perf,4,1024,7\n")
    assert read_log(path) == [
        Measurement("", "all_to_all", 1, 8, 65536, pytest.approx(14.22e-6)),
        Measurement("", "all_reduce", 1, 4, 1024, pytest.approx(7e-6)),
    ]


def test_device_nodes_and_unknown_columns_in_any_order(tmp_path: Path) -> None:
    text = "time_us,nodes,busbw_GBps,device,bytes,ngpus,op\n20,2,1.5,A100,64,16,all_to_all\n"
    assert read_log(written(tmp_path, text)) == [
        Measurement("A100", "all_to_all", 2, 16, 64, pytest.approx(20e-6))
    ]


def test_comments_blanks_marks_and_windows_lines(tmp_path: Path) -> None:
    text = "\ufeff# source: somewhere\r\nop , ngpus,bytes,time_us\r\n\r\n# more\r\nalltoall, 2 ,64, 3.5\r\n"
    assert read_log(written(tmp_path, text)) == [
        Measurement("", "all_to_all", 1, 2, 64, pytest.approx(3.5e-6))
    ]


def test_sizes_of_zero_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "op,ngpus,bytes,time_us\nalltoall,2,0,3\nalltoall,2,64,3\n")
    assert [m.bytes for m in read_log(path)] == [64]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", ": no rows, a line of column names and one or more of values are needed"),
        (
            "op,ngpus,bytes,time_us\n",
            ": no rows, a line of column names and one or more of values are needed",
        ),
        ("# c\nop,bytes,time\nalltoall,1,2\n", ":2: no column ngpus, time_us; found op, bytes, time"),
        ("op,ngpus,bytes,time_us\nalltoall,8,64\n", ":2: 3 values, 4 columns"),
        ("op,ngpus,bytes,time_us\n# c\nalltoall,8,6.5,1\n", ":3: '6.5' is not a whole number of bytes"),
        ("op,ngpus,bytes,time_us\nalltoall,8,64,fast\n", ":2: 'fast' is not a time in microseconds above 0"),
        ("op,ngpus,bytes,time_us\nalltoall,8,64,-1\n", ":2: '-1' is not a time in microseconds above 0"),
        ("op,ngpus,bytes,time_us\nalltoall,8,64,nan\n", ":2: 'nan' is not a time in microseconds above 0"),
        ("op,ngpus,bytes,time_us\nalltoall,8,64,inf\n", ":2: 'inf' is not a time in microseconds above 0"),
        ("op,ngpus,bytes,time_us\nalltoall,x,64,1\n", ":2: 'x' is not a count of at least 1"),
        (
            "op,ngpus,bytes,time_us\nalltoall,1,64,1\n",
            ":2: 1 GPUs on 1 nodes, at least 2 are needed, and the same number on each",
        ),
        (
            "op,nodes,ngpus,bytes,time_us\nalltoall,3,8,64,1\n",
            ":2: 8 GPUs on 3 nodes, at least 2 are needed, and the same number on each",
        ),
        (
            "op,ngpus,bytes,time_us\nbroadcast,8,64,1\n",
            ":2: op 'broadcast' is not one of alltoall, all_to_all, all_reduce, all_gather, reduce_scatter",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, error: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as raised:
        read_log(path)
    assert str(raised.value) == f"{path}{error}"
