"""`shardsim report`: results as a page to look at and to send."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import written_file


def report(
    results: Annotated[
        Path, typer.Argument(help="folder of a run or a sweep, or a sweep's CSV", metavar="RESULTS")
    ],
    other: Annotated[
        Path | None,
        typer.Argument(help="folder of a second run, to compare with the first", metavar="RESULTS"),
    ] = None,
    out: Annotated[
        Path | None, written_file("--out", help="the page; default in the folder", metavar="HTML")
    ] = None,
    x: Annotated[
        str | None, typer.Option(help="of a sweep: the varied key of the first picture", metavar="KEY")
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(help="of a sweep: the figure upwards; default communication_s", metavar="COLUMN"),
    ] = None,
) -> None:
    """Write report.html of a run, of a sweep, or of two runs compared."""
    from simulator.results_page import write_page

    print(write_page(results, other, out, x=x, y=y))
