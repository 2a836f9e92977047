"""The base of every schema: unknown keys are errors, values are frozen and never coerced."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """A schema read from YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
