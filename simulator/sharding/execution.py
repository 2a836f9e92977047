"""How a plan is carried out: the switches that a policy entry or an experiment may set."""

from typing import Any, Literal

from pydantic import Field, field_validator

from simulator.config.model import StrictModel

Optimizer = Literal["none", "rowwise_adagrad", "adam"]
GRADIENT_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}


class Execution(StrictModel):
    """Switches of one iteration; each default is stated here and nowhere else."""

    dedup: Literal["none", "rank", "island"] = "none"  # `off` is none
    all_to_all: Literal["direct", "hierarchical", "rail"] = "direct"
    tiers: Literal["serial", "concurrent"] = "serial"  # island and global all-to-alls of one step
    sync: Literal["dense", "sparse"] = "dense"  # replicated rows: all of them, or those touched
    sync_algorithm: Literal["flat", "hierarchical"] = "hierarchical"
    sync_every: int = Field(1, ge=1)  # iterations between synchronisations of replicas
    gradient_dtype: Literal["fp16", "bf16", "fp32"] | None = None  # None: as the embeddings
    pipelining: bool = False  # the next batch's ids travel during this batch's dense compute
    shared_stream: bool = True  # all collectives of a rank on one stream, in order
    optimizer: Optimizer = "none"  # whose state the embedding rows carry; it counts as memory

    def gradient_element_bytes(self, element_bytes: int) -> int:
        """Bytes of an element of a gradient when an embedding's has so many."""
        return element_bytes if self.gradient_dtype is None else GRADIENT_BYTES[self.gradient_dtype]

    @field_validator("dedup", mode="before")
    @classmethod
    def _off_is_none(cls, value: Any) -> Any:
        return "none" if value == "off" else value
