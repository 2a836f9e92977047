"""A `Point`: one policy on one cluster and workload. All that changes its answer is in its key, and nothing else.

The key is a SHA-256 of the effective inputs, defaults filled in: what the inputs are called, where they lie, how
they are spelled and which of their keys were varied does not show in it. Points with equal keys have equal results.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simulator.errors import UserError
from simulator.experiment.experiment import MODEL_VERSION, Experiment, make_experiment
from simulator.experiment.inputs import workload_inputs
from simulator.experiment.spec import Engine
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Workload

UNSPOKEN = {"name", "source"}  # of a file: they change no answer


@dataclass(frozen=True, eq=False)
class Point:
    """The inputs of one simulation, checked. `values` are those that the sweep varied, in its order."""

    values: dict[str, Any]
    policy: PolicyEntry
    topology: TopologySpec
    workload: WorkloadSpec
    folder: Path  # that the workload's files are relative to
    inputs: dict[str, str]  # digests of those files, by their names in the workload
    execution: Execution
    engine: Engine
    tolerance: float | None
    iterations: int
    seed: int

    @classmethod
    def of(cls, experiment: Experiment, entry: PolicyEntry) -> "Point":
        """One policy of an experiment; one iteration of `auto`. Raises UserError for a workload built in code."""
        workload = experiment.workload
        if workload.spec is None or workload.folder is None:
            raise UserError(f"workload {workload.name}: built in code, it has no keys to change")
        return cls(
            values={},
            policy=entry,
            topology=experiment.topology.spec,
            workload=workload.spec,
            folder=workload.folder,
            inputs=workload_inputs(workload),
            execution=experiment.execution,
            engine=experiment.engine,
            tolerance=experiment.tolerance,
            iterations=1 if experiment.iterations == "auto" else experiment.iterations,
            seed=experiment.seed,
        )

    @property
    def label(self) -> str:
        return self.policy.label

    @cached_property
    def topology_digest(self) -> str:
        """Of all about the cluster that changes an answer."""
        data = self.topology.model_dump(mode="json", exclude={*UNSPOKEN, "world_size", "gpus_per_island"})
        return digest(data | {"islands": self.topology.island_sizes})

    @cached_property
    def workload_digest(self) -> str:
        """Of all about the workload that changes an answer, its files' contents included."""
        data = self.workload.model_dump(mode="json", exclude=UNSPOKEN)
        return digest([data, self.inputs])

    @cached_property
    def key(self) -> str:
        """64 hexadecimal digits."""
        entry = self.policy.configuration()
        return digest(
            {
                "model": MODEL_VERSION,
                "topology": self.topology_digest,
                "workload": self.workload_digest,
                "policy": [entry["name"], entry["options"]],
                "execution": self.policy.execution_over(self.execution).model_dump(mode="json"),
                "engine": self.engine,
                "tolerance": (self.tolerance or None) if self.engine == "fluid" else None,
                "iterations": self.iterations,
                "seed": self.seed,
            }
        )

    def experiment(self, topology: Topology, workload: Workload) -> Experiment:
        """The point as an experiment of one policy, on its topology and workload as built."""
        return make_experiment(
            name=self.label,
            topology=topology,
            workload=workload,
            policies=(self.policy,),
            iterations=self.iterations,
            seed=self.seed,
            engine=self.engine,
            tolerance=self.tolerance,
            execution=self.execution,
        )


@dataclass(frozen=True, eq=False)
class Refused:
    """A combination of values that makes no point: what a file with them would be refused for."""

    values: dict[str, Any]
    label: str
    engine: Engine
    error: str

    @property
    def key(self) -> str:
        return digest([self.values, self.label, self.engine, self.error])


def digest(data: Any) -> str:
    """SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def one_line(error: BaseException) -> str:
    """What an error says, in a line; what is no user's mistake with its kind."""
    text = "; ".join(filter(None, (line.strip() for line in str(error).splitlines())))
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"
