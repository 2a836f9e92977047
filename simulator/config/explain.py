"""What pydantic found wrong, in the words of the file: a `Problem` for each value, with its place.

Pydantic's `loc` names union members between the keys; they are dropped by walking the data alongside. All that
was said of one value becomes one line, and what was said of a value's parts silences what was said of its kind.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simulator.config.document import Document
from simulator.config.errors import FINDINGS, MOST_PROBLEMS, Finding, Path, Problem
from simulator.config.model import alternatives
from simulator.units import UnitError

_ALLOWED = ", allowed: "
_MUST_BE = ": must be "
_LONGEST_SHOWN = 60
_MOST_EXPLAINED = 10 * MOST_PROBLEMS
_KINDS = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys",
    "none_required": "nothing",
}
_LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_LENGTHS = {
    "too_short": ("min_length", "at least {} {} needed"),
    "string_too_short": ("min_length", "at least {} {} needed"),
    "too_long": ("max_length", "at most {} {} allowed"),
    "string_too_long": ("max_length", "at most {} {} allowed"),
}
_KIND_ERRORS = {*_KINDS, "string_type", "model_type", "model_attributes_type", "literal_error"}


def explain(error: ValidationError, data: Any, model: Any, document: Document | None = None) -> list[Problem]:
    """Problems of `data`, which `model` refused; with places if it came from `document`."""
    found: dict[Path, list[tuple[ErrorDetails, str]]] = {}
    for details in error.errors(include_url=False)[:_MOST_EXPLAINED]:
        for path, text in _texts(details, data, model, document):
            found.setdefault(path, []).append((details, text))
    problems = []
    for path, said in found.items():
        if _is_about_parts(path, said, found):
            continue
        of_key = any(details["type"] == "extra_forbidden" for details, _ in said)
        place = document.place(path, of_key=of_key) if document is not None else None
        problems.append(Problem(path, _either([text for _, text in said]), place))
    return problems


def _either(texts: Sequence[str]) -> str:
    """What members of a union said of one value: 'found x, allowed: this or that' where all found the same."""
    said = list(dict.fromkeys(texts))
    if len(said) == 1:
        return said[0]
    found, marks, allowed = zip(
        *(text.replace(_MUST_BE, _ALLOWED).partition(_ALLOWED) for text in said), strict=True
    )
    if len(set(found)) == 1 and all(marks):
        return f"{found[0]}{_ALLOWED}{' or '.join(allowed)}"
    own = [text for text in said if _ALLOWED not in text]
    also = [text.partition(_ALLOWED)[2] for text in said if _ALLOWED in text]
    return " or ".join(own or said) + (f"; also allowed: {' or '.join(also)}" if own and also else "")


def _is_about_parts(path: Path, said: Sequence[tuple[ErrorDetails, str]], found: Mapping[Path, Any]) -> bool:
    """Whether only the kind of this value was wrong, for members of a union whose other members went deeper."""
    only_kind = all(details["type"] in _KIND_ERRORS for details, _ in said)
    return only_kind and any(len(other) > len(path) and other[: len(path)] == path for other in found)


def _texts(details: ErrorDetails, data: Any, model: Any, document: Document | None) -> list[tuple[Path, str]]:
    """Path and text of one error; several for an error that carries findings."""
    path = _path(details, data)
    if details["type"] == FINDINGS:
        findings: list[Finding] = details["ctx"][FINDINGS]
        return [((*path, *finding.path), finding.text) for finding in findings]
    found = _found(details["input"], path, document)
    if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
        name = details["ctx"]["discriminator"].strip("'")
        key = name if name.isidentifier() else "kind"  # a function tells the kinds apart
        return [((*path, key), _tag_text(details, key, details["input"], model))]
    return [(path, _text(details, path, found, model))]


def _path(details: ErrorDetails, data: Any) -> Path:
    """`loc` without the names of union members."""
    path: list[str | int] = []
    for number, part in enumerate(details["loc"]):
        is_last = number == len(details["loc"]) - 1
        if _has(data, part):
            data = data[part]
            path.append(part)
        elif is_last and details["type"] == "missing":
            path.append(part)
    return tuple(path)


def _has(data: Any, part: str | int) -> bool:
    if isinstance(data, Mapping):
        return part in data
    return isinstance(data, (list, tuple)) and isinstance(part, int) and part < len(data)


def _text(details: ErrorDetails, path: Path, found: str, model: Any) -> str:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "missing":
        return _missing_text(details, model)
    if kind == "extra_forbidden":
        return _unknown_key_text(str(path[-1]), known_keys(model, details["loc"][:-1]))
    if kind == "string_type":
        return _not_text(value, found)
    if kind == "literal_error":
        return _choice_text(value, found, context["expected"])
    if kind in ("model_type", "model_attributes_type"):
        keys = known_keys(model, details["loc"])
        return f"found {found}, allowed: a mapping" + (f" with the keys {', '.join(keys)}" if keys else "")
    if kind in _KINDS:
        return f"found {found}, allowed: {_KINDS[kind]}"
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"found {found}, allowed: {words} {f'{context[key]:,}'.removesuffix('.0')}"
    if kind in _LENGTHS:
        key, words = _LENGTHS[kind]
        return f"found {found}: {words.format(context[key], _items(kind, context[key]))}"
    return _own_text(details, found)


def _items(kind: str, count: int) -> str:
    """'characters are', of a length of so many."""
    noun = "character" if kind.startswith("string") else "entry"
    many = {"character": "characters", "entry": "entries"}[noun]
    return f"{noun} is" if count == 1 else f"{many} are"


def _own_text(details: ErrorDetails, found: str) -> str:
    """An error with a text of its own, with the value in front if the text does not have it."""
    said = details["msg"].removeprefix("Value error, ")
    is_pydantic = details["type"] not in ("value_error", "assertion_error")
    if is_pydantic and said[:1].isupper() and said[1:2].islower():
        said = said[0].lower() + said[1:]
    is_unit = isinstance(details.get("ctx", {}).get("error"), UnitError)
    says_it = said.startswith((found, repr(details["input"])))
    return said if is_unit or says_it or isinstance(details["input"], Mapping) else f"found {found}: {said}"


def _missing_text(details: ErrorDetails, model: Any) -> str:
    name = details["loc"][-1]
    for owner in _models(model, details["loc"][:-1]):
        for key, field in owner.model_fields.items():
            if name in (key, field.alias) and field.description:
                return f"is missing: {field.description.split(';')[0]}"
    return "is missing"


def _unknown_key_text(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.55)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return f"unknown key, allowed: {', '.join(known)}{hint}" if known else f"unknown key{hint}"


def _not_text(value: Any, found: str) -> str:
    if isinstance(value, bool):
        return f"got a boolean ({found}): quote it"
    if isinstance(value, (int, float)):
        return f"got a number ({found}): quote it"
    return f"found {found}, allowed: text"


def _choice_text(value: Any, found: str, expected: str) -> str:
    near = difflib.get_close_matches(str(value), re.findall(r"'([^']*)'", expected), n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    advice = " (a boolean: quote it)" if isinstance(value, bool) else ""
    return f"found {found}{advice}, allowed: {expected}{hint}"


def _tag_text(details: ErrorDetails, key: str, value: Any, model: Any) -> str:
    context = details["ctx"]
    kinds = context.get("expected_tags") or ", ".join(
        repr(kind) for owner in _models(model, details["loc"]) for kind in _kinds(owner, key)
    )
    if details["type"] == "union_tag_not_found":
        return f"is missing, allowed: {kinds}"
    return _choice_text(value.get(key) if isinstance(value, Mapping) else value, repr(context["tag"]), kinds)


def _kinds(owner: type[BaseModel], key: str) -> tuple[Any, ...]:
    return get_args(owner.model_fields[key].annotation) if key in owner.model_fields else ()


def _found(value: Any, path: Path, document: Document | None) -> str:
    """A value as the file has it."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None:
        return "nothing"
    text = repr(value) if isinstance(value, str) else _written(value, path, document)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _written(value: Any, path: Path, document: Document | None) -> str:
    return document.texts.get(path, str(value)) if document is not None else str(value)


