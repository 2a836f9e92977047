"""What nccl-tests prints, old and new, and what is wrong with a log that can't be read."""

from pathlib import Path

import pytest

from simulator.calibrate.measurement import Measurement
from simulator.calibrate.read import read_log
from simulator.errors import UserError

NEW = """\
# nccl-tests version 2.17.8 nccl-headers=23004 nccl-library=23004
# Collective test starting: alltoall_perf
# nThread 1 nGpus 2 minBytes 524288 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid 2380689 on    Node1 device  0 [0000:4e:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 2380690 on    Node1 device  1 [0000:5f:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           0             0     float    none      -1     3.18    0.00    0.00       0     3.17    0.00    0.00     N/A
      524288         65536     float    none      -1    14.40   36.41   18.20       0    14.10   37.18   18.59     N/A
     1048576        131072     float    none      -1    14.85   70.61   35.31       0    14.60   71.82   35.91     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 27.0
"""

OLD = """\
# nThread 1 nGpus 1 minBytes 268435456 maxBytes 536870912 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid   1320 on server-a device  0 [0x00] Tesla V100-SXM2-16GB
#   Rank  1 Pid   1321 on server-a device  1 [0x00] Tesla V100-SXM2-16GB
#   Rank  2 Pid   2066 on server-b device  0 [0x00] Tesla V100-SXM2-16GB
#   Rank  3 Pid   2067 on server-b device  1 [0x00] Tesla V100-SXM2-16GB
#
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   268435456       1048576     float           520935    0.52    0.51  0e+00   519562    0.52    0.51  1e+00
   536870912       2097152     float          1041974    0.52    0.51  0e+00  1041299    0.52    0.51  1e+00
"""


def written(folder: Path, text: str, name: str = "test.log") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_new_log_names_its_test_and_device(tmp_path: Path) -> None:
    device = "NVIDIA H100 80GB HBM3"
    assert read_log(written(tmp_path, NEW)) == [
        Measurement(device, "all_to_all", 1, 2, 524288, pytest.approx(14.40e-6)),
        Measurement(device, "all_to_all", 1, 2, 1048576, pytest.approx(14.85e-6)),
    ]


def test_an_old_log_is_named_by_its_file(tmp_path: Path) -> None:
    assert read_log(written(tmp_path, OLD, "alltoall_4gpu.txt")) == [
        Measurement("Tesla V100-SXM2-16GB", "all_to_all", 2, 4, 268435456, pytest.approx(0.520935)),
        Measurement("Tesla V100-SXM2-16GB", "all_to_all", 2, 4, 536870912, pytest.approx(1.041974)),
    ]


def test_an_echoed_command_names_the_test(tmp_path: Path) -> None:
    (first, _) = read_log(written(tmp_path, "mpirun -np 4 ./build/reduce_scatter_perf -b 256M\n" + OLD))
    assert first.operation == "reduce_scatter"


def test_an_old_all_reduce_has_an_operator_in_its_rows(tmp_path: Path) -> None:
    text = OLD.replace("float       ", "float    sum")
    (first, _) = read_log(written(tmp_path, text, "all_reduce.log"))
    assert (first.operation, first.time_s) == ("all_reduce", pytest.approx(0.520935))


def test_lines_tagged_by_mpirun_are_read_as_well(tmp_path: Path) -> None:
    tagged = "".join(f"[1,0]<stdout>:{line}\n" for line in NEW.splitlines())
    assert read_log(written(tmp_path, tagged)) == read_log(written(tmp_path, NEW, "plain.log"))


def test_two_tests_in_one_file_have_their_own_ranks(tmp_path: Path) -> None:
    second = NEW.replace("alltoall_perf", "all_gather_perf").replace(
        "2380690 on    Node1", "2380690 on    Node2"
    )
    found = read_log(written(tmp_path, NEW + second))
    assert [(m.operation, m.nodes, m.ranks) for m in found] == [("all_to_all", 1, 2)] * 2 + [
        ("all_gather", 2, 2)
    ] * 2


def test_alltoallv_is_not_taken_for_alltoall(tmp_path: Path) -> None:
    path = written(tmp_path, NEW.replace("alltoall_perf", "alltoallv_perf"))
    with pytest.raises(UserError, match="the log does not name its test"):
        read_log(path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("hello\n", ": no line with a size and a time, so this is no output of nccl-tests"),
        ("", ": no line with a size and a time, so this is no output of nccl-tests"),
        ("1048576 7\n", ":1: numbers before the line that names the columns (size count type ...)"),
        (
            NEW.replace("14.85", "N/A"),
            ":14: 'N/A' is not a time in microseconds above 0",
        ),
        (
            NEW.replace("14.85", "0.00"),
            ":14: '0.00' is not a time in microseconds above 0",
        ),
        (
            NEW.replace("1048576        131072", "1M        131072"),
            ":14: '1M' is not a whole number of bytes",
        ),
        (
            NEW.replace("#  Rank  0", "# ......"),
            ":12: 1 lines '# Rank ...' above for 2 ranks, all are needed",
        ),
        (
            NEW.replace("#  Rank", "#  Tank"),
            ":12: 0 ranks in the lines '# Rank ...' above, at least 2 are needed",
        ),
        (
            NEW.replace("#  Rank  1", "#  Rank  2 Group 0 Pid 7 on Node2 device 0 [0x0] NVIDIA\n#  Rank  1"),
            ":13: 3 ranks on 2 hosts, every host must have the same number",
        ),
        (
            NEW.replace("#  Rank  0", "# perf", 1).replace("alltoall_perf", "sendrecv_perf"),
            ":12: the log does not name its test; name the file after it: "
            "alltoall_perf, all_reduce_perf, all_gather_perf, reduce_scatter_perf",
        ),
        (
            NEW.replace(
                "     float    none      -1    14.40   36.41   18.20       0    14.10   37.18   18.59     N/A",
                "",
            ),
            ":13: 2 columns, no time among them",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, error: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as raised:
        read_log(path)
    assert str(raised.value) == f"{path}{error}"


def test_a_log_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary.log").write_bytes(b"\xff\x00")
    for name, text in (("absent.log", "no such file"), ("binary.log", "not UTF-8")):
        with pytest.raises(UserError, match=f"{name}: .*{text}"):
            read_log(tmp_path / name)
