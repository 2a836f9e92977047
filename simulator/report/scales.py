"""How quantities are written for people: one unit for a column or an axis, enough digits, "n/a" for nothing."""

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
    """The decimal unit (GB = 1e9 bytes) in which the largest value is at least 1."""
    return _fitting(values, BYTE_UNITS, whole_unit="B")


def time_scale(values: Iterable[float | None]) -> Scale:
    """The unit of time in which the largest value is at least 1."""
    return _fitting(values, TIME_UNITS, whole_unit="")


def bytes_text(value: float | None) -> str:
    """One byte count in the unit that fits it."""
    return byte_scale([value]).with_unit(value)


def time_text(value: float | None) -> str:
    """One time in the unit that fits it."""
    return time_scale([value]).with_unit(value)


def share_text(value: float | None) -> str:
    """A share as a percentage with three significant digits at most."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{100 * value:.1f} %"


def factor_text(value: float | None) -> str:
    """A ratio such as a speed-up; three digits tell all that a simulation can."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.2f}x" if abs(value) < 99.995 else f"{value:,.0f}x"


def _fitting(
    values: Iterable[float | None], units: tuple[tuple[str, float], ...], *, whole_unit: str
) -> Scale:
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    unit, size = next(((unit, size) for unit, size in units if largest >= size), units[-1])
    if largest == 0:
        unit, size = units[-1] if whole_unit else units[0]
        return Scale(unit, size, 0)
    if unit == whole_unit:
        return Scale(unit, size, 0)
    return Scale(
        unit, size, max(0, 3 - int(math.log10(max(largest / size, 1.0)))) if largest < 1e4 * size else 0
    )
