"""Quantity strings to SI numbers and back.

`GB` = 1e9 bytes, `GiB` = 2^30 bytes, `Gbit` = `Gb` = 1e9 bits: `B` and `b` differ, so case is never guessed.
Arithmetic is exact until the last step, so `400 Gbit/s` is `50 GB/s` to the bit. A bare number is an error.
"""

import math
import re
from fractions import Fraction
from typing import NoReturn

_DECIMAL = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),  # micro sign
    "μs": Fraction(1, 10**6),  # Greek mu
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
}
_SPELLED_SIZES = {
    "TB": Fraction(10**12),
    "GB": Fraction(10**9),
    "GiB": Fraction(2**30),
    "MB": Fraction(10**6),
    "MiB": Fraction(2**20),
}
_SPELLED_RATES = {f"{unit}/s": _SPELLED_SIZES[unit] for unit in ("TB", "GB", "MB")}
_SPELLED_TIMES = {unit: _SECONDS[unit] for unit in ("s", "ms", "us", "ns")}
_NUMBER = re.compile(r"[-+]?(\d+(_\d+)*(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?\.?(inf|infinity|nan)\b", re.IGNORECASE)
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+", re.ASCII)
_SIZE_UNIT = re.compile(r"(?P<prefix>[kKMGTPE]?|[KMGTPE]i)(?P<base>B|bytes?|b|bits?)")
_MOST_CHARACTERS = 60
_LARGEST_EXPONENT = 330  # every float has a spelling
_LARGEST = 10**30
_MOST_BYTES = 2**62  # sizes stay exact in 64-bit integers
_LONGEST_SPELLED = 1e6

_BANDWIDTH_EXAMPLES = "'{0} Gbit/s' or '{0} GB/s'"
_BYTES_EXAMPLES = "'{0} GB' or '{0} GiB'"
_DURATION_EXAMPLES = "'{0} us' or '{0} ms'"


class UnitError(ValueError):
    """A text that is not a quantity of the wanted kind; the message says what would be."""


def parse_bytes(value: object, *, allow_zero: bool = False) -> int:
    """Bytes of a text such as '80 GB', '40 GiB' or '512 B'. Raises UnitError, also for a fraction of a byte."""
    number, unit = _split(value, _BYTES_EXAMPLES)
    size = number * _bytes_in(unit, whole=str(value), per_second=False)
    if size.denominator != 1:
        raise UnitError(f"{value!r} is not a whole number of bytes")
    _check_range(size, value, allow_zero=allow_zero, largest=_MOST_BYTES)
    return int(size)


def parse_bandwidth(value: object, *, allow_zero: bool = False) -> float:
    """Bytes per second of a text such as '25Gbps', '400 Gbit/s', '25 GB/s' or '25GiB/s'. Raises UnitError."""
    number, unit = _split(value, _BANDWIDTH_EXAMPLES)
    if re.fullmatch(r"\S*[bB]ps", unit):
        size_unit = unit[:-2]
    elif match := re.fullmatch(r"(\S+?)\s*/\s*s", unit):
        size_unit = match[1]
    else:
        _refuse_bandwidth_unit(value, unit)
    rate = number * _bytes_in(size_unit, whole=str(value), per_second=True)
    _check_range(rate, value, allow_zero=allow_zero)
    return float(rate)


def parse_duration(value: object, *, allow_zero: bool = False) -> float:
    """Seconds of a text such as '1.5 us', '10 ms' or '1e-6 s'. Raises UnitError."""
    number, unit = _split(value, _DURATION_EXAMPLES)
    if unit not in _SECONDS:
        raise UnitError(f"{value!r} is not a duration: {unit!r} is not one of the units ns, us, ms, s")
    seconds = number * _SECONDS[unit]
    _check_range(seconds, value, allow_zero=allow_zero)
    return float(seconds)


def parse_ratio(value: object) -> float:
    """A ratio written '7:1', '3:2' or as the plain number 7. Raises UnitError."""
    text = _number_text(value)
    upper, colon, lower = text.partition(":")
    numbers = [_number(part.strip(), value) for part in ((upper, lower) if colon else (upper,))]
    if any(number <= 0 for number in numbers):
        raise UnitError(f"{value!r} is not a positive ratio: write it like '7:1'")
    ratio = numbers[0] / numbers[1] if colon else numbers[0]
    _check_range(ratio, value, allow_zero=False)
    return float(ratio)


def spell_bytes(size_bytes: int) -> str:
    """An exact spelling that `parse_bytes` reads back, in the largest unit that is short."""
    return _spelled(size_bytes, _SPELLED_SIZES, "B")


def spell_bandwidth(rate_bytes_per_s: float) -> str:
    """An exact spelling that `parse_bandwidth` reads back, in the largest unit that is short."""
    return _spelled(rate_bytes_per_s, _SPELLED_RATES, "B/s")


def spell_duration(time_s: float) -> str:
    """An exact spelling that `parse_duration` reads back, in the largest unit that is short."""
    return _spelled(time_s, _SPELLED_TIMES, "s")


def format_bytes(size_bytes: float) -> str:
    """For people: three significant digits, '6.4 GB'."""
    return _scaled(size_bytes, "B")


