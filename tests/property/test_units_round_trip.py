from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.units import (
    UnitError,
    format_bandwidth,
    format_duration,
    parse_bandwidth,
    parse_bytes,
    parse_duration,
    parse_ratio,
    spell_bandwidth,
    spell_bytes,
    spell_duration,
)


@given(st.floats(min_value=1e-300, max_value=1e30))
def test_a_spelled_bandwidth_reads_back_to_the_bit(rate_bytes_per_s: float) -> None:
    assert parse_bandwidth(spell_bandwidth(rate_bytes_per_s)) == rate_bytes_per_s


@given(st.floats(min_value=0, max_value=1e30))
def test_a_spelled_duration_reads_back_to_the_bit(time_s: float) -> None:
    assert parse_duration(spell_duration(time_s), allow_zero=True) == time_s


@given(st.integers(min_value=1, max_value=2**62))
def test_a_spelled_size_reads_back_exactly(size_bytes: int) -> None:
    assert parse_bytes(spell_bytes(size_bytes)) == size_bytes


@given(st.integers(min_value=1, max_value=10**6))
def test_eight_bits_are_one_byte(number: int) -> None:
    assert parse_bandwidth(f"{8 * number} Gbit/s") == parse_bandwidth(f"{number} GB/s") == number * 1e9


@given(st.floats(min_value=1e-9, max_value=1e17))
def test_formats_keep_three_digits(number: float) -> None:
    unit_s = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    value, unit = format_duration(number).split()
    assert float(value) * unit_s[unit] == pytest.approx(number, rel=5.1e-3)
    assert parse_bandwidth(format_bandwidth(number * 1e3)) == pytest.approx(number * 1e3, rel=5.1e-3)


@pytest.mark.parametrize("parse", [parse_bytes, parse_bandwidth, parse_duration, parse_ratio])
@given(
    value=st.one_of(
        st.text(max_size=80),
        st.from_regex(r"[-+]?[0-9._,:eE]{1,20} ?[kKMGTPmgnuµ]?i?[bB]?(its?|ytes?)?(/s|ps)?", fullmatch=True),
        st.floats(),
        st.integers(),
        st.none(),
        st.booleans(),
        st.lists(st.integers(), max_size=2),
    )
)
def test_anything_is_read_or_refused(parse: Callable[[object], float], value: object) -> None:
    number, said = read(parse, value)
    assert len(said.splitlines()) == (number is None)
    assert number is None or 0 < number <= 1e30


def read(parse: Callable[[object], float], value: object) -> tuple[float | None, str]:
    try:
        return parse(value), ""
    except UnitError as error:
        return None, str(error)
