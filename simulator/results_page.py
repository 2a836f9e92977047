"""The page of results, whatever they are: a run, a sweep, or two runs compared."""

from pathlib import Path

from simulator.errors import UserError
from simulator.experiment.kind import RUN, SWEEP, kind_of_folder
from simulator.report.build import build_comparison, build_report
from simulator.sweeps.page import METRIC
from simulator.sweeps.run import build_page


def write_page(
    results: Path,
    other: Path | None = None,
    page: Path | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
) -> Path:
    """Write the page of `results`, or of two runs, and say where it lies: in the folder, unless `page` is given.

    `x` and `y` are a varied key and a figure of a sweep. Raises UserError for what holds no results, and for what
    cannot be compared.
    """
    kind = kind_of(results)
    if kind == RUN and (x or y):
        raise UserError(f"report: --x and --y are for a sweep, {results} is a run")
    if other is not None:
        for path in (results, other):
            if kind_of(path) != RUN:
                raise UserError(f"report: two runs can be compared, {path} is a sweep")
        return build_comparison(results, other, page)
    if kind == SWEEP:
        return build_page(results, page, x=x, y=y or METRIC)
    return build_report(results, page)


def kind_of(path: Path) -> str:
    """Whether results are those of a run or of a sweep. Raises UserError when they are neither."""
    if path.is_file() and path.suffix == ".csv":
        return SWEEP
    if not path.exists():
        raise UserError(f"{path}: no such file or directory")
    if path.is_dir():
        if kind := kind_of_folder(path):
            return kind
        raise UserError(f"{path}: holds neither summary.json (a finished run) nor sweep.csv (a sweep)")
    raise UserError(f"{path}: the folder of a run or a sweep, or a sweep's CSV, is expected")
