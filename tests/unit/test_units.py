import math

import pytest

from simulator.units import (
    UnitError,
    format_bandwidth,
    format_bytes,
    format_duration,
    parse_bandwidth,
    parse_bytes,
    parse_duration,
    parse_ratio,
    spell_bandwidth,
    spell_bytes,
    spell_duration,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80 GB", 80_000_000_000),
        ("80GB", 80_000_000_000),
        ("40 GiB", 40 * 2**30),
        ("1 KiB", 1024),
        ("1.5 kB", 1500),
        ("1 KB", 1000),
        ("512 B", 512),
        ("7 bytes", 7),
        ("1 TB", 10**12),
        ("1 PiB", 2**50),
        ("8 Gbit", 10**9),
        ("8 Gb", 10**9),
        ("1e3 MB", 10**9),
        ("10_000 B", 10_000),
        ("  2 MB ", 2_000_000),
        ("4611686018427387904 B", 2**62),
    ],
)
def test_parse_bytes(text: str, expected: int) -> None:
    size = parse_bytes(text)
    assert size == expected
    assert isinstance(size, int)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("400 Gbit/s", 50e9),
        ("400 Gb/s", 50e9),
        ("400Gbps", 50e9),
        ("50 GBps", 50e9),
        ("3.35 TB/s", 3.35e12),
        ("1 MB/s", 1e6),
        ("1 MiB/s", 2.0**20),
        ("1e9 B/s", 1e9),
        ("656 Gbit/s", 82e9),
        ("25 GB / s", 25e9),
        (".5 GB/s", 5e8),
        ("0.1 GB/s", 1e8),
    ],
)
def test_parse_bandwidth(text: str, expected: float) -> None:
    assert parse_bandwidth(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 ns", 1e-9),
        ("1.5 us", 1.5e-6),
        ("1.5 µs", 1.5e-6),
        ("1.5 μs", 1.5e-6),
        ("10 ms", 0.01),
        ("1e-6 s", 1e-6),
        ("2s", 2.0),
        ("0.0045 us", 4.5e-9),
    ],
)
def test_parse_duration(text: str, expected: float) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("7:1", 7.0), ("3:2", 1.5), ("1:2", 0.5), (7, 7.0), ("7", 7.0), (1.5, 1.5)]
)
def test_parse_ratio(value: object, expected: float) -> None:
    assert parse_ratio(value) == expected


