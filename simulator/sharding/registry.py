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
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.sharding.execution import Execution
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
        except ValidationError as error:
            raise UserError("\n".join(_line(problem) for problem in error.errors())) from error
        except PydanticCustomError as error:
            raise UserError(error.message()) from error

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
    policy = policy_named(entry.name)
    plan = policy.plan(statistics, topology, entry.execution_over(execution), entry.options)
    return replace(plan, policy=entry.label)


def unknown(kind: str, found: str, allowed: list[str]) -> str:
    """What to say of a name that is none of `allowed`."""
    nearest = difflib.get_close_matches(found, allowed, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return f"unknown {kind} {found!r}; allowed: {', '.join(allowed)}{hint}"


def _parse(value: object) -> PolicyEntry:
    if isinstance(value, PolicyEntry):
        return value
    keys = {"name": value} if isinstance(value, str) else value
    if not isinstance(keys, Mapping) or not isinstance(keys.get("name"), str):
        raise _problem("expected a policy's name, or a mapping with `name: NAME` and the policy's options")
    try:
        policy = policy_named(keys["name"])
    except UserError as error:
        raise _problem(str(error)) from error
    chosen = {key: keys[key] for key in keys if key in Execution.model_fields}
    own = {key: keys[key] for key in keys if key not in chosen and key not in OWN_KEYS}
    problems = _unknown_keys(policy, own)
    options = _validate(
        policy.options, {key: own[key] for key in own if key in policy.options.model_fields}, problems
    )
    execution = _validate(Execution, chosen, problems)
    label = keys.get("label", None)
    if not (label is None or (isinstance(label, str) and label.strip())):
        problems.append(InitErrorDetails(type=_problem("expected a text"), loc=("label",), input=label))
    if problems or options is None or execution is None:
        raise ValidationError.from_exception_data("policy", problems)
    switches = {key: getattr(execution, key) for key in chosen}
    return PolicyEntry(
        policy.name, label or _default_label(policy.name, switches, options), switches, options
    )


def _validate(
    model: type[Options], values: dict[str, Any], problems: list[InitErrorDetails]
) -> Options | None:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        for problem in error.errors():
            kind = PydanticCustomError("policy_option", "{message}", {"message": problem["msg"]})
            problems.append(InitErrorDetails(type=kind, loc=problem["loc"], input=problem["input"]))
        return None


def _unknown_keys(policy: Policy, own: dict[str, Any]) -> list[InitErrorDetails]:
    allowed = [*OWN_KEYS, *policy.options.model_fields, *Execution.model_fields]
    return [
        InitErrorDetails(
            type=_problem(unknown(f"key of policy {policy.name}", str(key), allowed)),
            loc=(key,),
            input=own[key],
        )
        for key in own
        if key not in policy.options.model_fields
    ]


def _problem(message: str) -> PydanticCustomError:
    return PydanticCustomError("policy_entry", "{message}", {"message": message})


def _line(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    return f"policy: {place}: {problem['msg']}" if place else f"policy: {problem['msg']}"


def _default_label(name: str, switches: Mapping[str, Any], options: StrictModel) -> str:
    fields = type(options).model_fields
    changed = {key: getattr(options, key) for key in fields if getattr(options, key) != fields[key].default}
    return " ".join([name, *(f"{key}={value}" for key, value in {**changed, **switches}.items())])


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
