"""The verbs of what-if studies, registered by `cli.py`: sweeps, frontiers and explanations."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.errors import UserError

if TYPE_CHECKING:
    from simulator.sweep.workers import Workers

SweepArgument = Annotated[Path, typer.Argument(help="sweep file", metavar="FILE")]
CsvArgument = Annotated[Path, typer.Argument(help="sweep.csv of a sweep's results", metavar="CSV")]


def sweep(
    file: SweepArgument,
    out: Annotated[
        Path | None, typer.Option(help="results folder; default results/NAME", metavar="DIR")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="processes of this machine; default one a core")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="compute on the Dask cluster of this scheduler", metavar="ADDRESS")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed points again")] = False,
) -> None:
    """Compute many points over a few keys into one CSV; after a kill, go on where it stopped."""
    from rich.console import Console

    from simulator.sweep.progress import sweep_progress
    from simulator.sweep.run import CSV_NAME, run_sweep
    from simulator.sweep.sweep import load_sweep
    from simulator.sweep.text import sweep_text

    loaded = load_sweep(file)
    folder = out or Path("results") / loaded.spec.name
    with sweep_progress(loaded.spec.name) as observer:
        rows = run_sweep(loaded, folder, workers=workers_for(workers, dask), retry=retry, observer=observer)
    print(sweep_text(rows, width=Console().width), end="")
    print(f"\nResults: {folder / CSV_NAME}")


def workers_for(count: int | None, dask: str | None) -> "Workers":
    """Who computes: a Dask cluster, this process alone, or several."""
    import os

    from simulator.sweep.cluster import DaskCluster
    from simulator.sweep.workers import LocalProcesses, ThisProcess

    if dask is not None:
        if count is not None:
            raise UserError("sweep: give --workers or --dask, not both")
        return DaskCluster(dask)
    processes = (
        count or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return ThisProcess() if processes == 1 else LocalProcesses(processes)


def sweep_combine(
    files: Annotated[list[Path], typer.Argument(help="CSVs of sweeps", metavar="CSV...")],
    out: Annotated[Path, typer.Option(help="the combined CSV", metavar="CSV")],
) -> None:
    """Put the rows of several sweeps into one CSV, each point once."""
    from simulator.sweep.run import combine

    rows = combine(files, out)
    print(f"{out}: {len(rows):,} points")


def sweep_plot(
    file: CsvArgument,
    out: Annotated[Path, typer.Option(help="the picture; an SVG is written beside it", metavar="PNG")],
    x: Annotated[
        str | None,
        typer.Option(help="the varied key across; default the one with most values", metavar="KEY"),
    ] = None,
    y: Annotated[str, typer.Option(help="the figure upwards", metavar="COLUMN")] = "communication_s",
) -> None:
    """Draw a figure of a sweep over one of its keys, a line a policy."""
    from simulator.sweep.csv_file import read_rows
    from simulator.sweep.plot import plot_sweep

    _, rows = read_rows(file)
    plot_sweep(rows, out.with_suffix(""), x=x, y=y)
    print(f"{out.with_suffix('.png')}")


VERBS: dict[str, Callable[..., None]] = {
    "sweep": sweep,
    "sweep-combine": sweep_combine,
    "sweep-plot": sweep_plot,
}