@pytest.mark.parametrize(
    ("parse", "value", "said"),
    [
        (parse_bandwidth, "25", "the bare number 25 has no unit: write '25 Gbit/s' or '25 GB/s'"),
        (parse_bandwidth, 25, "the bare number 25 has no unit: write '25 Gbit/s' or '25 GB/s'"),
        (parse_bandwidth, 2.5, "the bare number 2.5 has no unit: write '2.5 Gbit/s' or '2.5 GB/s'"),
        (parse_bytes, "80", "the bare number 80 has no unit: write '80 GB' or '80 GiB'"),
        (parse_duration, 0, "the bare number 0 has no unit: write '0 us' or '0 ms'"),
        (
            parse_bandwidth,
            "25 gb/s",
            "'25 gb/s' is ambiguous, for b and B differ: write GB/s for bytes or Gbit/s for bits",
        ),
        (
            parse_bandwidth,
            "25gbps",
            "'25gbps' is ambiguous, for b and B differ: write GB/s for bytes or Gbit/s for bits",
        ),
        (parse_bandwidth, "25 gB/s", "'25 gB/s' is ambiguous"),
        (parse_bytes, "3 mb", "'3 mb' is ambiguous, for b and B differ: write MB for bytes or Mbit for bits"),
        (
            parse_bytes,
            "3 gib",
            "'3 gib' is ambiguous, for b and B differ: write GiB for bytes or Gibit for bits",
        ),
        (parse_bandwidth, "25 GB", "'25 GB' is a size, not a bandwidth: write '25 GB/s'"),
        (
            parse_bandwidth,
            "3 us",
            "'3 us' is not a bandwidth: 'us' is not one of the units GB/s, GiB/s or Gbit/s",
        ),
        (parse_bandwidth, "3 apples/s", "'apples' is not one of the units GB/s, GiB/s or Gbit/s"),
        (parse_bytes, "3 GB/s", "'3 GB/s' is not a size: 'GB/s' is not one of the units"),
        (
            parse_duration,
            "1 GB",
            "'1 GB' is not a duration: 'GB' is not one of the units ns, us, ms, s",
        ),
        (parse_duration, "1 MS", "'MS' is not one of the units ns, us, ms, s"),
        (parse_bytes, "8,000 GB", "'8,000 GB' has commas in its number: write 8_000"),
        (parse_bytes, "0.3 B", "'0.3 B' is not a whole number of bytes"),
        (parse_bytes, "-1 GB", "'-1 GB' is negative"),
        (parse_bytes, "0 GB", "'0 GB' is zero: it must be greater"),
        (parse_duration, "-1 us", "'-1 us' is negative"),
        (parse_bandwidth, "nan GB/s", "'nan GB/s' is not a finite number"),
        (parse_bandwidth, "inf GB/s", "'inf GB/s' is not a finite number"),
        (parse_bandwidth, "-.inf", "'-.inf' is not a finite number"),
        (parse_duration, float("inf"), "inf is not a finite number"),
        (parse_duration, float("nan"), "nan is not a finite number"),
        (
            parse_bandwidth,
            "fast",
            "'fast' does not start with a number: write it like '25 Gbit/s' or '25 GB/s'",
        ),
        (parse_bandwidth, "", "'' does not start with a number"),
        (parse_bandwidth, "1e999 GB/s", "'1e999 GB/s' is out of range: exponents go to 330"),
        (parse_bandwidth, "1e300 GB/s", "'1e300 GB/s' is out of range"),
        (parse_bytes, "1e30 B", "'1e30 B' is out of range"),
        (parse_bandwidth, "1" * 70, "is too long for a quantity"),
        (parse_bandwidth, True, "True is not a quantity: write a number and its unit"),
        (parse_bandwidth, None, "None is not a quantity"),
        (parse_bandwidth, ["25 GB/s"], "['25 GB/s'] is not a quantity"),
        (parse_ratio, "0:1", "'0:1' is not a positive ratio: write it like '7:1'"),
        (parse_ratio, "7:0", "'7:0' is not a positive ratio"),
        (parse_ratio, "-7:1", "'-7:1' is not a positive ratio"),
        (parse_ratio, "7:1:2", "'7:1:2' is not a number"),
        (parse_ratio, "seven", "'seven' is not a number"),
        (parse_ratio, "7:", "'7:' is not a number"),
        (parse_ratio, "1e300:1e-300", "'1e300:1e-300' is out of range"),
    ],
)
def test_refusals(parse: object, value: object, said: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse(value)  # type: ignore[operator]
    assert said in str(caught.value)


def test_zero_only_where_allowed() -> None:
    assert parse_duration("0 s", allow_zero=True) == 0
    assert parse_bytes("0 B", allow_zero=True) == 0
    assert parse_bandwidth("0 GB/s", allow_zero=True) == 0
    for parse, text in ((parse_duration, "0 s"), (parse_bytes, "0 B"), (parse_bandwidth, "0 GB/s")):
        with pytest.raises(UnitError, match="is zero"):
            parse(text)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0 B"),
        (7, "7 B"),
        (999, "999 B"),
        (999.7, "1 kB"),
        (1234, "1.23 kB"),
        (6.4e9, "6.4 GB"),
        (999.9e6, "1 GB"),
        (123_456_789, "123 MB"),
        (5.12e20, "512 EB"),
        (-1500, "-1.5 kB"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_format_bytes(size: float, expected: str) -> None:
    assert format_bytes(size) == expected


def test_format_bandwidth() -> None:
    assert format_bandwidth(50e9) == "50 GB/s"
    assert format_bandwidth(3.349e12) == "3.35 TB/s"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (0.0, "0 s"),
        (1.12e-3, "1.12 ms"),
        (7.0, "7 s"),
        (123.4, "123 s"),
        (12345.0, "12300 s"),
        (9.999e-4, "1 ms"),
        (4.5e-9, "4.5 ns"),
        (2e-13, "0.0002 ns"),
        (-0.005, "-5 ms"),
        (math.nan, "n/a"),
    ],
)
def test_format_duration(time: float, expected: str) -> None:
    assert format_duration(time) == expected


def test_spellings_are_short_where_they_can_be() -> None:
    assert spell_bandwidth(50e9) == "50 GB/s"
    assert spell_bandwidth(3.35e12) == "3.35 TB/s"
    assert spell_bytes(40 * 2**30) == "40 GiB"
    assert spell_bytes(80 * 10**9) == "80 GB"
    assert spell_duration(8e-6) == "8 us"
    assert spell_duration(0.0) == "0.0 s"
