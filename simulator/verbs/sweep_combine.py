"""`shardsim sweep-combine`: the rows of several sweeps as one."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import written_file


def sweep_combine(
    files: Annotated[list[Path], typer.Argument(help="CSVs of sweeps", metavar="CSV...")],
    out: Annotated[Path, written_file(help="the combined CSV", metavar="CSV")],
) -> None:
    """Put several sweeps into one CSV, each point once."""
    from simulator.sweeps.run import combine

    rows = combine(files, out)
    print(f"{out}: {len(rows):,} points")
