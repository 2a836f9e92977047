"""The experiment file: which topology, workload and policies, how often, and how exactly."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import FolderName, PositiveCount
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry

Engine = Literal["fluid", "bound"]
Iterations = PositiveCount | Literal["auto"]


class Precision(StrictModel):
    """When `iterations: auto` stops: the mean communication time is known this well for every policy."""

    relative_half_width: float = Field(0.01, gt=0, lt=1, description="of the 95 % interval; default 0.01")
    minimum: int = Field(4, ge=2, description="iterations before the first look; default 4")
    maximum: int = Field(200, ge=2, description="iterations at which it gives up; default 200")

    @model_validator(mode="after")
    def _in_order(self) -> "Precision":
        if self.minimum > self.maximum:
            refuse([Finding(("minimum",), f"{self.minimum} is more than `maximum`, {self.maximum}")])
        return self


class ExperimentSpec(StrictModel):
    """What `shardsim run` reads. Paths are relative to the experiment file."""

    name: FolderName = Field(description="names the results folder")
    topology: str = Field(description="path of a topology file")
    workload: str = Field(description="path of a workload file")
    policies: list[PolicyEntry] = Field(min_length=1, description="a name, or a mapping of name and options")
    baseline: str | None = Field(
        None, description="the policy others are compared with; default row_wise, or the first"
    )
    iterations: Iterations = Field(8, description="how many are replayed, or auto; default 8")
    precision: Precision = Field(Precision(), description="when `iterations: auto` stops")
    seed: int = Field(0, ge=0, description="of every random draw; default 0")
    engine: Engine = Field("fluid", description="fluid, or bound for the port bound alone; default fluid")
    tolerance: float | None = Field(
        0.01, ge=0, le=1, description="fluid time step as a share of the port bound; 0 is exact; default 0.01"
    )
    execution: Execution = Field(
        Execution(), description="switches of all policies; a policy entry may override them"
    )

    @model_validator(mode="after")
    def _precision_is_of_auto(self) -> "ExperimentSpec":
        if "precision" in self.model_fields_set and self.iterations != "auto":
            told = f"only `iterations: auto` stops by it; iterations is {self.iterations}"
            refuse([Finding(("precision",), told)])
        return self


def load_experiment_spec(path: Path) -> ExperimentSpec:
    """Read and check an experiment file. Raises ConfigError with a line for each problem."""
    return load_model(path, ExperimentSpec)
