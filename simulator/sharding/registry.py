"""The policies by name, and the entries of an experiment that choose and set them.

A policy is a pure function of statistics, topology, execution switches and its own options to a
`ShardingPlan`. It lives in one module of `simulator/sharding/policies/` and registers itself there:

    @register("row_wise", "every table's rows over all ranks", options=NoOptions)
    def row_wise(statistics, topology, execution, options): ...

The modules of that package are found by looking into it, so one new file is all that a new policy needs.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from simulator.config.errors import FINDINGS, Finding, dotted, refuse
from simulator.config.explain import explain
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.memory import check_countable
from simulator.sharding.plan import ShardingPlan
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics

POLICIES_PACKAGE = "simulator.sharding.policies"
OWN_KEYS = ("name", "label")  # of an entry, beside the switches and the policy's options


class NoOptions(StrictModel):
    """For policies that have nothing to set."""


Options = TypeVar("Options", bound=StrictModel)
PolicyFunction = Callable[[Statistics, Topology, Execution, Options], ShardingPlan]


@dataclass(frozen=True)
class Policy:
    """A registered policy: its name, one line of what it does, its options, and the function."""

    name: str
    summary: str
    options: type[StrictModel]
    plan: PolicyFunction[Any]


_registered: dict[str, Policy] = {}


def register(
    name: str, summary: str, *, options: type[Options]
) -> Callable[[PolicyFunction[Options]], PolicyFunction[Options]]:
    """Decorates a policy's function. ValueError for a name taken, or an option that hides a switch."""

    def decorate(function: PolicyFunction[Options]) -> PolicyFunction[Options]:
        """Register `function`. Raises ValueError for a name or an option that is taken."""
        if name in _registered:
            raise ValueError(f"a policy named {name!r} is registered already")
        hidden = set(options.model_fields) & {*OWN_KEYS, *Execution.model_fields}
        if hidden:
            raise ValueError(f"policy {name!r}: options may not be named {sorted(hidden)}")
        _registered[name] = Policy(name, summary, options, function)
        return function

    return decorate


