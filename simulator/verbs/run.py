"""`shardsim run`: an experiment into a results folder."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import ResultsOption


def run(
    experiment: Annotated[Path, typer.Argument(help="experiment file", metavar="EXPERIMENT")],
    out: ResultsOption = None,
) -> None:
    """Replay an experiment and write its results folder.

    After a kill, the same command goes on where it stopped.
    """
    from simulator.experiment.experiment import load_experiment
    from simulator.experiment.results import summary_json
    from simulator.experiment.run import run_experiment
    from simulator.report.table import print_comparison
    from simulator.terminal import progress, resumable

    loaded = load_experiment(experiment)
    folder = out or Path("results") / loaded.name
    with resumable(folder), progress(loaded) as observer:
        comparison = run_experiment(loaded, folder, observer=observer)
    print_comparison(summary_json(comparison))
    print(f"\nResults: {folder}/report.html")
