"""`shardsim sweep`: many points over a few keys."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simulator.interrupt import resumable
from simulator.verbs.arguments import ResultsOption, WorkersOption

ALL_FAILED = 1  # the status when nothing could be computed; the folder says why


def sweep(
    file: Annotated[Path, typer.Argument(help="sweep file", metavar="FILE")],
    out: ResultsOption = None,
    workers: WorkersOption = None,
    dask: Annotated[
        str | None, typer.Option(help="compute on the Dask cluster of this scheduler", metavar="ADDRESS")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed points again")] = False,
) -> None:
    """Compute many points over a few keys into one CSV.

    After a kill, the same command goes on where it stopped. The exit status is 1 when no point has an answer.
    """
    from rich.console import Console

    from simulator.sweeps.choose import workers_for
    from simulator.sweeps.progress import sweep_progress
    from simulator.sweeps.rows import ERROR
    from simulator.sweeps.run import CSV_NAME, run_sweep
    from simulator.sweeps.sweep import load_sweep
    from simulator.sweeps.text import sweep_text

    loaded = load_sweep(file)
    folder = out or Path("results") / loaded.spec.name
    with (
        resumable(folder),
        workers_for(workers, dask) as who,
        sweep_progress(loaded.spec.name) as observer,
    ):
        rows = run_sweep(loaded, folder, workers=who, retry=retry, observer=observer)
    print(sweep_text(rows, width=Console().width), end="")
    print(f"\nResults: {folder / CSV_NAME} and report.html")
    if all(row.get(ERROR) for row in rows):
        print(f"{folder}: every point failed", file=sys.stderr)
        raise typer.Exit(ALL_FAILED)
