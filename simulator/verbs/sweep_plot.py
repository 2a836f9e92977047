"""`shardsim sweep-plot`: a figure of a sweep as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import written_file


def sweep_plot(
    file: Annotated[Path, typer.Argument(help="sweep.csv of a sweep's results", metavar="CSV")],
    out: Annotated[Path, written_file(help="the picture; an SVG is written beside it", metavar="PNG")],
    x: Annotated[
        str | None,
        typer.Option(help="the varied key across; default the one with most values", metavar="KEY"),
    ] = None,
    y: Annotated[str, typer.Option(help="the figure upwards", metavar="COLUMN")] = "communication_s",
) -> None:
    """Draw a sweep over one of its keys, a line a policy."""
    from simulator.sweeps.csv_file import read_rows
    from simulator.sweeps.plot import plot_sweep

    _, rows = read_rows(file)
    plot_sweep(rows, out.with_suffix(""), x=x, y=y)
    print(f"{out.with_suffix('.png')}")
