"""The base of every schema: unknown keys are errors, values are frozen and never coerced.

Three shapes of YAML are met halfway, by the annotation of the field they are for: a list becomes the tuple that a
frozen model holds, a whole float (1e9) the integer that a field wants, and the boolean that a plain `off` or `no` is
becomes 'none' or 'off' where a choice has it.
"""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, model_validator

_FALSE_WORDS = ("none", "off", "no", "false")
_TRUE_WORDS = ("on", "yes", "true")
_LARGEST_WHOLE = 2**62


class StrictModel(BaseModel):
    """A schema read from YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _meet_annotations(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = cls.model_fields
        return {
            key: adapted(value, fields[key].annotation) if key in fields else value
            for key, value in data.items()
        }


def alternatives(annotation: Any) -> list[Any]:
    """The members of a union, without their `Annotated` wrappings; a single type is a list of one."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in alternatives(part)]
    return [annotation]


def adapted(value: Any, annotation: Any) -> Any:
    """`value` in the shape that `annotation` holds; whatever fits nothing is left for validation to refuse."""
    members = alternatives(annotation)
    if isinstance(value, bool) and bool not in members:
        choices = [
            choice for member in members if get_origin(member) is Literal for choice in get_args(member)
        ]
        words = _TRUE_WORDS if value else _FALSE_WORDS
        return next((word for word in words if word in choices), value)
    if isinstance(value, float) and int in members and float not in members:
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_WHOLE else value
    if isinstance(value, list):
        for member in members:
            if get_origin(member) is tuple:
                item = get_args(member)[0]
                return tuple(adapted(each, item) for each in value)
    return value
