"""`shardsim run`: an experiment into a results folder."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simulator.interrupt import resumable
from simulator.verbs.arguments import ResultsOption


def run(
    experiment: Annotated[Path, typer.Argument(help="experiment file", metavar="EXPERIMENT")],
    out: ResultsOption = None,
) -> None:
    """Replay an experiment and write its results folder.

    After a kill, the same command goes on where it stopped.
    """
    from simulator.experiment.checkpoint import holds_another
    from simulator.experiment.experiment import load_experiment
    from simulator.experiment.results import summary_json
    from simulator.experiment.run import run_experiment
    from simulator.report.table import print_comparison
    from simulator.terminal import progress

    loaded = load_experiment(experiment)
    folder = out or Path("results") / loaded.name
    if holds_another(folder, loaded.digest()):
        print(f"{folder}: results of another experiment, or of other inputs, are replaced", file=sys.stderr)
    with resumable(folder), progress(loaded) as observer:
        comparison = run_experiment(loaded, folder, observer=observer)
    print_comparison(summary_json(comparison))
    print(f"\nResults: {folder}/report.html")
