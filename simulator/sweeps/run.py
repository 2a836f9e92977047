"""`sweep`: a sweep file to its results folder; `sweep-combine`: several sweeps' rows as one file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulator.experiment.provenance import versions
from simulator.experiment.results import make_folder, write_json
from simulator.sweeps.collect import Observer, collect
from simulator.sweeps.csv_file import combined, read_rows, write_rows
from simulator.sweeps.plot import plot_sweep
from simulator.sweeps.rows import ERROR, Row
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.workers import Workers

CSV_NAME = "sweep.csv"
PLOT_NAME = "sweep"


def run_sweep(
    sweep: Sweep,
    folder: Path,
    *,
    workers: Workers | None = None,
    retry: bool = False,
    observer: Observer | None = None,
) -> list[Row]:
    """Collect a sweep into `folder`: sweep.csv, a plot of it, and manifest.json. The rows of its points, in order.

    Goes on where an earlier run stopped. Raises UserError, before any long work, for what is wrong with the sweep or
    the folder.
    """
    make_folder(folder)
    write_json(folder / "manifest.json", manifest(sweep))
    rows = collect(sweep, folder / CSV_NAME, workers=workers, retry=retry, observer=observer)
    if any(not row.get(ERROR) for row in rows):
        plot_sweep(rows, folder / PLOT_NAME)
    return rows


def combine(sources: Sequence[Path], target: Path) -> list[Row]:
    """Several sweep CSVs as one file, a point that several have once. Raises UserError."""
    names, rows = combined({str(path): read_rows(path) for path in sources})
    write_rows(target, names, rows)
    return rows


def manifest(sweep: Sweep) -> dict[str, Any]:
    """What is needed to make the sweep again; no paths of this machine and no times."""
    spec = sweep.spec
    return {
        "name": spec.name,
        "versions": versions(),
        "sweep": {
            "policies": [entry.configuration() for entry in spec.policies],
            "vary": spec.vary.model_dump(mode="json", by_alias=True, exclude_none=True),
            "engine": spec.engine,
            "then": None if spec.then is None else spec.then.model_dump(mode="json", by_alias=True),
            "iterations": spec.iterations,
            "seed": spec.seed,
            "tolerance": spec.tolerance,
            "execution": spec.execution.model_dump(mode="json"),
        },
        "topology": sweep.base.topology.model_dump(mode="json", by_alias=True),
        "workload": sweep.base.workload.model_dump(mode="json", by_alias=True),
    }