def known_keys(model: Any, loc: Sequence[str | int]) -> list[str]:
    """The keys that a mapping at `loc` may have, as files spell them."""
    return list(
        dict.fromkeys(
            field.alias or key for owner in _models(model, loc) for key, field in owner.model_fields.items()
        )
    )


def _models(annotation: Any, loc: Sequence[str | int]) -> list[type[BaseModel]]:
    """The schemas that may stand at `loc`, which may name union members."""
    members = [annotation]
    for part in loc:
        members = [below for member in _flat(members) for below in _step(member, part)]
    return [member for member in _flat(members) if _is_model(member)]


def _flat(annotations: Sequence[Any]) -> list[Any]:
    return [member for annotation in annotations for member in alternatives(annotation)]


def _is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _step(member: Any, part: str | int) -> list[Any]:
    """What a member of a union holds under a key or index; itself, if `part` is the member's own name."""
    if _is_model(member):
        for key, field in member.model_fields.items():
            if part in (key, field.alias):
                return [field.annotation]
        return [member] if part == member.__name__ or part in _all_kinds(member) else []
    if isinstance(part, int):
        return [argument for argument in get_args(member) if argument is not Ellipsis]
    return [member]


def _all_kinds(member: type[BaseModel]) -> tuple[Any, ...]:
    return _kinds(member, "kind")
