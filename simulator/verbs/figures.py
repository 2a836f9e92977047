"""`shardsim figures`: the paper's figures from their experiments."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.interrupt import resumable


def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="which figures; default all", metavar="[NAME]...")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="from smaller runs, into results/figures unless told otherwise")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="folder of data and pictures; default the committed ones", metavar="DIR"),
    ] = None,
) -> None:
    """Regenerate the paper's figures from experiments/figures.

    After a kill, the same command goes on where it stopped.
    """
    from simulator.figures.make import data_folder, make_figures

    with resumable(data_folder(out, quick=quick)):
        for picture in make_figures(names or [], quick=quick, out=out):
            print(picture)
