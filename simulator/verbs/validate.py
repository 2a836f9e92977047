"""`shardsim validate`: files checked before anything runs."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import UserError


def validate(
    files: Annotated[list[Path], typer.Argument(help="files of any kind that shardsim reads")],
) -> None:
    """Check files and say what they are; nothing is run."""
    from simulator.validate import validate_file

    problems = []
    for file in files:
        try:
            print(f"{file}: {validate_file(file)}")
        except UserError as error:
            problems.append(str(error))
    if problems:
        raise UserError("\n".join(problems))