@cache
def _discover() -> None:
    package = importlib.import_module(POLICIES_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{POLICIES_PACKAGE}.{module.name}")


def available() -> tuple[Policy, ...]:
    """All policies, by name."""
    _discover()
    return tuple(_registered[name] for name in sorted(_registered))


def policy_named(name: str) -> Policy:
    """The policy of that name. Raises UserError with the nearest name."""
    _discover()
    if name not in _registered:
        raise UserError(unknown("policy", name, sorted(_registered)))
    return _registered[name]


@dataclass(frozen=True)
class PolicyEntry:
    """One policy of an experiment: its name, what it is called in results, what it sets.

    In YAML a name, or a mapping: `{name: flexshard, memory: baseline, dedup: rank, label: mine}`. Keys of
    `Execution` override the experiment's switches; the rest are the policy's own options.
    """

    name: str
    label: str
    switches: Mapping[str, Any]  # the keys of Execution that it sets
    options: StrictModel

    @classmethod
    def parse(cls, value: object) -> "PolicyEntry":
        """An entry from a name or a mapping. Raises UserError, one line for each problem."""
        try:
            return _parse(value)
        except PydanticCustomError as error:
            findings: list[Finding] = (error.context or {})[FINDINGS]
            lines = [": ".join(filter(None, ["policy", dotted(path), text])) for path, text in findings]
            raise UserError("\n".join(lines)) from None

    def execution_over(self, base: Execution) -> Execution:
        """The experiment's switches with the entry's own on top."""
        return base.model_copy(update=dict(self.switches))

    def configuration(self) -> dict[str, Any]:
        """Name, label, switches and all options, defaults filled in, as plain data."""
        return {
            "name": self.name,
            "label": self.label,
            "switches": dict(self.switches),
            "options": self.options.model_dump(mode="json"),
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_parse)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        names = [policy.name for policy in available()]
        return {
            "anyOf": [{"type": "string", "enum": names}, *(_json_schema(policy) for policy in available())]
        }


def make_plan(
    entry: PolicyEntry, statistics: Statistics, topology: Topology, execution: Execution
) -> ShardingPlan:
    """The entry's plan, named by its label. `execution` holds the experiment's switches. Raises UserError."""
    policy, switches = policy_named(entry.name), entry.execution_over(execution)
    check_countable(statistics, switches.optimizer)
    plan = policy.plan(statistics, topology, switches, entry.options)
    return replace(plan, policy=entry.label)


def unknown(kind: str, found: str, allowed: list[str]) -> str:
    """What to say of a name that is none of `allowed`."""
    nearest = difflib.get_close_matches(found, allowed, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return f"unknown {kind} {found!r}; allowed: {', '.join(allowed)}{hint}"


def _what(value: object) -> str:
    """A value that is no policy, in a few words."""
    if isinstance(value, Mapping):
        return "a mapping without the text `name`"
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, (list, tuple)) else f"{value!r}"[:60]


def _parse(value: object) -> PolicyEntry:
    """Raises what `config.errors.refuse` raises."""
    if isinstance(value, PolicyEntry):
        return value
    keys = {"name": value} if isinstance(value, str) else value
    if not isinstance(keys, Mapping) or not isinstance(keys.get("name"), str):
        allowed = "a policy's name, or a mapping with `name: NAME` and its options"
        refuse([Finding((), f"found {_what(keys)}, allowed: {allowed}")])
    try:
        policy = policy_named(keys["name"])
    except UserError as error:
        refuse([Finding(() if isinstance(value, str) else ("name",), str(error))])
    chosen = {key: keys[key] for key in keys if key in Execution.model_fields}
    own = {key: keys[key] for key in keys if key in policy.options.model_fields}
    findings = _unknown_keys(policy, keys) + _label_findings(keys.get("label"))
    options = _validated(policy.options, own, findings)
    execution = _validated(Execution, chosen, findings)
    if findings or options is None or execution is None:
        refuse(findings)
    switches = {key: getattr(execution, key) for key in chosen}
    label = keys.get("label") or _default_label(policy.name, switches, options)
    return PolicyEntry(policy.name, label, switches, options)


def _validated(model: type[Options], values: dict[str, Any], findings: list[Finding]) -> Options | None:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        findings += [Finding(problem.path, problem.text) for problem in explain(error, values, model)]
        return None


def _unknown_keys(policy: Policy, keys: Mapping[Any, Any]) -> list[Finding]:
    allowed = [*OWN_KEYS, *policy.options.model_fields, *Execution.model_fields]
    return [Finding((key,), unknown("key", str(key), allowed)) for key in keys if key not in allowed]


def _label_findings(label: object) -> list[Finding]:
    if label is None:
        return []
    if not isinstance(label, str) or not label.strip():
        return [Finding(("label",), f"found {label!r}, allowed: text")]
    return (
        [] if label.isprintable() else [Finding(("label",), f"found {label!r}, allowed: one printable line")]
    )


def _default_label(name: str, switches: Mapping[str, Any], options: StrictModel) -> str:
    fields = type(options).model_fields
    changed = {key: getattr(options, key) for key in fields if getattr(options, key) != fields[key].default}
    return " ".join([name, *(f"{key}={_spelled(value)}" for key, value in {**changed, **switches}.items())])


def _spelled(value: object) -> str:
    """As YAML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json_schema(policy: Policy) -> JsonSchemaValue:
    own = policy.options.model_json_schema().get("properties", {})
    switches = Execution.model_json_schema().get("properties", {})
    return {
        "type": "object",
        "description": policy.summary,
        "properties": {"name": {"const": policy.name}, "label": {"type": "string"}, **own, **switches},
        "required": ["name"],
        "additionalProperties": False,
    }
