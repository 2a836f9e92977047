"""`sweep`: a sweep file to its results folder; `sweep-combine`: several sweeps' rows as one file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulator.experiment.kind import SWEEP, refuse_other_kind
from simulator.experiment.provenance import versions
from simulator.experiment.results import make_folder, write_json
from simulator.files import held
from simulator.report.page.render import write_page
from simulator.sweeps.collect import Observer, collect
from simulator.sweeps.csv_file import combined, read_rows, write_rows
from simulator.sweeps.page import METRIC, sweep_page
from simulator.sweeps.plot import plot_sweep, varied_keys
from simulator.sweeps.rows import ERROR, Row
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.workers import Workers

CSV_NAME, PAGE = "sweep.csv", "report.html"
PLOT_NAME = "sweep"


def run_sweep(
    sweep: Sweep,
    folder: Path,
    *,
    workers: Workers | None = None,
    retry: bool = False,
    observer: Observer | None = None,
) -> list[Row]:
    """Collect a sweep into `folder`: sweep.csv, a plot and a page of it, and manifest.json. Rows in point order.

    Goes on where an earlier run stopped. Raises UserError, before any long work, for what is wrong with the sweep or
    the folder, such as that it holds a run.
    """
    sweep.points(sweep.spec.engine)  # what is wrong with them is told before anything is written
    refuse_other_kind(folder, SWEEP)
    make_folder(folder)
    with held(folder):
        write_json(folder / "manifest.json", manifest(sweep))
        rows = collect(sweep, folder / CSV_NAME, workers=workers, retry=retry, observer=observer)
        answered = [row for row in rows if not row.get(ERROR)]
        if varied_keys(answered):
            plot_sweep(rows, folder / PLOT_NAME)
        build_page(folder)
    return rows


def build_page(path: Path, page: Path | None = None, *, x: str | None = None, y: str = METRIC) -> Path:
    """Write the page of a sweep, given by its folder or its CSV, and plotly.js beside it. The page's path.

    By default it is `report.html` beside sweep.csv; that of another CSV is named after it. Raises UserError.
    """
    source = path / CSV_NAME if path.is_dir() else path
    target = page or source.with_name(PAGE if source.name == CSV_NAME else f"{source.stem}.html")
    write_page(sweep_page(source, x=x, y=y), target)
    return target


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
