"""The communication of a training cluster under embedding sharding policies, simulated.

Each verb is one call of the Python API. A mistake in the input is told in plain lines, with exit status 2.
"""

import io
import sys
from typing import Annotated, Any, NoReturn

import typer
import typer.core

from simulator.errors import StoppedError, UserError, is_interrupt
from simulator.verbs.all_to_all import all_to_all
from simulator.verbs.calibrate import calibrate
from simulator.verbs.compare import compare
from simulator.verbs.explain import explain
from simulator.verbs.figures import figures
from simulator.verbs.frontier import frontier
from simulator.verbs.plan import plan
from simulator.verbs.policies import policies
from simulator.verbs.profile import profile
from simulator.verbs.replan import replan
from simulator.verbs.run import run
from simulator.verbs.schema import schema
from simulator.verbs.sweep import sweep
from simulator.verbs.sweep_combine import sweep_combine
from simulator.verbs.sweep_plot import sweep_plot
from simulator.verbs.validate import validate

INTERRUPTED_STATUS = 130
VERBS = (
    *(compare, plan, replan, policies, run, explain),
    *(sweep, sweep_combine, sweep_plot, frontier),
    *(profile, calibrate, all_to_all, figures),
    *(validate, schema),
)


class Verbs(typer.core.TyperGroup):
    """Ctrl-C ends a verb with a line of ours, whichever version of the command line library is below."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; raises StoppedError when it was interrupted."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            raise StoppedError from None


def print_version(wanted: bool) -> None:
    """Callback of `--version`."""
    if wanted:
        from importlib.metadata import version

        print(f"shardsim {version('shardsim')}")
        raise typer.Exit


app = typer.Typer(
    cls=Verbs,
    help=__doc__,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=print_version, is_eager=True),
    ] = False,
) -> None:
    """Options that come before a verb."""


for verb in VERBS:
    app.command(name=verb.__name__.replace("_", "-"))(verb)


def main() -> None:
    """Run the command line; what a user or the machine is to blame for is printed as plain lines."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except UserError as error:
        fail(str(error))
    except StoppedError as stop:
        fail(": ".join(filter(None, ["interrupted", str(stop)])), status=INTERRUPTED_STATUS)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except MemoryError as error:
        fail(f"not enough memory: {error}")


def fail(text: str, *, status: int = 2) -> NoReturn:
    """End with a status and plain lines."""
    print(text, file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
