"""How quantities are written for people: one unit for a column or an axis, enough digits, "n/a" for none."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MISSING = "n/a"
BYTE_UNITS = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
TIME_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True)
class Scale:
    """A unit shared by several values, and the decimals that give the largest of them about four digits."""

    unit: str
    size: float  # of one unit, in SI
    decimals: int

    def text(self, value: float | None) -> str:
        """The number alone; a value too small for the decimals is shown as below the smallest step."""
        if value is None or math.isnan(value):
            return MISSING
        scaled, step = value / self.size, 10.0**-self.decimals
        if 0 < abs(scaled) < step / 2:
            return f"{'-' if value < 0 else ''}<{step:.{self.decimals}f}"
        return f"{scaled:,.{self.decimals}f}"

    def with_unit(self, value: float | None) -> str:
        """The number and its unit."""
        text = self.text(value)
        return text if text == MISSING else f"{text} {self.unit}"


def byte_scale(values: Iterable[float | None]) -> Scale:
    """The decimal unit (GB = 1e9 bytes) in which the largest value is at least 1; single bytes stay whole."""
    scale = _fitting(values, BYTE_UNITS)
    return Scale("B", 1.0, 0) if scale.unit == "B" else scale


def time_scale(values: Iterable[float | None]) -> Scale:
    """The unit of time in which the largest value is at least 1; seconds when all are 0."""
    return _fitting(values, TIME_UNITS)


def bytes_text(value: float | None) -> str:
    """One byte count in the unit that fits it, with three digits."""
    return _short(value, byte_scale([value]))


def time_text(value: float | None) -> str:
    """One time in the unit that fits it, with three digits."""
    return _short(value, time_scale([value]))


def share_text(value: float | None) -> str:
    """A share as a percentage with one decimal; one that rounds to zero has no sign."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{round(100 * value, 1) + 0.0:.1f} %"


def factor_text(value: float | None) -> str:
    """A ratio such as a speed-up; three digits tell all that a simulation can."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.2f}x" if abs(value) < 99.995 else f"{value:,.0f}x"


def _fitting(values: Iterable[float | None], units: tuple[tuple[str, float], ...]) -> Scale:
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    if largest == 0:
        return Scale(next(unit for unit, size in units if size == 1), 1.0, 0)
    unit, size = next((each for each in units if largest >= each[1]), units[-1])
    whole_digits = len(str(int(largest / size)))
    return Scale(unit, size, max(0, 4 - whole_digits))


def _short(value: float | None, scale: Scale) -> str:
    if value is None or math.isnan(value):
        return MISSING
    return f"{value / scale.size:,.{max(0, scale.decimals - 1)}f} {scale.unit}"
