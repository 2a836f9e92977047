"""The sweep file: a base experiment, what varies, and which points are looked at more closely."""

from pathlib import Path

from pydantic import Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import FolderName, PositiveCount
from simulator.experiment.spec import Engine
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry, unknown
from simulator.sweeps.then import ThenSpec
from simulator.sweeps.vary import Vary


class SweepSpec(StrictModel):
    """What `shardsim sweep` reads. Paths are relative to the sweep file."""

    name: FolderName = Field(description="names the results folder")
    topology: str = Field(description="path of the base topology file")
    workload: str = Field(description="path of the base workload file")
    policies: list[PolicyEntry] = Field(min_length=1, description="a name, or a mapping of name and options")
    vary: Vary = Field(
        description="keys and their values, every combination of them; or one of `grid`, `list` and `random`"
    )
    engine: Engine = Field("bound", description="of every point; default bound, the quick one")
    then: ThenSpec | None = Field(None, description="a second, closer pass over some points; default none")
    iterations: PositiveCount = Field(1, description="of each point; default 1")
    seed: int = Field(0, ge=0, description="of the draws, the same for every point; default 0")
    tolerance: float | None = Field(
        0.01, ge=0, le=1, description="fluid time step as a share of the port bound; 0 is exact; default 0.01"
    )
    execution: Execution = Field(
        Execution(), description="switches of all policies; a policy entry may override them"
    )

    @model_validator(mode="after")
    def _policies_exist(self) -> "SweepSpec":
        labels = [entry.label for entry in self.policies]
        findings = [
            Finding(("policies",), f"{label!r} stands twice; give each entry a `label:` of its own")
            for label in dict.fromkeys(labels)
            if labels.count(label) > 1
        ]
        allowed = list(dict.fromkeys([*labels, *(entry.name for entry in self.policies)]))
        for key in self.vary.keys:
            if key.startswith("policies.") and policy_of(key) not in allowed:
                findings.append(
                    Finding(("vary", *self.vary.path_of(key)), unknown("policy", policy_of(key), allowed))
                )
        if findings:
            refuse(findings)
        return self


def policy_of(key: str) -> str:
    """The label or name in `policies.LABEL.KEY`; a label may have dots."""
    return key.removeprefix("policies.").rpartition(".")[0]


def load_sweep_spec(path: Path) -> SweepSpec:
    """Read and check a sweep file. Raises ConfigError with a line for each problem."""
    return load_model(path, SweepSpec)
