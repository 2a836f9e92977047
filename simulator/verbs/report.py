"""`shardsim report`: results as a page to look at and to send."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import UserError
from simulator.verbs.arguments import written_file

RUN, SWEEP = "run", "sweep"


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
    from simulator.report.build import build_comparison, build_report
    from simulator.sweeps.page import METRIC
    from simulator.sweeps.run import build_page

    kind = kind_of(results)
    if kind == RUN and (x or y):
        raise UserError(f"report: --x and --y are for a sweep, {results} is a run")
    if other is not None:
        for path in (results, other):
            if kind_of(path) != RUN:
                raise UserError(f"report: two runs can be compared, {path} is a sweep")
        page = build_comparison(results, other, out)
    elif kind == SWEEP:
        page = build_page(results, out, x=x, y=y or METRIC)
    else:
        page = build_report(results, out)
    print(page)


def kind_of(path: Path) -> str:
    """Whether results are those of a run or of a sweep. Raises UserError when they are neither."""
    if path.is_dir() and (path / "summary.json").exists():
        return RUN
    if (path.is_dir() and (path / "sweep.csv").exists()) or (path.is_file() and path.suffix == ".csv"):
        return SWEEP
    if not path.exists():
        raise UserError(f"{path}: no such file or directory")
    if path.is_dir():
        raise UserError(f"{path}: holds neither summary.json (a finished run) nor sweep.csv (a sweep)")
    raise UserError(f"{path}: the folder of a run or a sweep, or a sweep's CSV, is expected")
