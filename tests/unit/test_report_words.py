"""Where texts of a page may break into lines."""

import pytest

from simulator.report.page.words import LONGEST_PIECE, flowing

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nic_bandwidth", "nic_<wbr>bandwidth"),
        ("nic/10/ingress", "nic/<wbr>10/<wbr>ingress"),
        ("by replica_sync_replicated", "by replica_<wbr>sync_<wbr>replicated"),
        ("two words", "two words"),
        ("", ""),
        ("a_very_long__name", "a_<wbr>very_<wbr>long__<wbr>name"),
        ("ends_in_a_joint/", "ends_<wbr>in_<wbr>a_<wbr>joint/"),
        ("n/a, row_wise", "n/a, row_wise"),
    ],
)
def test_names_break_at_their_joints(text: str, expected: str) -> None:
    assert flowing(text) == expected


@pytest.mark.parametrize("unit", ["%", "s", "ms", "µs", "ns", "B", "kB", "GB"])
def test_a_number_keeps_its_unit(unit: str) -> None:
    assert flowing(f"by 45.8 {unit} less, 3 {unit}.") == f"by 45.8{NBSP}{unit} less, 3{NBSP}{unit}."


@pytest.mark.parametrize("text", ["4 samples", "2 Boxes", "2 msec", "a % b"])
def test_other_words_after_a_number_may_stand_alone(text: str) -> None:
    assert flowing(text) == text


def test_a_piece_that_no_column_can_hold_is_cut() -> None:
    long = "x" * (2 * LONGEST_PIECE + 1)
    assert flowing(long).split("<wbr>") == ["x" * LONGEST_PIECE, "x" * LONGEST_PIECE, "x"]
    assert flowing("x" * LONGEST_PIECE) == "x" * LONGEST_PIECE


def test_what_a_user_named_is_escaped_whole() -> None:
    hostile = '</script><b>"&amp;_'
    assert flowing(hostile).striptags() == hostile
    assert not {"<b>", "</script>"} & set(flowing(hostile).split())
    assert "<b>" not in flowing(hostile)
