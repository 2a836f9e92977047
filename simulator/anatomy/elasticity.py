"""Elasticities of a communication time as values; `explanation/` computes them by running again."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Elasticity:
    """One knob's. `changed_s` is the communication time with the knob at `factor`."""

    knob: str
    factor: float
    base_s: float
    changed_s: float

    @property
    def value(self) -> float | None:
        """None where there is no communication."""
        if self.base_s <= 0 or self.changed_s <= 0:
            return None
        return math.log(self.changed_s / self.base_s) / math.log(self.factor)


@dataclass(frozen=True)
class Elasticities:
    """Of one point: knobs that it has, and why others could not be turned."""

    of: tuple[Elasticity, ...]
    refused: tuple[tuple[str, str], ...]  # knob, error

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "elasticities": [asdict(each) | {"value": each.value} for each in self.of],
            "not_turned": [{"knob": knob, "why": why} for knob, why in self.refused],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Elasticities":
        """The value whose `to_json` is in `data`. Raises KeyError or TypeError for anything else."""
        return cls(
            tuple(
                Elasticity(each["knob"], each["factor"], each["base_s"], each["changed_s"])
                for each in data["elasticities"]
            ),
            tuple((each["knob"], each["why"]) for each in data["not_turned"]),
        )
