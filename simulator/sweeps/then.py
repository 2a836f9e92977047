"""Which points of a quick first pass are worth a second, closer one."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from simulator.config.model import StrictModel
from simulator.experiment.spec import Engine
from simulator.sweeps.pareto import front

Metric = Literal["communication_s", "communication_without_sync_s", "iteration_s"]
ALLOWED = "allowed: 'all', 'pareto', 'best 5' or 'best 10 %'"
_BEST = re.compile(r"best (\d+(?:\.\d+)?) ?(%?)")


def _parse_rule(value: object) -> str:
    """The rule's text. Raises ValueError."""
    if value in ("all", "pareto"):
        return str(value)
    match = _BEST.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is no rule, {ALLOWED}")
    number = float(match[1])
    if number <= 0 or (match[2] and number > 100) or (not match[2] and not number.is_integer()):
        raise ValueError(f"{value!r} chooses no points, {ALLOWED}")
    return match[0]


Rule = Annotated[
    str,
    PlainValidator(_parse_rule),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["best 10 %", "best 5", "pareto", "all"]}),
]


class ThenSpec(StrictModel):
    """A second pass over some of the points, with another engine."""

    engine: Engine = Field("fluid", description="of the second pass; default fluid")
    rule: Rule = Field(
        alias="for",
        description="best N or best N % of each policy's points, pareto (memory against `by`), or all; required",
    )
    by: Metric = Field("communication_s", description="what is best when it is low; default communication_s")


def chosen(rule: str, figures: Sequence[tuple[str, float, float]]) -> list[int]:
    """Indices of the points that a rule chooses, ascending, of (policy, metric, memory) each.

    `best` goes by policy, so that the second pass compares policies too; ties go to the earlier point. `pareto`
    is over all points.
    """
    everything = range(len(figures))
    if rule == "all":
        return list(everything)
    if rule == "pareto":
        return front([(metric, memory) for _, metric, memory in figures])
    policies = dict.fromkeys(policy for policy, _, _ in figures)
    taken: list[int] = []
    for policy in policies:
        own = [index for index in everything if figures[index][0] == policy]
        taken += sorted(own, key=lambda index: figures[index][1])[: _share(rule)(len(own))]
    return sorted(taken)


def _share(rule: str) -> Callable[[int], int]:
    """How many of so many points `best` takes: at least one."""
    match = _BEST.fullmatch(rule)
    assert match is not None
    number = float(match[1])
    if match[2]:
        return lambda points: max(1, math.ceil(points * number / 100 - 1e-9))
    return lambda points: min(points, int(number))
