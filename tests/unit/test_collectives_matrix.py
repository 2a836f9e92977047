"""Byte matrices: even ones whose sums are exact, and files with errors placed."""

from pathlib import Path

import numpy as np
import pytest

from simulator.collectives.matrix import even_matrix, read_matrix
from simulator.errors import UserError
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Topology


def cluster(islands: int, size: int) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=100e9, nic_bytes_per_s=10e9
    )


def uneven(*sizes: int) -> Topology:
    return build_topology(
        TopologySpec(
            name="uneven",
            islands=list(sizes),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )


def test_bytes_that_divide_give_equal_entries() -> None:
    assert even_matrix(cluster(2, 8), 1_000_000_000).tolist() == [[62_500_000] * 16] * 16


@pytest.mark.parametrize(
    "topology", [cluster(6, 8), cluster(7, 8), cluster(3, 5), uneven(2, 3, 6), cluster(1, 7)]
)
@pytest.mark.parametrize("bytes_per_rank", [0, 1, 5, 1000, 10**9, 10**12 + 7])
def test_every_row_and_column_sums_to_the_bytes_of_a_rank(topology: Topology, bytes_per_rank: int) -> None:
    matrix = even_matrix(topology, bytes_per_rank)
    assert set(matrix.sum(axis=0).tolist()) == set(matrix.sum(axis=1).tolist()) == {bytes_per_rank}
    assert matrix.max() - matrix.min() <= 1


@pytest.mark.parametrize("islands", [2, 3, 5, 6, 7, 9, 11, 12, 13])
def test_what_leaves_an_island_is_the_nearest_whole_number(islands: int) -> None:
    topology = cluster(islands, 8)
    matrix = even_matrix(topology, 10**9)
    crosses = topology.island_of[:, None] != topology.island_of
    exact = 10**9 * (islands - 1) / islands
    for axis in (0, 1):
        leaving = set(np.where(crosses, matrix, 0).sum(axis=axis).tolist())
        assert len(leaving) == 1
        assert abs(leaving.pop() - exact) <= 0.5


def written(folder: Path, text: str) -> Path:
    path = folder / "matrix.txt"
    path.write_bytes(text.encode())
    return path


def test_a_matrix_is_read_row_by_row(tmp_path: Path) -> None:
    matrix = read_matrix(written(tmp_path, "0 1 2\n3 0 5\n6 7 0\n"), 3)
    assert matrix.tolist() == [[0, 1, 2], [3, 0, 5], [6, 7, 0]]
    assert matrix.dtype == np.int64


@pytest.mark.parametrize(
    "text", ["0 1\r\n2 0\r\n", "\ufeff0 1\n2 0", "\n0\t1\n\n  2   0  \n\n"], ids=["crlf", "bom", "blanks"]
)
def test_line_ends_marks_and_blanks_do_not_matter(tmp_path: Path, text: str) -> None:
    assert read_matrix(written(tmp_path, text), 2).tolist() == [[0, 1], [2, 0]]


def test_entries_stay_exact_up_to_the_largest(tmp_path: Path) -> None:
    most = 2**63 - 1
    matrix = read_matrix(written(tmp_path, f"0 {2**53 + 1}\n{most - 2**53 - 1} 0\n"), 2)
    assert matrix.tolist() == [[0, 2**53 + 1], [most - 2**53 - 1, 0]]


def test_more_bytes_than_integers_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^all-to-all: 4611686018427387904 bytes a rank, at most \d+ are allowed$"
    ):
        even_matrix(cluster(2, 8), 2**62)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("0 1\n2 -3\n", ":2: '-3' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0 1.5\n2 0\n", ":1: '1.5' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0 1e6\n2 0\n", ":1: '1e6' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0 nan\n2 0\n", ":1: 'nan' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0 1_0\n2 0\n", ":1: '1_0' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0,1\n2,0\n", ":1: '0,1' is not a number of bytes, whole numbers of 0 and more are allowed"),
        ("0 1\n2\n", ":2: 1 entries, the topology has 2 ranks, one entry for each"),
        ("0 1\n\n2 0 7\n", ":3: 3 entries, the topology has 2 ranks, one entry for each"),
        ("0 1\n", ": 1 rows, the topology has 2 ranks, one row for each"),
        ("", ": 0 rows, the topology has 2 ranks, one row for each"),
        (
            "0 9223372036854775807\n1 0\n",
            ": 9223372036854775808 bytes in all, at most 9223372036854775807 are allowed",
        ),
    ],
)
def test_errors_name_the_line_and_what_is_allowed(tmp_path: Path, text: str, error: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as raised:
        read_matrix(path, 2)
    assert str(raised.value) == f"{path}{error}"


def test_a_file_that_is_not_there_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.txt: no such file"):
        read_matrix(tmp_path / "absent.txt", 2)


def test_a_file_that_is_no_text_is_a_users_error(tmp_path: Path) -> None:
    path = tmp_path / "matrix.bin"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UserError, match=r"matrix\.bin: byte 0xff is not UTF-8"):
        read_matrix(path, 2)
