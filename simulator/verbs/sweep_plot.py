"""`shardsim sweep-plot`: a figure of a sweep as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import written_file


def sweep_plot(
    file: Annotated[Path, typer.Argument(help="a sweep's folder or CSV", metavar="RESULTS")],
    out: Annotated[Path, written_file(help="the picture; an SVG is written beside it", metavar="PNG")],
    x: Annotated[
        str | None,
        typer.Option(help="the varied key across; default the one with most values", metavar="KEY"),
    ] = None,
    y: Annotated[str, typer.Option(help="the figure upwards", metavar="COLUMN")] = "communication_s",
) -> None:
    """Draw a sweep over one of its keys, a line a policy."""
    from simulator.errors import UserError
    from simulator.experiment.kind import RUN
    from simulator.results_page import kind_of
    from simulator.sweeps.csv_file import read_rows
    from simulator.sweeps.plot import plot_sweep
    from simulator.sweeps.run import CSV_NAME

    if kind_of(file) == RUN:
        raise UserError(f"sweep-plot: {file} is a run, a sweep is expected")
    _, rows = read_rows(file / CSV_NAME if file.is_dir() else file)
    plot_sweep(rows, out.with_suffix(""), x=x, y=y)
    print(f"{out.with_suffix('.png')}")
