"""The communication of a training cluster under embedding sharding policies, simulated.

A mistake in the input is told in plain lines, with exit status 2.
"""

import sys
from typing import Annotated, Any

import typer
import typer.core

from simulator import interrupt
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
from simulator.verbs.report import report
from simulator.verbs.run import run
from simulator.verbs.schema import schema
from simulator.verbs.sweep import sweep
from simulator.verbs.sweep_combine import sweep_combine
from simulator.verbs.sweep_plot import sweep_plot
from simulator.verbs.validate import validate

VERBS = (
    *(compare, plan, replan, policies, run, explain),
    *(sweep, sweep_combine, sweep_plot, frontier, report),
    *(profile, calibrate, all_to_all, figures),
    *(validate, schema),
)


class Verbs(typer.core.TyperGroup):
    """Ctrl-C ends a verb with a line of ours, whichever version of the command line library is below."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; ends with status 130 when it was interrupted."""
        try:
            return super().invoke(ctx)
        except BaseException:
            if not interrupt.interrupted():
                raise
            print(interrupt.text(), file=sys.stderr)
            raise typer.Exit(interrupt.STATUS) from None


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