def format_bandwidth(rate_bytes_per_s: float) -> str:
    """For people: three significant digits, '50 GB/s'."""
    return _scaled(rate_bytes_per_s, "B/s")


def format_duration(time_s: float) -> str:
    """For people: three significant digits, '1.12 ms'."""
    if not math.isfinite(time_s):
        return "n/a"
    if time_s == 0:
        return "0 s"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if abs(time_s) * scale >= 0.9995:
            return f"{_three_digits(time_s * scale)} {unit}"
    return f"{_three_digits(time_s * 1e9)} ns"


def _spelled(number: float, units: dict[str, Fraction], base: str) -> str:
    for unit, scale in units.items():
        digits = f"{number / float(scale):.9g}"
        exact = Fraction(digits) * scale
        is_short = 1 <= abs(Fraction(digits)) < _LONGEST_SPELLED
        if is_short and (exact if isinstance(number, int) else float(exact)) == number:
            return f"{digits} {unit}"
    return f"{number!r} {base}"


def _split(value: object, examples: str) -> tuple[Fraction, str]:
    """The number and the unit of a quantity."""
    text = _number_text(value)
    match = _NUMBER.match(text)
    if match is None or _GROUPED.match(text):
        _number(text.split(" ")[0], value, examples)
    assert match is not None
    number, unit = _number(match[0], value), text[match.end() :].strip()
    if not unit:
        raise UnitError(f"the bare number {text} has no unit: write {examples.format(text)}")
    return number, unit


def _number_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnitError(f"{value!r} is not a quantity: write a number and its unit")
    text = str(value).strip()
    if len(text) > _MOST_CHARACTERS:
        raise UnitError(f"{text[:20]!r}... is too long for a quantity")
    return text


def _number(text: str, value: object, examples: str = "") -> Fraction:
    if _GROUPED.match(text):
        plain = text.replace(",", "_")
        raise UnitError(f"{value!r} has commas in its number: write {plain}")
    if _INFINITE.match(text):
        raise UnitError(f"{value!r} is not a finite number")
    match = _NUMBER.fullmatch(text)
    if match is None:
        hint = f": write it like {examples.format(25)}" if examples else ""
        raise UnitError(
            f"{value!r} does not start with a number{hint}" if examples else f"{value!r} is not a number"
        )
    if match[4] and abs(int(match[4][1:])) > _LARGEST_EXPONENT:
        raise UnitError(f"{value!r} is out of range: exponents go to {_LARGEST_EXPONENT}")
    return Fraction(text)


def _bytes_in(unit: str, *, whole: str, per_second: bool) -> Fraction:
    """Bytes in one of `unit`, a size such as 'GiB' or 'Gbit'."""
    match = _SIZE_UNIT.fullmatch(unit)
    if match is None:
        _refuse_size_unit(unit, whole, per_second=per_second)
    prefix, bits = match["prefix"], match["base"][:1] == "b" and not match["base"].startswith("byte")
    scale = 1024 ** _BINARY[prefix] if prefix in _BINARY else 1000 ** _DECIMAL[prefix]
    return Fraction(scale, 8 if bits else 1)


def _refuse_size_unit(unit: str, whole: str, *, per_second: bool) -> NoReturn:
    suffix = "/s" if per_second else ""
    kind = "bandwidth" if per_second else "size"
    if match := re.fullmatch(r"([kmgtpe]i?)(b|bits?|bytes?)", unit, re.IGNORECASE):
        prefix = match[1][0].upper() + match[1][1:].lower()
        raise UnitError(
            f"{whole!r} is ambiguous, for b and B differ: "
            f"write {prefix}B{suffix} for bytes or {prefix}bit{suffix} for bits"
        )
    example = "GB/s, GiB/s or Gbit/s" if per_second else "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"
    raise UnitError(f"{whole!r} is not a {kind}: {unit!r} is not one of the units {example}")


def _refuse_bandwidth_unit(value: object, unit: str) -> NoReturn:
    if _SIZE_UNIT.fullmatch(unit):
        raise UnitError(f"{value!r} is a size, not a bandwidth: write {f'{value}/s'!r}")
    if re.fullmatch(r"[kmgtpe]i?bp?s", unit, re.IGNORECASE):
        _refuse_size_unit(unit.rstrip("sS").rstrip("pP"), str(value), per_second=True)
    raise UnitError(f"{value!r} is not a bandwidth: {unit!r} is not one of the units GB/s, GiB/s or Gbit/s")


def _check_range(number: Fraction, value: object, *, allow_zero: bool, largest: int = _LARGEST) -> None:
    if number < 0:
        raise UnitError(f"{value!r} is negative")
    if number == 0 and not allow_zero:
        raise UnitError(f"{value!r} is zero: it must be greater")
    if number > largest:
        raise UnitError(f"{value!r} is out of range")


def _scaled(number: float, unit: str) -> str:
    if not math.isfinite(number):
        return "n/a"
    for prefix, scale in (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= 0.9995 * scale:
            return f"{_three_digits(number / scale)} {prefix}{unit}"
    return f"{_three_digits(number)} {unit}"


def _three_digits(number: float) -> str:
    """Three significant digits, never in scientific notation, no trailing zeros."""
    rounded = float(f"{number:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded)))) if rounded else 0
    text = f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
