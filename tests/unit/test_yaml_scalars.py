import math

import pytest

from simulator.config.scalars import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("true", True),
        ("False", False),
        ("yes", True),
        ("No", False),
        ("ON", True),
        ("off", False),
        ("nULL", "nULL"),
        ("tRUE", "tRUE"),
        ("none", "none"),
        ("y", "y"),
        ("n", "n"),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("10_000_000", 10_000_000),
        ("0x1F", 31),
        ("0o17", 15),
        ("1__0", "1__0"),
        ("_1", "_1"),
        ("1_", "1_"),
        ("8,000", "8,000"),
        ("8:1", "8:1"),
        ("1:30:00", "1:30:00"),
        ("2024-01-01", "2024-01-01"),
        ("1e9", 1e9),
        ("1E9", 1e9),
        ("1e+9", 1e9),
        ("-1.5e-3", -1.5e-3),
        ("1.", 1.0),
        (".5", 0.5),
        ("1_000.5", 1000.5),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("inf", "inf"),
        ("nan", "nan"),
        ("1.5 us", "1.5 us"),
        ("-", "-"),
        ("+", "+"),
        (".", "."),
        ("1e", "1e"),
        ("0x", "0x"),
        ("0b1", "0b1"),
        ("٣", "٣"),
        ("9223372036854775809", 2**63 + 1),
    ],
)
def test_resolve(text: str, value: object) -> None:
    resolved = resolve(text)
    assert resolved == value
    assert type(resolved) is type(value)


def test_nan() -> None:
    resolved = resolve(".nan")
    assert isinstance(resolved, float)
    assert math.isnan(resolved)


@pytest.mark.parametrize("text", ["9" * 401, "1." + "0" * 400, "0x" + "f" * 400])
def test_absurd_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="characters is too long"):
        resolve(text)


def test_long_text_is_text() -> None:
    assert resolve("9" * 401 + "x") == "9" * 401 + "x"
