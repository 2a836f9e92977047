"""Short names of varied keys, and their values as numbers to draw."""

import math
from collections.abc import Callable, Sequence

from simulator.units import UnitError, parse_bandwidth, parse_bytes, parse_duration

PARSERS: tuple[tuple[str, Callable[[object], float]], ...] = (
    ("B/s", parse_bandwidth),
    ("B", parse_bytes),
    ("s", parse_duration),
)


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Each key's last words, as many as tell it from the others: nic_bandwidth, items.popularity.s."""
    return {key: _shortest(key, [other for other in keys if other != key]) for key in keys}


def _shortest(key: str, others: Sequence[str]) -> str:
    words = key.split(".")
    for count in range(1, len(words)):
        name = ".".join(words[-count:])
        if not any(f".{other}".endswith(f".{name}") for other in others):
            return name
    return key


def as_numbers(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """The values of a key as numbers of one unit, which is empty for plain ones; None if they are no numbers."""
    split = [text.partition(" ") for text in texts]
    units = {unit for _, _, unit in split}
    if len(units) == 1 and all(_is_number(number) for number, _, _ in split):
        return [float(number) for number, _, _ in split], split[0][2]
    for unit, parse in PARSERS:
        try:
            return [float(parse(text)) for text in texts], unit
        except UnitError:
            continue
    return None


def meaning(value: object) -> object:
    """What a value of a key says, however it is spelled: equal for '100 Gbit/s' and '12.5 GB/s'."""
    if not isinstance(value, str):
        return value
    for unit, parse in PARSERS:
        try:
            return [float(parse(value)), unit]
        except UnitError:
            continue
    return value


def _is_number(text: str) -> bool:
    """Whether a text is a number that has a place on an axis."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
