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
            (1000, "kB", "1.00"),
            (20_000, "kB", "20.0"),
            (999_999, "kB", "1,000"),
            (6.4e9, "GB", "6.40"),
            (123.4e9, "GB", "123"),
            (1.5e15, "PB", "1.50"),
            (123_456e15, "PB", "123,456"),
        ],
    )
    def test_one_value(self, largest: float, unit: str, text: str) -> None:
        scale = byte_scale([largest])
        assert (scale.unit, scale.text(largest)) == (unit, text)

    def test_one_unit_for_all(self) -> None:
        scale = byte_scale([12.5e9, 3e9, 0, None])
        assert [scale.text(value) for value in (12.5e9, 3e9, 0, None)] == ["12.50", "3.00", "0.00", "n/a"]

    def test_the_median_decides_so_that_one_giant_hides_nothing(self) -> None:
        values = [4e9, 0.66e9, 3.5e9, 379.28e9, 0]
        scale = byte_scale(values)
        assert [scale.text(value) for value in values] == ["4.00", "0.66", "3.50", "379.28", "0.00"]

    def test_a_giant_has_five_digits_at_most(self) -> None:
        scale = byte_scale([1.0, 2.0, 3.0, 5e12])
        assert scale.with_unit(5e12) == "5,000.00 GB"
        assert scale.text(3.0) == "<0.01"

    def test_what_is_too_small_is_not_shown_as_nothing(self) -> None:
        scale = byte_scale([12.5e9])
        assert scale.text(100) == "<0.1"
        assert scale.text(-100) == "-<0.1"

    def test_nothing_known(self) -> None:
        assert byte_scale([None, math.nan]) == Scale("B", 1.0, 0)

    def test_decimal_units(self) -> None:
        assert byte_scale([2**30]).with_unit(2**30) == "1.07 GB"


class TestTimeScale:
    @pytest.mark.parametrize(
        ("largest", "text"),
        [
            (0, "0 s"),
            (3.5, "3.50 s"),
            (1.12e-3, "1.12 ms"),
            (0.016667, "16.7 ms"),
            (8e-6, "8.00 µs"),
            (1.5e-9, "1.50 ns"),
            (1e-12, "<0.01 ns"),
        ],
    )
    def test_one_value(self, largest: float, text: str) -> None:
        assert time_scale([largest]).with_unit(largest) == text

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
