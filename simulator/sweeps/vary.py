"""What a sweep varies: keys, and the combinations of their values.

A key is a path into the inputs:

    topology, workload            another file, relative to the sweep file
    topology.KEY, workload.KEY    a key of that file, as `with_` takes it: topology.scale_out.nic_bandwidth,
                                  workload.tables.items.popularity.s (`workload.tables.*` for every table)
    policies.LABEL.KEY            an option or a switch of one policy; other policies have no part in it
    execution.KEY                 a switch of all policies
    seed                          of the draws

`grid` is every combination, the first key slowest; `list` is the combinations as given; `random` draws `count`.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from simulator.config.errors import Finding, refuse
from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.seeds import generator

Values = Mapping[str, Any]  # of the varied keys, in their order

WHOLE_KEYS = ("topology", "workload", "seed")
PARTS = ("topology", "workload", "policies", "execution")
MOST_POINTS = 200_000  # of a grid; validating so many takes half a minute
DRAWN_DIGITS = 6
_QUANTITY = re.compile(r"\s*([-+]?[\d_.]+(?:[eE][-+]?\d+)?)\s*(.*?)\s*")


class Range(StrictModel):
    """Values between two ends, which are numbers or quantities of one unit: {from: 1 us, to: 10 us, scale: log}."""

    model_config = ConfigDict(populate_by_name=True)

    from_: float | int | str = Field(alias="from", description="the lower end; required")
    to: float | int | str = Field(description="the upper end; required")
    scale: Literal["linear", "log"] = Field("linear", description="in which they are even; default linear")

    @model_validator(mode="after")
    def _ascending(self) -> "Range":
        (low, low_unit), (high, high_unit) = _parsed(self.from_), _parsed(self.to)
        if math.isnan(low) or math.isnan(high):
            refuse([Finding((), "both ends must be numbers, or quantities such as '100 Gbit/s'")])
        if low_unit != high_unit:
            refuse([Finding(("to",), f"has another unit ({high_unit!r}) than `from` ({low_unit!r})")])
        if not low < high:
            refuse([Finding(("to",), f"{self.to} is not above {self.from_}")])
        if self.scale == "log" and low <= 0:
            refuse([Finding(("from",), f"{self.from_} has no logarithm")])
        return self

    def draw(self, rng: np.random.Generator) -> Any:
        """One value, to six digits; a whole number between whole numbers."""
        (low, unit), (high, _) = _parsed(self.from_), _parsed(self.to)
        share = float(rng.random())
        if self.scale == "log":
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        if isinstance(self.from_, int) and isinstance(self.to, int):
            return round(value)
        drawn = float(f"{value:.{DRAWN_DIGITS}g}")
        return f"{drawn:.{DRAWN_DIGITS}g} {unit}" if unit else drawn


def _parsed(end: float | int | str) -> tuple[float, str]:
    """Number and unit; NaN for what is neither."""
    match = _QUANTITY.fullmatch(str(end))
    if match is None or isinstance(end, bool):
        return math.nan, ""
    try:
        return float(match[1]), match[2]
    except ValueError:
        return math.nan, ""


class RandomSpec(StrictModel):
    """Points drawn independently."""

    count: PositiveCount = Field(description="points of each policy; required")
    seed: int = Field(0, ge=0, description="of the draws of values; default 0")
    keys: dict[str, list[Any] | Range] = Field(description="of each key a list to choose from, or a range")


def _grid_from_keys(value: Any, handler: ValidatorFunctionWrapHandler) -> "VarySpec":
    """A mapping of keys alone is a grid; what is wrong with it is told where it stands in the file."""
    if not isinstance(value, Mapping) or set(value) & {"grid", "list", "random"}:
        found: VarySpec = handler(value)
        return found
    findings = [Finding((key,), text) for key, values in value.items() if (text := grid_problem(key, values))]
    if findings:
        refuse(findings)
    found = handler({"grid": value})
    found._plain = True
    return found


def grid_problem(key: Any, values: Any) -> str:
    """What is wrong with a key of a grid or its values; empty if nothing is."""
    if text := key_problem(str(key)):
        return text
    if not isinstance(values, list):
        return f"found {values!r}, allowed: a list"
    return "" if values else "the list is empty"


class VarySpec(StrictModel):
    """One of three ways to choose points. A mapping of keys alone is a grid."""

    model_config = ConfigDict(populate_by_name=True)

    grid: dict[str, list[Any]] | None = Field(None, description="every combination of these values")
    list_: list[dict[str, Any]] | None = Field(None, alias="list", description="these combinations")
    random: RandomSpec | None = Field(None, description="combinations drawn at random")
    _plain: bool = PrivateAttr(default=False)  # whether it was a mapping of keys alone

    @model_validator(mode="after")
    def _one_way(self) -> "VarySpec":
        ways = [way for way in (self.grid, self.list_, self.random) if way is not None]
        if len(ways) != 1:
            refuse([Finding((), "give one of grid, list and random")])
        findings = [Finding(self.path_of(key), text) for key in self.keys if (text := key_problem(key))]
        empty = [key for key, values in (self.grid or {}).items() if not values]
        findings += [Finding(("grid", key), "the list is empty") for key in empty]
        if not self.keys and not findings:
            findings.append(Finding((), "nothing is varied"))
        if not empty and self.count > MOST_POINTS:
            findings.append(Finding((), f"{self.count:,} combinations, at most {MOST_POINTS:,} are allowed"))
        if findings:
            refuse(findings)
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """All varied keys, in the order of the file."""
        if self.grid is not None:
            return tuple(self.grid)
        if self.random is not None:
            return tuple(self.random.keys)
        return tuple(dict.fromkeys(key for entry in self.list_ or () for key in entry))

    def path_of(self, key: str) -> tuple[str | int, ...]:
        """Where a varied key stands in the file, from `vary` on; of a list, in the first combination that has it."""
        if self.random is not None:
            return ("random", "keys", key)
        if self.grid is not None:
            return (key,) if self._plain else ("grid", key)
        return ("list", next(place for place, entry in enumerate(self.list_ or ()) if key in entry), key)

    @property
    def count(self) -> int:
        """Combinations."""
        if self.grid is not None:
            return math.prod(map(len, self.grid.values()))
        return self.random.count if self.random is not None else len(self.list_ or ())

    def combinations(self) -> Iterator[dict[str, Any]]:
        """The values of each combination."""
        if self.grid is not None:
            for values in itertools.product(*self.grid.values()):
                yield dict(zip(self.grid, values, strict=True))
        elif self.random is not None:
            for index in range(self.random.count):
                yield _drawn(self.random, index)
        else:
            yield from self.list_ or ()


Vary = Annotated[VarySpec, WrapValidator(_grid_from_keys)]


def _drawn(spec: RandomSpec, index: int) -> dict[str, Any]:
    """Point `index`: drawing more points, or another key, changes none of the others."""
    values = {}
    for key, choice in spec.keys.items():
        rng = generator(spec.seed, f"sweep {key}", index)
        values[key] = choice.draw(rng) if isinstance(choice, Range) else choice[rng.integers(len(choice))]
    return values


def key_problem(key: str) -> str:
    """What is wrong with the form of a key; empty if nothing is."""
    part, _, rest = key.partition(".")
    if key in WHOLE_KEYS or (part in PARTS and rest and (part != "policies" or "." in rest)):
        return ""
    allowed = "topology.KEY, workload.KEY, policies.LABEL.KEY, execution.KEY, topology, workload or seed"
    return f"the key {key!r} is none that can be varied, allowed: {allowed}"
