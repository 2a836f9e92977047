"""Traces in declared formats: what is read, what is dropped, and the line of every mistake."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from simulator.errors import UserError
from simulator.workload.traces import sequences as sequences_module
from simulator.workload.traces import tokens as tokens_module
from simulator.workload.traces.sequences import read_sequences
from simulator.workload.traces.source import Format, TraceSource
from simulator.workload.traces.trace import Trace, read_trace


def read(folder: Path, text: bytes | str, format: Format = "sessions", **options: object) -> Trace:
    path = folder / "t.dat"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_trace(TraceSource(path, format, **options))  # type: ignore[arg-type]


def mistake(folder: Path, text: bytes | str, format: Format = "sessions", **options: object) -> str:
    with pytest.raises(UserError) as error:
        read(folder, text, format, **options)
    return str(error.value).removeprefix(str(folder / "t.dat"))


def counted(trace: Trace) -> dict[int, int]:
    return dict(zip(trace.ids.tolist(), trace.counts.tolist(), strict=True))


def lengths(trace: Trace) -> dict[int, int]:
    return {length: int(count) for length, count in enumerate(trace.length_counts) if count}


class TestFormats:
    def test_a_session_a_line(self, tmp_path: Path) -> None:
        trace = read(tmp_path, "1 2 3\n1\n4 1\n")
        assert counted(trace) == {1: 3, 2: 1, 3: 1, 4: 1}
        assert lengths(trace) == {1: 1, 2: 1, 3: 1}

    def test_an_empty_line_is_an_empty_session(self, tmp_path: Path) -> None:
        assert lengths(read(tmp_path, "1\n\n2 3\n")) == {0: 1, 1: 1, 2: 1}

    def test_a_user_and_an_item_a_line(self, tmp_path: Path) -> None:
        trace = read(tmp_path, "7 1\n7 2\n8 1\n", "user_item")
        assert counted(trace) == {1: 2, 2: 1}
        assert lengths(trace) == {1: 1, 2: 1}

    def test_a_user_and_its_items_a_line(self, tmp_path: Path) -> None:
        trace = read(tmp_path, "7 1 2\n8 1\n9\n", "user_items")
        assert counted(trace) == {1: 2, 2: 1}
        assert lengths(trace) == {0: 1, 1: 1, 2: 1}

    @pytest.mark.parametrize(
        "text", ["1 2\n3", "1 2\n3\n", "1\t2 \r\n 3\r\n", "\ufeff1 2\n3\n", "01 2\n003\n"]
    )
    def test_blanks_line_ends_and_a_byte_order_mark_do_not_matter(self, tmp_path: Path, text: str) -> None:
        trace = read(tmp_path, text)
        assert counted(trace) == {1: 1, 2: 1, 3: 1}
        assert lengths(trace) == {1: 1, 2: 1}

    def test_ids_up_to_64_bits_stay_exact(self, tmp_path: Path) -> None:
        ids = [2**53 + 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1, 0]
        assert counted(read(tmp_path, " ".join(map(str, ids)) + "\n")) == dict.fromkeys(ids, 1)


class TestUsersApart:
    LINES = ("5 1", "6 9", "5 2", "7 3", "6 8", "5 3")

    def test_a_user_that_comes_back_is_one_sequence(self, tmp_path: Path) -> None:
        trace = read(tmp_path, "\n".join(self.LINES), "user_item")
        assert lengths(trace) == {1: 1, 2: 1, 3: 1}
        assert counted(trace) == {1: 1, 2: 1, 3: 2, 8: 1, 9: 1}

    def test_their_items_stay_in_order(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sequences_module, "LOOKUPS_AT_ONCE", 2)
        path = tmp_path / "t.dat"
        path.write_text("\n".join(self.LINES))
        found = set()
        for part in read_sequences(TraceSource(path, "user_item")):
            ends = np.cumsum(part.lengths)
            for end, length in zip(ends, part.lengths, strict=True):
                found.add(tuple(part.items[end - length : end].tolist()))
        assert found == {(1, 2, 3), (9, 8), (3,)}

    def test_padding_is_counted_once_however_often_the_file_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sequences_module, "LOOKUPS_AT_ONCE", 1)
        trace = read(tmp_path, "\n".join(self.LINES), "user_item", padding_id=3)
        assert trace.dropped == 2
        assert lengths(trace) == {0: 1, 2: 2}


class TestChunks:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
    @pytest.mark.parametrize("format", ["sessions", "user_items", "user_item"])
    def test_the_size_of_a_chunk_changes_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, format: Format
    ) -> None:
        text = "\n".join(f"{line // 3} {line * 7 % 11}" for line in range(40))
        whole = read(tmp_path, text, format)
        monkeypatch.setattr(tokens_module, "CHUNK_BYTES", size)
        parts = read(tmp_path, text, format)
        assert counted(whole) == counted(parts)
        assert lengths(whole) == lengths(parts)

    def test_errors_keep_their_line_across_chunks(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens_module, "CHUNK_BYTES", 5)
        assert mistake(tmp_path, "1 2\n3 4\n" * 20 + "1 x\n").startswith(":41: ")

    def test_a_line_without_end_is_refused_not_read_into_memory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tokens_module, "CHUNK_BYTES", 8)
        monkeypatch.setattr(tokens_module, "LONGEST_LINE_BYTES", 100)
        assert "a line is longer than" in mistake(tmp_path, "1 " * 200)


class TestIds:
    def test_an_id_outside_the_table_names_table_line_and_id(self, tmp_path: Path) -> None:
        text = mistake(tmp_path, "1 2\n9 10\n", rows=10, table="items")
        assert text == (
            ":2: table items: id 10 is outside the table's 10 rows (ids: modulo wraps them, padding_id drops one)"
        )

    def test_the_last_row_is_inside(self, tmp_path: Path) -> None:
        assert counted(read(tmp_path, "0 9\n", rows=10)) == {0: 1, 9: 1}

    def test_modulo_wraps_and_counts(self, tmp_path: Path) -> None:
        trace = read(tmp_path, f"1 12 {2**64 - 1}\n", rows=10, ids="modulo")
        assert counted(trace) == {1: 1, 2: 1, (2**64 - 1) % 10: 1}
        assert trace.wrapped == 2

    def test_padding_is_dropped_and_counted(self, tmp_path: Path) -> None:
        trace = read(tmp_path, "0 0 1 2\n0\n3 0\n", rows=10, padding_id=0)
        assert counted(trace) == {1: 1, 2: 1, 3: 1}
        assert lengths(trace) == {0: 1, 1: 1, 2: 1}
        assert trace.dropped == 4

    def test_padding_may_be_outside_the_table_or_negative(self, tmp_path: Path) -> None:
        assert read(tmp_path, "99 1\n", rows=10, padding_id=99).dropped == 1
        assert counted(read(tmp_path, "-1 1 -1\n", rows=10, padding_id=-1)) == {1: 1}

    def test_a_negative_padding_id_is_not_its_magnitude(self, tmp_path: Path) -> None:
        assert counted(read(tmp_path, "-5 5\n", padding_id=-5)) == {5: 1}

    @pytest.mark.parametrize("options", [{}, {"ids": "modulo", "rows": 10}, {"padding_id": 3}])
    def test_other_negative_ids_are_errors(self, tmp_path: Path, options: dict[str, object]) -> None:
        assert mistake(tmp_path, "1\n2 -3\n", **options).startswith(":2: id -3 is ")

    def test_a_negative_zero_is_zero(self, tmp_path: Path) -> None:
        assert counted(read(tmp_path, "-0 1\n")) == {0: 1, 1: 1}


MALFORMED = [
    (b"1 2\n1 2 3\n", "user_item", ":2: 3 columns, user_item has 2"),
    (b"1 2\n1\n", "user_item", ":2: 1 columns, user_item has 2"),
    (b"1 2\n\n1 3\n", "user_item", ":2: 0 columns, user_item has 2"),
    (b"1 2\n\n", "user_items", ":2: 0 columns, user_items has 1 or more"),
    (b"1 2\n-1 2\n", "user_item", ":2: a user is negative, allowed are whole numbers below 2^64"),
    (b"1,2\n", "sessions", ":1: found ',', allowed are whole numbers separated by blanks"),
    (b"1\n2 a\n", "sessions", ":2: found 'a', allowed are whole numbers separated by blanks"),
    (b"user item\n1 2\n", "user_item", ":1: found 'u', allowed are whole numbers separated by blanks"),
    (b"1.5\n", "sessions", ":1: found '.', allowed are whole numbers separated by blanks"),
    (
        b"1 18446744073709551616\n",
        "sessions",
        ":1: found 18446744073709551616, allowed are whole numbers below 2^64",
    ),
    (
        b"99999999999999999999\n",
        "sessions",
        ":1: found 99999999999999999999, allowed are whole numbers below 2^64",
    ),
    (
        b"1" * 25 + b"\n",
        "sessions",
        ":1: found 1111111111111111111111111, allowed are whole numbers below 2^64",
    ),
    (b"3-4\n", "sessions", ":1: found 3-4, allowed are whole numbers below 2^64"),
    (b"--4\n", "sessions", ":1: found --4, allowed are whole numbers below 2^64"),
    (b"1 -\n", "sessions", ":1: found -, allowed are whole numbers below 2^64"),
    (b"\x80\x04\x95\n", "sessions", ":1: found byte 0x80, allowed are whole numbers separated by blanks"),
    (b"1 2\n3\x004\n", "sessions", ":2: found byte 0x00, allowed are whole numbers separated by blanks"),
    (b"", "sessions", ": there is no lookup in the trace"),
    (b"\n\n", "sessions", ": there is no lookup in the trace"),
    (b"", "user_item", ": there is no lookup in the trace"),
]


@pytest.mark.parametrize(("text", "format", "expected"), MALFORMED)
def test_what_the_format_does_not_allow_is_an_error_with_its_line(
    tmp_path: Path, text: bytes, format: Format, expected: str
) -> None:
    assert mistake(tmp_path, text, format) == expected


@pytest.mark.parametrize("format", ["sessions", "user_items", "user_item"])
def test_a_trace_that_is_not_there_or_is_a_folder_is_one_line(tmp_path: Path, format: Format) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UserError, match="cannot read the trace: ") as error:
            read_trace(TraceSource(path, format, table="items"))
        assert str(error.value).startswith(f"{path}: table items: ")
        assert len(str(error.value).splitlines()) == 1


class TestParts:
    TEXT = "1 1 1\n2 2 2\n3 3 3\n4 4 4\n"

    def test_halves_are_by_the_byte_at_which_a_sequence_begins(self, tmp_path: Path) -> None:
        assert counted(read(tmp_path, self.TEXT, part="first_half")) == {1: 3, 2: 3}
        assert counted(read(tmp_path, self.TEXT, part="second_half")) == {3: 3, 4: 3}

    def test_a_user_belongs_to_the_half_in_which_it_begins(self, tmp_path: Path) -> None:
        text = "1 5\n1 6\n1 7\n2 8\n"
        assert counted(read(tmp_path, text, "user_item", part="first_half")) == {5: 1, 6: 1, 7: 1}
        assert counted(read(tmp_path, text, "user_item", part="second_half")) == {8: 1}

    @pytest.mark.parametrize("format", ["sessions", "user_item"])
    def test_both_halves_are_the_whole(self, tmp_path: Path, format: Format) -> None:
        text = "".join(f"{line // 4} {line * line % 13}\n" for line in range(60))
        whole = counted(read(tmp_path, text, format))
        both = Counter[int]()
        for part in ("first_half", "second_half"):
            both.update(counted(read(tmp_path, text, format, part=part)))
        assert both == whole

    def test_only_the_half_that_is_read_is_counted_as_dropped(self, tmp_path: Path) -> None:
        assert read(tmp_path, "0 1 1\n2 2 2\n0 0 3\n", padding_id=0, part="first_half").dropped == 1
