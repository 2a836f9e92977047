"""How quantities are written for people: one unit for a column or an axis, enough digits, "n/a" for none."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MISSING = "n/a"
BYTE_UNITS = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
TIME_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


DIGITS = 3
SMALLEST_TYPICAL = 0.01  # of the largest value, so that none shows more than five digits before the point


@dataclass(frozen=True)
class Scale:
    """A unit shared by several values, and the decimals that give the lower ones about three digits."""

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
    """The decimal unit (GB = 1e9 bytes) that fits the median of the values; single bytes stay whole."""
    scale = _fitting(values, BYTE_UNITS)
    return Scale("B", 1.0, 0) if scale.unit == "B" else scale


def time_scale(values: Iterable[float | None]) -> Scale:
    """The unit of time that fits the median of the values; seconds when all are 0."""
    return _fitting(values, TIME_UNITS)


def bytes_text(value: float | None) -> str:
    """One byte count in the unit that fits it, with three digits."""
    return byte_scale([value]).with_unit(value)


def time_text(value: float | None) -> str:
    """One time in the unit that fits it, with three digits."""
    return time_scale([value]).with_unit(value)


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
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if not sizes:
        return Scale(next(unit for unit, size in units if size == 1), 1.0, 0)
    typical = max(sizes[len(sizes) // 2], sizes[-1] * SMALLEST_TYPICAL)
    unit, size = next((each for each in units if typical >= each[1]), units[-1])
    small = sizes[len(sizes) // 4]
    whole_digits = len(str(int(small / size)))
    return Scale(unit, size, max(0, DIGITS - whole_digits))
