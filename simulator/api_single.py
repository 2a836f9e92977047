"""From Python, what needs no policy: a collective by itself, a trace measured, a topology's terms fitted to logs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from simulator.api_arguments import as_topology
from simulator.calibrate.report import CalibrationReport, calibrate
from simulator.collectives.all_to_all import AllToAllAlgorithm
from simulator.collectives.all_to_all_even import run_even_all_to_all
from simulator.collectives.all_to_all_run import AllToAllFigures, run_all_to_all
from simulator.collectives.matrix import read_matrix
from simulator.config.load import checked
from simulator.config.model import StrictModel
from simulator.config.types import Bytes
from simulator.experiment.spec import Engine
from simulator.topology.topology import Topology
from simulator.workload.profile import Profile, profile_locality, profile_trace
from simulator.workload.traces.source import Format, TraceSource


class Carried(StrictModel):
    """What one all-to-all sends, and how."""

    sent: Bytes | Path
    algorithm: AllToAllAlgorithm
    engine: Engine
    tolerance: float | None = Field(ge=0, le=1)


class Read(StrictModel):
    """How a trace is read."""

    format: Format | Literal["locality"]


def all_to_all(
    topology: Topology | str | Path,
    sent: str | Path,
    *,
    algorithm: AllToAllAlgorithm = "direct",
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
) -> AllToAllFigures:
    """One all-to-all. `sent` is what each rank sends, such as "1 GB", or the `Path` of a matrix of bytes.

    Raises UserError.
    """
    given = {"sent": sent, "algorithm": algorithm, "engine": engine, "tolerance": tolerance}
    cluster, asked = as_topology(topology), checked(given, Carried, source="all-to-all")
    step = asked.tolerance or None
    if isinstance(asked.sent, Path):
        matrix = read_matrix(asked.sent, cluster.world_size)
        return run_all_to_all(cluster, matrix, algorithm=algorithm, engine=engine, tolerance=step)
    return run_even_all_to_all(cluster, asked.sent, algorithm=algorithm, engine=engine, tolerance=step)


def profile(trace: str | Path, format: Format | Literal["locality"]) -> Profile:
    """What matters in a trace; `.to_workload_yaml()` is a workload that draws the same. Raises UserError."""
    asked, path = checked({"format": format}, Read, source="profile"), Path(trace)
    if asked.format == "locality":
        return profile_locality(path)
    return profile_trace(TraceSource(path, asked.format))


def fit_terms(logs: Sequence[str | Path]) -> CalibrationReport:
    """A topology's terms, fitted to measured collectives: `.table()`, `.to_yaml()`. Raises UserError."""
    return calibrate(Path(log) for log in logs)
