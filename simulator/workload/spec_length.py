"""The schema of sequence lengths."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.model import StrictModel
from simulator.config.types import Count, NonNegative, Positive
from simulator.workload.lengths import MAX_LENGTH


class FixedLengthSpec(StrictModel):
    """Every sequence is equally long. A bare number means the same."""

    kind: Literal["fixed"]
    value: Count = Field(le=MAX_LENGTH, description="lookups of a sample; required, 0 is allowed")


class LognormalLengthSpec(StrictModel):
    """Lognormal lengths, rounded to whole lookups and clipped to [min, max]."""

    kind: Literal["lognormal"]
    mean: Positive = Field(description="mean of the lengths that come out, after clipping; required")
    sigma: Positive = Field(
        le=20, description="standard deviation of the logarithm, before clipping; required"
    )
    min: Count = Field(1, description="shorter sequences count as this long; default 1")
    max: Count = Field(le=MAX_LENGTH, description="longer sequences are cut to this; required")

    @model_validator(mode="after")
    def _mean_inside(self) -> "LognormalLengthSpec":
        if not self.min < self.mean < self.max:
            refuse([Finding(("mean",), f"{self.mean:g} is not between min {self.min} and max {self.max}")])
        return self


class HistogramLengthSpec(StrictModel):
    """Lengths and how often each occurs."""

    kind: Literal["histogram"]
    lengths: tuple[Count, ...] = Field(description="lookups of a sample; required")
    weights: tuple[NonNegative, ...] = Field(
        description="how often each length occurs, in any unit; required"
    )

    @model_validator(mode="after")
    def _alike(self) -> "HistogramLengthSpec":
        if len(self.weights) != len(self.lengths):
            refuse([Finding(("weights",), f"{len(self.weights)} weights for {len(self.lengths)} lengths")])
        if not sum(self.weights) > 0:
            refuse([Finding(("weights",), "all are 0, at least one must be greater")])
        if max(self.lengths) > MAX_LENGTH:
            refuse(
                [Finding(("lengths",), f"{max(self.lengths)} is too long, allowed are at most {MAX_LENGTH}")]
            )
        return self


def _fixed_from_number(value: Any) -> Any:
    return {"kind": "fixed", "value": value} if isinstance(value, (int, float)) else value


_Kinds = FixedLengthSpec | LognormalLengthSpec | HistogramLengthSpec
LengthSpec = Annotated[
    _Kinds,
    Field(discriminator="kind"),
    BeforeValidator(_fixed_from_number, json_schema_input_type=int | _Kinds),
]
