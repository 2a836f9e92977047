"""Practitioners' cases 22 to 24: draws and traces."""

from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.workload.load import load_workload
from simulator.workload.popularity.zipf import ZipfMandelbrot


def workload(folder: Path, table: str) -> Path:
    path = folder / "w.yaml"
    path.write_text(f"name: w\nbatch_per_rank: 2\ntables:\n  - {{name: items, dim: 4, {table}}}\n")
    return path


def law(folder: Path, s: str, rows: int = 10):  # type: ignore[no-untyped-def]
    text = f"rows: {rows}, length: 3, popularity: {{kind: zipf, s: {s}}}"
    return load_workload(workload(folder, text)).tables[0].popularity


class TestCase22ZipfOfAnyExponent:
    @pytest.mark.parametrize("s", ["0", "0.9", "1", "1.2", "1.0"])
    @pytest.mark.parametrize("rows", [1, 10])
    def test_they_all_work_and_one_row_too(self, tmp_path: Path, s: str, rows: int) -> None:
        popularity = law(tmp_path, s, rows)
        assert popularity.cumulative_share(rows) == 1.0
        assert popularity.blocks().shares.sum() == pytest.approx(1.0, rel=1e-15)

    def test_ten_rows_of_s_one(self, tmp_path: Path) -> None:
        assert float(law(tmp_path, "1").cumulative_share(1)) == pytest.approx(0.3414172, abs=5e-8)

    def test_s_zero_is_uniform(self, tmp_path: Path) -> None:
        assert law(tmp_path, "0").blocks().shares.tolist() == [0.1] * 10

    @pytest.mark.parametrize("s", ["-0.1", "-1", ".nan", ".inf", "yes", "'1'"])
    def test_what_is_no_exponent_is_an_error_at_its_place(self, tmp_path: Path, s: str) -> None:
        with pytest.raises(UserError) as error:
            law(tmp_path, s)
        assert str(error.value).startswith(f"{tmp_path / 'w.yaml'}:4:")
        assert "tables[0].popularity.s: " in str(error.value)

    def test_one_row_has_every_lookup(self) -> None:
        assert ZipfMandelbrot(1, 1.2).row_share(0) == 1.0


def traced(folder: Path, trace: str, options: str, rows: str = "10"):  # type: ignore[no-untyped-def]
    (folder / "t.dat").write_bytes(trace.encode("latin-1"))
    return load_workload(workload(folder, f"rows: {rows}, trace: {{path: t.dat, {options}}}"))


class TestCase23IdsOutsideTheTable:
    def test_it_is_an_error_with_table_line_and_id(self, tmp_path: Path) -> None:
        with pytest.raises(UserError) as error:
            traced(tmp_path, "1 2\n3 10\n", "format: sessions")
        assert str(error.value).startswith(
            f"{tmp_path / 't.dat'}:2: table items: id 10 is outside the table's 10 rows"
        )

    def test_modulo_wraps_it(self, tmp_path: Path) -> None:
        (table,) = traced(tmp_path, "1 2\n3 11\n", "format: sessions, ids: modulo").tables
        assert table.touched_rows == 3
        assert float(table.popularity.cumulative_share(1)) == 0.5

    def test_padding_drops_it(self, tmp_path: Path) -> None:
        (table,) = traced(tmp_path, "1 2 99\n3 99\n", "format: sessions, padding_id: 99").tables
        assert table.touched_rows == 3
        assert table.length.lengths.tolist() == [1, 2]

    def test_ids_above_2_to_63_stay_exact(self, tmp_path: Path) -> None:
        """Two ids that a float cannot tell apart, taken modulo 2^62, are two rows."""
        text = f"{2**63 + 2**61} {2**63 + 2**61 + 1}\n"
        (table,) = traced(tmp_path, text, "format: sessions, ids: modulo", rows=str(2**62)).tables
        assert table.touched_rows == 2


class TestCase24FormatsAreDeclared:
    def test_a_trace_without_a_format_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"tables\[0\]\.trace\.format: "):
            traced(tmp_path, "1 2\n", "ids: strict")

    def test_one_file_means_what_its_format_says(self, tmp_path: Path) -> None:
        means = {}
        for format in ("sessions", "user_item", "user_items"):
            (table,) = traced(tmp_path, "1 2\n1 3\n", f"format: {format}").tables
            means[format] = (table.touched_rows, table.length.mean)
        assert means == {"sessions": (3, 2.0), "user_item": (2, 2.0), "user_items": (2, 1.0)}

    def test_a_wrong_number_of_columns_is_an_error_with_the_line(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"t\.dat:3: table items: 3 columns, user_item has 2"):
            traced(tmp_path, "1 2\n1 3\n1 2 3\n", "format: user_item")

    def test_a_pickle_is_text_that_is_no_number(self, tmp_path: Path) -> None:
        """This one would create a file if it were unpickled."""
        touched = tmp_path / "touched"
        payload = f"cpathlib\nPath.touch\n(cpathlib\nPath\n(S'{touched}'\ntRtR."
        with pytest.raises(UserError, match=r"t\.dat:1: table items: found 'c'"):
            traced(tmp_path, payload, "format: sessions")
        assert not touched.exists()
