"""What-if edits: a copy of a workload with some keys of its file changed.

Keys are those of the file, with their path: `batch_per_rank`, `dense.parameters`, `tables.items.popularity.s`.
Tables go by their name in the file (all that a `count` makes are changed together), and `tables.*` stands for every
table. As Python arguments dots are written `__`. Values are what YAML would hold: quantities are text with a unit.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from simulator.config.errors import ConfigError, Problem
from simulator.config.explain import explain
from simulator.workload.spec import WorkloadSpec

TABLES = "tables"
EVERY = "*"


def edited_spec(spec: WorkloadSpec, changes: Mapping[str, Any]) -> WorkloadSpec:
    """`spec` with `changes`. Raises ConfigError for unknown tables and for whatever a file would be refused for."""
    data = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    problems = []
    for key, value in changes.items():
        try:
            for owner, path in _places(data, key.replace("__", ".").split(".")):
                _put(owner, path, value, key)
        except ValueError as error:
            problems.append(Problem((), str(error)))
    if problems:
        raise ConfigError("", problems)
    try:
        return WorkloadSpec.model_validate(data)
    except ValidationError as error:
        raise ConfigError("", explain(error, data, WorkloadSpec)) from None


def _places(data: dict[str, Any], path: list[str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """The mappings that a path begins in, with what is left of it: the file itself, or tables."""
    if path[0] != TABLES or len(path) < 3:
        yield data, path
        return
    named = [table for table in data[TABLES] if path[1] in (EVERY, table["name"])]
    if not named:
        names = [table["name"] for table in data[TABLES]]
        near = difflib.get_close_matches(path[1], names, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no table {path[1]!r}, allowed: {', '.join(names)} or {EVERY}{hint}")
    for table in named:
        yield table, path[2:]


def _put(data: dict[str, Any], path: list[str], value: Any, key: str) -> None:
    for part in path[:-1]:
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            raise ValueError(f"{key} cannot be changed: {part} holds no keys here")
    data[path[-1]] = value
