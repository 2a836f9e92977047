"""From a YAML file to a checked model, with everything that is wrong with the file in one error."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from simulator.config.document import Document, load_document, parse_document
from simulator.config.errors import ConfigError, Finding, Problem
from simulator.config.explain import explain, known_keys
from simulator.config.kinds import wrong_kind

Model = TypeVar("Model", bound=BaseModel)


def load_model(path: Path, model: type[Model]) -> Model:
    """The `model` that the YAML file at `path` holds. Raises UserError with a line for each problem:
    'file:line:column: key.path: what was found, what is allowed, the nearest spelling'."""
    document = load_document(path)
    if problems := wrong_kind(document.data.keys(), known_keys(model, ())):
        raise ConfigError(document.source, problems)
    found: Model = _of_document(document, model)
    return found


def load_value(text: str, kind: Any, *, source: str) -> Any:
    """The value of any type that a YAML text holds, such as an argument of a command. Raises ConfigError."""
    if not text.strip():
        raise ConfigError(source, [Problem((), "is empty")])
    return _of_document(parse_document(text, source), kind)


def checked(data: Any, model: type[Model], *, source: str) -> Model:
    """The `model` that plain data hold, as a file would. Raises ConfigError, with `source` before each problem."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(source, explain(error, data, model)) from None


def refused_in(path: Path, findings: Sequence[Finding]) -> ConfigError:
    """The error of a file that is well formed, for what is wrong with it beside other data; findings are of keys."""
    document = load_document(path)
    return ConfigError(
        document.source,
        [Problem(each.path, each.text, document.place(each.path, of_key=True)) for each in findings],
    )


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a file, for editors that complete and check as one types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(by_alias=True),
    }


def _of_document(document: Document, kind: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(document.data)
    except ValidationError as error:
        raise ConfigError(document.source, explain(error, document.data, kind, document)) from None
