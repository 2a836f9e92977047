"""Numbers as people read them."""

import math

import pytest

from simulator.report.scales import (
    Scale,
    byte_scale,
    bytes_text,
    factor_text,
    share_text,
    time_scale,
    time_text,
)


class TestByteScale:
    @pytest.mark.parametrize(
        ("largest", "unit", "text"),
        [
            (0, "B", "0"),
            (1, "B", "1"),
            (999, "B", "999"),
            (1000, "kB", "1.000"),
            (20_000, "kB", "20.00"),
            (999_999, "kB", "1,000.0"),
            (6.4e9, "GB", "6.400"),
            (123.4e9, "GB", "123.4"),
            (1.5e15, "PB", "1.500"),
            (123_456e15, "PB", "123,456"),
        ],
    )
    def test_the_largest_value_decides(self, largest: float, unit: str, text: str) -> None:
        scale = byte_scale([largest])
        assert (scale.unit, scale.text(largest)) == (unit, text)

    def test_one_unit_for_all(self) -> None:
        scale = byte_scale([12.5e9, 3e6, 0, None])
        assert [scale.text(value) for value in (12.5e9, 3e9, 0, None)] == ["12.50", "3.00", "0.00", "n/a"]

    def test_what_is_too_small_is_not_shown_as_nothing(self) -> None:
        scale = byte_scale([12.5e9])
        assert scale.text(100) == "<0.01"
        assert scale.text(-100) == "-<0.01"

    def test_nothing_known(self) -> None:
        assert byte_scale([None, math.nan]) == Scale("B", 1.0, 0)

    def test_decimal_units(self) -> None:
        assert byte_scale([2**30]).with_unit(2**30) == "1.074 GB"


class TestTimeScale:
    @pytest.mark.parametrize(
        ("largest", "text"),
        [
            (0, "0 s"),
            (3.5, "3.500 s"),
            (1.12e-3, "1.120 ms"),
            (0.016667, "16.67 ms"),
            (8e-6, "8.000 µs"),
            (1.5e-9, "1.500 ns"),
            (1e-12, "<0.001 ns"),
        ],
    )
    def test_the_largest_value_decides(self, largest: float, text: str) -> None:
        assert time_scale([largest]).with_unit(largest) in (text, text.replace("<0.001", "0.001"))

    def test_seconds_stay_seconds(self) -> None:
        assert time_scale([7200.0]).with_unit(7200.0) == "7,200 s"


class TestSentences:
    def test_three_digits(self) -> None:
        assert bytes_text(11_012_345_678) == "11.0 GB"
        assert bytes_text(480) == "480 B"
        assert bytes_text(0) == "0 B"
        assert time_text(0.01234) == "12.3 ms"
        assert time_text(7.0) == "7.00 s"

    @pytest.mark.parametrize("write", [bytes_text, time_text, share_text, factor_text])
    @pytest.mark.parametrize("value", [None, math.nan])
    def test_what_is_missing(self, write, value) -> None:
        assert write(value) == "n/a"

    def test_missing_has_no_unit(self) -> None:
        assert byte_scale([1e9]).with_unit(None) == "n/a"

    def test_shares(self) -> None:
        assert [share_text(value) for value in (0.8543, -0.0004, -0.058, 1.0)] == [
            "85.4 %",
            "0.0 %",
            "-5.8 %",
            "100.0 %",
        ]

    def test_factors(self) -> None:
        assert [factor_text(value) for value in (1.0, 5.996, 99.9, 1234.5)] == [
            "1.00x",
            "6.00x",
            "99.90x",
            "1,234x",
        ]
