"""`shardsim schema`: for editors that complete and check YAML."""

from typing import Annotated, Literal

import typer


def schema(
    kind: Annotated[
        Literal["topology", "workload", "experiment", "sweep", "plan", "prices"],
        typer.Argument(help="kind of file"),
    ],
) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    import json

    from simulator.config.load import json_schema
    from simulator.validate import model_of

    print(json.dumps(json_schema(model_of(kind)), indent=1))
