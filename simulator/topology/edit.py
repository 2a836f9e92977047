"""What-if edits: a copy of a topology with some keys of its file changed.

Keys are those of the file. A name that stands in one place only is enough (`nic_bandwidth`), any other is
written with its path (`scale_up.latency`, or `scale_up__latency` as a Python argument). Values are what YAML
would hold: quantities are text with a unit.
"""

import difflib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from simulator.config.errors import ConfigError, Path, Problem, dotted
from simulator.config.explain import explain, known_keys
from simulator.config.model import alternatives
from simulator.topology.spec import TopologySpec

_SIZES = ("islands", "gpus_per_island")


def edited_spec(spec: TopologySpec, changes: Mapping[str, Any]) -> TopologySpec:
    """`spec` with `changes`. A `world_size` that the old sizes were checked against goes when they change.
    Raises ConfigError for unknown or ambiguous keys and for whatever a file would be refused for."""
    data = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    paths = _paths_by_name()
    problems = []
    for key, value in changes.items():
        try:
            _put(data, _resolved(key, paths), value)
        except ValueError as error:
            problems.append(Problem((), str(error)))
    if problems:
        raise ConfigError("", problems)
    if "world_size" not in changes and any(key in changes for key in _SIZES):
        data.pop("world_size", None)
    if isinstance(data.get("islands"), list):
        data.pop("gpus_per_island", None)
    try:
        return TopologySpec.model_validate(data)
    except ValidationError as error:
        raise ConfigError("", explain(error, data, TopologySpec)) from None


def _resolved(key: str, paths: Mapping[str, list[Path]]) -> Path:
    """The path that a key names. Raises ValueError."""
    *above, name = key.replace("__", ".").split(".")
    known = known_keys(TopologySpec, above)
    if name in known:
        return (*above, name)
    found = paths.get(name, []) if not above else []
    if len(found) > 1:
        raise ValueError(
            f"the key {key!r} is ambiguous, allowed: {' or '.join(dotted(path) for path in found)}"
        )
    if not found:
        raise ValueError(_unknown(key, name, known, paths))
    return found[0]


def _unknown(key: str, name: str, known: list[str], paths: Mapping[str, list[Path]]) -> str:
    near = difflib.get_close_matches(name, [*known, *paths], n=1)
    where = [dotted(path) for path in paths.get(near[0], [])] if near else []
    hint = f", did you mean {' or '.join(where)}?" if where else ""
    return f"unknown key {key!r}" + (f", allowed: {', '.join(known)}" if known else "") + hint


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for part in path[:-1]:
        data = data.setdefault(str(part), {})
        if not isinstance(data, dict):
            raise ValueError(f"{dotted(path)} cannot be changed: {part} holds no keys here")
    data[str(path[-1])] = value


def _paths_by_name() -> dict[str, list[Path]]:
    """Where each key name stands in the schema, lists of entries left out."""
    paths: dict[str, list[Path]] = defaultdict(list)

    def visit(model: type[BaseModel], above: Path) -> None:
        """Note the paths of all keys of `model`, which lies at `above`."""
        for name, field in model.model_fields.items():
            path = (*above, name)
            if path not in paths[name]:
                paths[name].append(path)
            for member in alternatives(field.annotation):
                if isinstance(member, type) and issubclass(member, BaseModel):
                    visit(member, path)

    visit(TopologySpec, ())
    return paths
