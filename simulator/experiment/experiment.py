"""An `Experiment`: the loaded topology and workload and everything else that changes the answer.

Made from an experiment file or from arguments; the rest of the package never looks at files again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from simulator.errors import UserError
from simulator.experiment.inputs import file_digest, workload_inputs
from simulator.experiment.limits import check_limits
from simulator.experiment.spec import Engine, ExperimentSpec, Precision, load_experiment_spec
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.workload.load import load_workload
from simulator.workload.workload import Workload

DEFAULT_BASELINE = "row_wise"
MODEL_VERSION = 2  # counts changes of the model that change answers; part of every experiment's digest


@dataclass(frozen=True, eq=False)
class Experiment:
    """A topology, a workload and policies to compare on them."""

    name: str
    topology: Topology
    workload: Workload
    policies: tuple[PolicyEntry, ...]
    baseline: str  # the label of one of the policies
    iterations: int | Literal["auto"]
    seed: int
    engine: Engine
    tolerance: float | None  # None or 0: exact
    execution: Execution
    precision: Precision
    files: Mapping[str, str]  # digests of the files it was read from, by name; empty when built in code

    def configuration(self) -> dict[str, Any]:
        """The effective configuration, defaults filled in, as plain data. Equal data gives equal results."""
        spec = self.workload.spec
        return {
            "topology": self.topology.spec.model_dump(mode="json", by_alias=True),
            "workload": spec.model_dump(mode="json", by_alias=True) if spec else {"name": self.workload.name},
            "experiment": {
                "name": self.name,
                "policies": [entry.configuration() for entry in self.policies],
                "baseline": self.baseline,
                "iterations": self.iterations,
                "seed": self.seed,
                "engine": self.engine,
                "tolerance": self.tolerance,
                "execution": self.execution.model_dump(mode="json"),
                "precision": self.precision.model_dump(mode="json"),
            },
        }

    def digest(self) -> str:
        """A content hash of all that changes the answer."""
        content = {"model": MODEL_VERSION, **self.configuration(), "inputs": workload_inputs(self.workload)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_experiment(path: Path) -> Experiment:
    """Read an experiment file and the files it names. Raises UserError."""
    spec = load_experiment_spec(path)
    files = (path, path.parent / spec.topology, path.parent / spec.workload)
    topology, workload = load_topology(files[1]), load_workload(files[2])
    try:
        return experiment_from(
            spec, topology, workload, files={file.name: file_digest(file) for file in files}
        )
    except UserError as error:
        raise UserError("\n".join(f"{path}: {line}" for line in str(error).splitlines())) from None


def experiment_from(
    spec: ExperimentSpec, topology: Topology, workload: Workload, *, files: Mapping[str, str] | None = None
) -> Experiment:
    """What a spec says of a topology and a workload, whatever it calls them. Raises UserError."""
    return make_experiment(
        name=spec.name,
        topology=topology,
        workload=workload,
        policies=spec.policies,
        baseline=spec.baseline,
        iterations=spec.iterations,
        seed=spec.seed,
        engine=spec.engine,
        tolerance=spec.tolerance,
        execution=spec.execution,
        precision=spec.precision,
        files=files,
    )


def make_experiment(
    *,
    name: str,
    topology: Topology,
    workload: Workload,
    policies: Sequence[PolicyEntry],
    baseline: str | None = None,
    iterations: int | Literal["auto"] = 8,
    seed: int = 0,
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
    execution: Execution | None = None,
    precision: Precision | None = None,
    files: Mapping[str, str] | None = None,
) -> Experiment:
    """An experiment from values. Raises UserError for labels used twice, a baseline that is none of them, and sizes
    beyond counting."""
    check_limits(topology, workload)
    labels = [entry.label for entry in policies]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"policies: {label!r} stands twice; give each entry a `label:` of its own")
    return Experiment(
        name=name,
        topology=topology,
        workload=workload,
        policies=tuple(policies),
        baseline=choose_baseline(labels, baseline),
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
        execution=execution or Execution(),
        precision=precision or Precision(),
        files=files or {},
    )


def choose_baseline(labels: Sequence[str], baseline: str | None) -> str:
    """The named one, else row_wise, else the first."""
    if baseline is None:
        return DEFAULT_BASELINE if DEFAULT_BASELINE in labels else labels[0]
    if baseline not in labels:
        raise UserError(f"baseline: {baseline!r} is none of the policies; allowed: {', '.join(labels)}")
    return baseline
