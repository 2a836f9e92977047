"""How a plan is carried out: the switches that a policy entry or an experiment may set."""

from typing import Any, Literal

from pydantic import Field, field_validator

from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount

Optimizer = Literal["none", "rowwise_adagrad", "adam"]
GRADIENT_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}


class Execution(StrictModel):
    """Switches of one iteration; each default is stated here and nowhere else."""

    dedup: Literal["none", "rank", "island"] = Field(
        "none",
        description="who asks for a row once: nobody (none, or off), each rank, each island; default none",
    )
    all_to_all: Literal["direct", "hierarchical", "rail"] = Field(
        "direct", description="algorithm of every all-to-all; default direct"
    )
    tiers: Literal["serial", "concurrent"] = Field(
        "serial", description="island and global all-to-alls of one step; default serial"
    )
    sync: Literal["dense", "sparse"] = Field(
        "dense", description="what copies exchange: all their rows, or those touched; default dense"
    )
    sync_algorithm: Literal["flat", "hierarchical"] = Field(
        "hierarchical", description="how whole copies are brought together; default hierarchical"
    )
    sync_every: PositiveCount = Field(
        1, description="iterations between synchronisations of copies; default 1"
    )
    gradient_dtype: Literal["fp16", "bf16", "fp32"] | None = Field(
        None, description="of embedding gradients; default as the embeddings"
    )
    pipelining: bool = Field(
        False, description="the next batch's ids travel during this batch's dense compute; default false"
    )
    shared_stream: bool = Field(True, description="all collectives of a rank in one queue; default true")
    optimizer: Optimizer = Field(
        "none", description="whose state embedding rows carry, which counts as memory; default none"
    )

    def gradient_element_bytes(self, element_bytes: int) -> int:
        """Bytes of an element of a gradient when an embedding's has so many."""
        return element_bytes if self.gradient_dtype is None else GRADIENT_BYTES[self.gradient_dtype]

    @field_validator("dedup", mode="before")
    @classmethod
    def _off_is_none(cls, value: Any) -> Any:
        return "none" if value == "off" else value
