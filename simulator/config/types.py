"""Types of schema fields: quantities with units, counts and shares, each checked once on the way in.

Use them as annotations in a `StrictModel`; inside a frozen model a `Bandwidth` is a float in bytes per second,
`Bytes` an int, `Duration` a float in seconds, and so on. Every default belongs in the same SI unit.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

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

LEAST_BYTES_PER_S = 1e-9
MOST_BYTES_PER_S = 1e18
MOST_DURATION_S = 1e6
MOST_BYTES = 1e18  # a million times what a GPU has: tests of huge tables need the room
MOST_FOLDER_BYTES = 200
LEAST_FACTOR, MOST_FACTOR = 1e-9, 1e9

_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+", re.ASCII)
_LARGEST_COUNT = 2**62


def parse_count(value: object) -> int:
    """A whole number: 8, 10_000_000 or 1e9. Raises ValueError."""
    if isinstance(value, str) and _GROUPED.fullmatch(value.strip()):
        raise ValueError(f"{value!r} has commas: write {value.strip().replace(',', '_')}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("must be a whole number")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r} is not a whole number")
    if abs(value) > _LARGEST_COUNT:
        raise ValueError(f"{value!r} is out of range: at most 2^62")
    return int(value)


def parse_number(value: object) -> float:
    """A finite number. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("must be a number")
    if isinstance(value, int) and abs(value) > _LARGEST_COUNT:
        raise ValueError("is out of range")
    if not math.isfinite(value):
        raise ValueError("must be finite")
    return float(value)


def parse_name(value: str) -> str:
    """A text that tables and terminals can show in a line. Raises ValueError."""
    if not value.isprintable() or not value.strip():
        raise ValueError("must be one line of printable characters")
    return value


def parse_folder_name(value: str) -> str:
    """A name that is a folder's as well, and leads nowhere else. Raises ValueError."""
    if set(value) & set("/\\") or value.strip() in (".", ".."):
        raise ValueError("must be able to name a folder: no / and no \\, neither . nor ..")
    if len(value.encode()) > MOST_FOLDER_BYTES:
        raise ValueError(f"must be able to name a folder: at most {MOST_FOLDER_BYTES} bytes")
    return parse_name(value)


@dataclass(frozen=True)
class _Kind:
    """How quantities of one dimension are read and spelled, and between which limits they make sense."""

    parse: Callable[..., float]
    spell: Callable[..., str]
    format: Callable[[float], str]
    least: float
    most: float

    def read(self, value: object, *, allow_zero: bool) -> float:
        """A quantity. Raises UnitError."""
        number = self.parse(value, allow_zero=allow_zero)
        if number > self.most:
            raise UnitError(f"{value!r} is too much: at most {self.format(self.most)}")
        if 0 < number < self.least:
            raise UnitError(f"{value!r} is too little: at least {self.format(self.least)}")
        return number


_BYTES = _Kind(parse_bytes, spell_bytes, format_bytes, 1, math.inf)
_BANDWIDTH = _Kind(parse_bandwidth, spell_bandwidth, format_bandwidth, LEAST_BYTES_PER_S, MOST_BYTES_PER_S)
_DURATION = _Kind(parse_duration, spell_duration, format_duration, 0, MOST_DURATION_S)


def _quantity(kind: _Kind, example: str, *, allow_zero: bool = False) -> tuple[Any, ...]:
    """Reads a text with a unit; `model_dump(mode="json")` writes one that reads back to the same number."""
    return (
        BeforeValidator(partial(kind.read, allow_zero=allow_zero)),
        PlainSerializer(kind.spell, return_type=str, when_used="json-unless-none"),
        WithJsonSchema({"type": "string", "examples": [example]}, mode="validation"),
    )


def _bounded(
    lowest: float, *, above: bool = False, least: float = -math.inf, highest: float = math.inf
) -> Callable[[float], float]:
    """A check of a number's range; `above` leaves the lowest out, and what is above it is `least` or more."""

    def check(value: float) -> float:
        """`value` when it is in the range; raises ValueError that names the limit."""
        if value < lowest or (above and value == lowest):
            raise ValueError(f"must be {'greater than' if above else 'at least'} {lowest:g}")
        if value < least:
            raise ValueError(f"must be at least {least:g}")
        if value > highest:
            raise ValueError(f"must be at most {highest:g}")
        return value

    return check


def _count(lowest: int) -> tuple[Any, Any]:
    def parse(value: object) -> int:
        return int(_bounded(lowest)(parse_count(value)))

    return BeforeValidator(parse), WithJsonSchema({"type": "number", "minimum": lowest, "multipleOf": 1})


def _number(
    lowest: float, *, above: bool = False, least: float = -math.inf, highest: float = math.inf
) -> tuple[Any, Any]:
    def parse(value: object) -> float:
        return _bounded(lowest, above=above, least=least, highest=highest)(parse_number(value))

    schema: dict[str, Any] = {"type": "number", "exclusiveMinimum" if above else "minimum": lowest}
    if least > lowest:
        schema = {"type": "number", "minimum": least}
    if math.isfinite(highest):
        schema["maximum"] = highest
    return BeforeValidator(parse), WithJsonSchema(schema)


Bytes = Annotated[int, *_quantity(_BYTES, "80 GB")]
BytesOrZero = Annotated[int, *_quantity(_BYTES, "0 B", allow_zero=True)]
Bandwidth = Annotated[float, *_quantity(_BANDWIDTH, "400 Gbit/s")]
Duration = Annotated[float, *_quantity(_DURATION, "1.5 us", allow_zero=True)]
PositiveDuration = Annotated[float, *_quantity(_DURATION, "1.5 us")]
Ratio = Annotated[
    float, BeforeValidator(parse_ratio), WithJsonSchema({"type": ["string", "number"], "examples": ["7:1"]})
]
Count = Annotated[int, *_count(0)]
PositiveCount = Annotated[int, *_count(1)]
Share = Annotated[float, *_number(0, highest=1)]
PositiveShare = Annotated[float, *_number(0, above=True, highest=1)]
NonNegative = Annotated[float, *_number(0)]
Positive = Annotated[float, *_number(0, above=True)]
Factor = Annotated[float, *_number(0, above=True, least=LEAST_FACTOR, highest=MOST_FACTOR)]
Efficiency = Annotated[float, *_number(0, above=True, least=LEAST_FACTOR, highest=1)]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
Name = Annotated[Text, AfterValidator(parse_name)]
FolderName = Annotated[Text, AfterValidator(parse_folder_name)]
