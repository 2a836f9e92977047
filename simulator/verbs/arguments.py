"""Arguments and options that several verbs share, and quantities given as options."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from simulator.errors import UserError
from simulator.files import writable

if TYPE_CHECKING:
    from simulator.sharding.registry import PolicyEntry

Quantity = TypeVar("Quantity", int, float)


def written_file(*names: str, help: str, metavar: str = "FILE") -> Any:
    """An option that names a file to write; that it can be written is seen before the work begins."""
    return typer.Option(*names, help=help, metavar=metavar, callback=writable)


TopologyArgument = Annotated[Path, typer.Argument(help="topology file", metavar="TOPOLOGY")]
WorkloadArgument = Annotated[Path, typer.Argument(help="workload file", metavar="WORKLOAD")]
JsonOption = Annotated[Path | None, written_file("--json", help="write the figures to this file")]
ResultsOption = Annotated[
    Path | None, typer.Option(help="results folder; default results/NAME", metavar="DIR")
]
EngineOption = Annotated[Literal["fluid", "bound"], typer.Option(help="fluid, or the port bound alone")]
ToleranceOption = Annotated[
    float, typer.Option(min=0, max=1, help="time step as a share of the port bound; 0 is exact")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="processes of this machine; default one a core")
]


def policy_entry(text: str) -> "PolicyEntry":
    """A `--policy` value: a name or a YAML flow mapping."""
    from simulator.config.load import load_value
    from simulator.sharding.registry import PolicyEntry

    entry: PolicyEntry = load_value(text, PolicyEntry, source="--policy")
    return entry


def iterations_argument(text: str) -> 'int | Literal["auto"]':
    """An `--iterations` value, as an experiment's file has it."""
    from simulator.config.load import load_value
    from simulator.experiment.spec import Iterations

    found: int | Literal["auto"] = load_value(text, Iterations, source="--iterations")
    return found


def quantity_argument(option: str, text: str, parse: Callable[[str], Quantity]) -> Quantity:
    """A quantity such as "1 GB" or "5 ms", by a parser of `simulator.units`. Raises UserError that names the option."""
    from simulator.units import UnitError

    try:
        return parse(text)
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error
