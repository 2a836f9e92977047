"""Workload files."""

from pathlib import Path

from simulator.config.load import load_model
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Workload


def load_workload(path: Path) -> Workload:
    """Read, check and build a workload file. Raises UserError with a line for each problem."""
    return build_workload(load_model(path, WorkloadSpec), path.parent)
