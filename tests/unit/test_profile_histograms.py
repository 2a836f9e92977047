"""Histogram files: locality statistics and rank frequencies."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import UserError
from simulator.workload.load import load_workload
from simulator.workload.popularity.histogram import from_locality
from simulator.workload.profile import profile_locality
from simulator.workload.traces import files
from simulator.workload.traces.locality import read_locality
from simulator.workload.traces.rank_frequency import read_rank_frequency

SECTION = """\
small_t{tables}_bs{samples}.pt
Locality stats after processing 1 batches of size {samples}
Avg # of indices: {lookups}
Avg # of unique cols: {rows}
Avg col size: 3.0
Histogram of col sizes:
(0, 1]: 0.500
(1, 2]: 0.250
(2, 4]: 0.200
(4+: 0.050
[0, 1, 2, 4]
['0.000', '0.500', '0.750', '0.950', '1.000']
Ratio of index distribution at different column sizes:
(0, 1]: 0.200
(1, 2]: 0.200
(2, 4]: 0.280
(4+: 0.320
[0, 1, 2, 4]
['0.000', '0.200', '0.400', '0.680', '1.000']

"""


def section(tables: int = 1, samples: int = 100, lookups: int = 2_500, rows: int = 1_000) -> str:
    return SECTION.format(tables=tables, samples=samples, lookups=lookups, rows=rows)


@pytest.fixture
def locality(tmp_path: Path) -> Path:
    path = tmp_path / "locality.txt"
    path.write_text(section())
    return path


class TestLocality:
    def test_a_section_is_read_as_it_stands(self, locality: Path) -> None:
        read = read_locality(locality)
        assert (read.tables, read.samples, read.lookups, read.rows) == (1, 100, 2_500, 1_000)
        assert read.lowest.tolist() == [0, 1, 2, 4]
        assert read.row_shares == pytest.approx([0.5, 0.25, 0.2, 0.05])
        assert read.lookup_shares == pytest.approx([0.2, 0.2, 0.28, 0.32])

    def test_sections_are_averaged(self, tmp_path: Path) -> None:
        path = tmp_path / "two.txt"
        path.write_text(section(tables=2, lookups=2_000) + section(tables=4, lookups=3_000))
        read = read_locality(path)
        assert (read.tables, read.lookups, read.rows) == (3, 2_500, 1_000)
        assert read.lookup_shares == pytest.approx([0.2, 0.2, 0.28, 0.32])

    @pytest.mark.parametrize("rows", [20, 1_000, 10**9])
    def test_the_curve_passes_through_the_classes_at_any_number_of_rows(
        self, locality: Path, rows: int
    ) -> None:
        popularity = from_locality(read_locality(locality), rows)
        assert popularity.rows == rows
        at = [rows // 20, rows // 4, rows // 2, rows]
        assert popularity.cumulative_share(at) == pytest.approx([0.32, 0.60, 0.80, 1.0], rel=0.003)

    def test_rows_hit_once_or_twice_are_alike(self, locality: Path) -> None:
        popularity = from_locality(read_locality(locality), 1_000)
        rows = np.arange(600, 1_000)
        assert popularity.share_between(rows, rows + 1) == pytest.approx(1 / 2_500, rel=1e-6)
        rows = np.arange(300, 450)
        assert popularity.share_between(rows, rows + 1) == pytest.approx(2 / 2_500, rel=1e-6)

    def test_hotter_rows_come_first_and_no_row_is_hit_more_than_once_a_sample(self, locality: Path) -> None:
        popularity = from_locality(read_locality(locality), 1_000)
        rows = np.arange(1_000)
        shares = popularity.share_between(rows, rows + 1)
        assert (np.diff(shares) <= 1e-12).all()
        assert shares[0] <= 100 / 2_500

    @pytest.mark.parametrize(
        ("broken", "line"),
        [
            (section() + section().replace("Avg # of indices: 2500\n", ""), 22),
            (section().replace("(2, 4]: 0.280\n", ""), 2),
            (section() + section().replace("(0, 1]", "(0, 3]").replace("(1, 2]", "(3, 5]"), 22),
            (section().replace("Avg # of unique cols: 1000", "Avg # of unique cols: 0"), 2),
        ],
    )
    def test_a_section_that_lacks_something_is_named_by_its_line(
        self, tmp_path: Path, broken: str, line: int
    ) -> None:
        path = tmp_path / "broken.txt"
        path.write_text(broken)
        with pytest.raises(UserError) as error:
            read_locality(path)
        assert str(error.value).startswith(f"{path}:{line}: the section lacks a count or a histogram")

    @pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe"])
    def test_another_file_is_one_line_of_error(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "other.txt"
        path.write_bytes(content)
        with pytest.raises(UserError) as error:
            read_locality(path)
        assert str(error.value).startswith(f"{path}: ")
        assert len(str(error.value).splitlines()) == 1

    @pytest.mark.parametrize(
        ("name", "found"), [("none", "cannot read it: No such"), (".", "not a regular file")]
    )
    def test_a_file_that_is_none_is_one_line_of_error(self, tmp_path: Path, name: str, found: str) -> None:
        for read in (read_locality, read_rank_frequency):
            with pytest.raises(UserError) as error:
                read(tmp_path / name)
            assert str(error.value).startswith(f"{tmp_path / name}: {found}")

    def test_a_file_without_end_is_not_read(self) -> None:
        with pytest.raises(UserError, match="/dev/zero: not a regular file"):
            read_locality(Path("/dev/zero"))

    def test_a_huge_file_is_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MOST_BYTES", 10)
        (tmp_path / "huge.csv").write_text("rank,frequency\n")
        with pytest.raises(UserError, match="15 bytes, allowed are at most 10"):
            read_rank_frequency(tmp_path / "huge.csv")

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_a_damaged_file_is_read_or_refused_in_one_line(self, data: st.DataObject) -> None:
        """Bytes of a good file changed, cut and put in: a curve that ends at 1, or an error."""
        for text, read in (
            (section() + section(tables=3), lambda path: from_locality(read_locality(path), 5_000)),
            ("rank,frequency\n1,5\n2,3\n7,2\n", read_rank_frequency),
        ):
            content = bytearray(text.encode())
            for _ in range(data.draw(st.integers(1, 4))):
                at = data.draw(st.integers(0, len(content) - 1))
                content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3)) or b"9"
            with TemporaryDirectory() as folder:
                path = Path(folder) / "damaged"
                path.write_bytes(content)
                try:
                    popularity = read(path)
                except UserError as error:
                    message = str(error)
                    if not message.startswith(str(path)) or len(message.splitlines()) > 1:
                        raise AssertionError(message) from error
                else:
                    assert popularity.cumulative_share(popularity.rows) == 1.0
                    assert np.isfinite(popularity.blocks(100).shares).all()

    def test_a_table_may_follow_a_histogram(self, locality: Path) -> None:
        path = locality.parent / "w.yaml"
        path.write_text(
            "name: w\nbatch_per_rank: 1\ntables:\n"
            "  - {name: t, rows: 1e6, touched: 0.5, dim: 4, length: 3, "
            "popularity: {kind: locality, path: locality.txt}}\n"
        )
        (table,) = load_workload(path).tables
        assert table.touched_rows == 500_000
        assert float(table.popularity.cumulative_share(25_000)) == pytest.approx(0.32, rel=0.003)

    def test_a_profile_is_of_the_mean_table(self, tmp_path: Path) -> None:
        path = tmp_path / "many.txt"
        path.write_text(section(tables=4))
        profile = profile_locality(path)
        assert (profile.rows_touched, profile.lookups, profile.batch_samples) == (250, 625, 100)
        assert profile.lookups_per_distinct_row == 2.5
        assert profile.lengths is None
        assert profile.drift is None


class TestRankFrequency:
    def read(self, folder: Path, text: str):  # type: ignore[no-untyped-def]
        path = folder / "f.csv"
        path.write_text(text)
        return read_rank_frequency(path)

    def test_every_rank_a_line(self, tmp_path: Path) -> None:
        popularity = self.read(tmp_path, "rank,frequency\n1,5\n2,3\n3,2\n")
        assert popularity.rows == 3
        assert popularity.cumulative_share([1, 2, 3]) == pytest.approx([0.5, 0.8, 1.0])

    def test_a_line_speaks_for_the_ranks_up_to_the_next(self, tmp_path: Path) -> None:
        popularity = self.read(tmp_path, "rank,frequency\r\n1,0.6\r\n2,0.1\r\n5,0.1\r\n")
        assert popularity.rows == 5
        assert popularity.cumulative_share([1, 4]) == pytest.approx([0.6, 0.9])

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ":1: the first line must be rank,frequency"),
            ("frequency,rank\n", ":1: the first line must be rank,frequency"),
            ("rank,frequency\n", ": there is no line after the first"),
            ("rank,frequency\n2,1\n", ":2: rank is '2', must be 1"),
            ("rank,frequency\n1,1\n1,1\n", ":3: rank is '1', must be 2 or more"),
            ("rank,frequency\n1,1\n2.5,1\n", ":3: rank is '2.5', must be 2 or more"),
            ("rank,frequency\n1,1\n" + "9" * 5_000 + ",1\n", f":3: rank is '{'9' * 40}', must be 2 or more"),
            ("rank,frequency\n1,1\n-2,1\n", ":3: rank is '-2', must be 2 or more"),
            (
                "rank,frequency\n1,1\n2,2\n",
                ":3: frequency is '2', must be above 0 and at most the line before's",
            ),
            ("rank,frequency\n1,0\n", ":2: frequency is '0', must be above 0 and at most the line before's"),
            (
                "rank,frequency\n1,nan\n",
                ":2: frequency is 'nan', must be above 0 and at most the line before's",
            ),
            (
                "rank,frequency\n1,inf\n",
                ":2: frequency is 'inf', must be above 0 and at most the line before's",
            ),
            (
                "rank,frequency\n1,many\n",
                ":2: frequency is 'many', must be above 0 and at most the line before's",
            ),
            ("rank,frequency\n1,1,1\n", ":2: 3 columns, rank,frequency has 2"),
            ("rank,frequency\n1,2\n\n", ":3: 0 columns, rank,frequency has 2"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(self, tmp_path: Path, text: str, expected: str) -> None:
        with pytest.raises(UserError) as error:
            self.read(tmp_path, text)
        assert str(error.value) == f"{tmp_path / 'f.csv'}{expected}"

    def test_more_ranks_than_rows_name_the_table(self, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text("rank,frequency\n1,2\n9,1\n")
        path = tmp_path / "w.yaml"
        path.write_text(
            "name: w\nbatch_per_rank: 1\ntables:\n"
            "  - {name: t, rows: 8, dim: 4, length: 3, popularity: {kind: rank_frequency, path: f.csv}}\n"
        )
        with pytest.raises(UserError, match=r"f\.csv: table t: 9 ranks, the table has 8 rows"):
            load_workload(path)
