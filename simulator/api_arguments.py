"""What callers of the Python API may give, and the values that it stands for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from simulator.config.load import checked
from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.spec import Engine
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.workload.load import load_workload
from simulator.workload.workload import Workload

Policy = str | Mapping[str, Any] | PolicyEntry
Switches = Mapping[str, Any] | Execution


class Settings(StrictModel):
    """What an experiment's file says in the same words."""

    iterations: PositiveCount | Literal["auto"] = 8
    seed: int = Field(0, ge=0)
    engine: Engine = "fluid"
    tolerance: float | None = Field(0.01, ge=0, le=1)


def experiment_of(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policies: Sequence[Policy],
    *,
    execution: Switches | None,
    **settings: Any,
) -> Experiment:
    """An experiment from what a caller may give. Raises UserError."""
    if not policies:
        raise UserError("policies: none is given; `shardsim policies` lists them")
    given = {name: settings.pop(name) for name in Settings.model_fields if name in settings}
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    return make_experiment(
        name="api",
        topology=as_topology(topology),
        workload=as_workload(workload),
        policies=[PolicyEntry.parse(policy) for policy in policies],
        execution=as_execution(execution),
        **vars(checked(plain, Settings, source="arguments")),
        **settings,
    )


def as_topology(topology: Topology | str | Path) -> Topology:
    """The topology, or that of a file."""
    return topology if isinstance(topology, Topology) else load_topology(Path(topology))


def as_workload(workload: Workload | str | Path) -> Workload:
    """The workload, or that of a file."""
    return workload if isinstance(workload, Workload) else load_workload(Path(workload))


def as_execution(execution: Switches | None) -> Execution:
    """Switches that are not given are as in a file. Raises UserError for unknown ones."""
    if isinstance(execution, Execution):
        return execution
    return checked(dict(execution or {}), Execution, source="execution")
