"""What callers of the Python API may give, and the values that it stands for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simulator.config.load import checked
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment, experiment_from
from simulator.experiment.spec import ExperimentSpec
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.workload.load import load_workload
from simulator.workload.workload import Workload

Policy = str | Mapping[str, Any] | PolicyEntry
Switches = Mapping[str, Any] | Execution


def experiment_of(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policies: Sequence[Policy],
    *,
    execution: Switches | None,
    **settings: Any,
) -> Experiment:
    """An experiment from what a caller may give, checked as a file's keys are. Raises UserError."""
    cluster, load = as_topology(topology), as_workload(workload)
    data = {
        "name": "api",
        "topology": "given",
        "workload": "given",
        "policies": policies if isinstance(policies, str | Mapping) else list(policies),
        "execution": {} if execution is None else execution,
        **{key: value.item() if isinstance(value, np.generic) else value for key, value in settings.items()},
    }
    return experiment_from(checked(data, ExperimentSpec, source="arguments"), cluster, load)


def as_topology(topology: Topology | str | Path) -> Topology:
    """The topology, or that of a file. Raises UserError."""
    if isinstance(topology, Topology):
        return topology
    return load_topology(as_path("topology", topology, Topology))


def as_workload(workload: Workload | str | Path) -> Workload:
    """The workload, or that of a file. Raises UserError."""
    if isinstance(workload, Workload):
        return workload
    return load_workload(as_path("workload", workload, Workload))


def as_path(name: str, value: object, kind: type) -> Path:
    """The path of the argument's file. Raises UserError for what is neither a path nor of the kind."""
    if not isinstance(value, str | Path):
        found, allowed = type(value).__name__, kind.__name__
        raise UserError(f"{name}: found {found}, allowed: a {allowed} or the path of its file")
    return Path(value)


def as_execution(execution: Switches | None) -> Execution:
    """Switches that are not given are as in a file. Raises UserError for unknown ones."""
    return checked({} if execution is None else execution, Execution, source="execution")
