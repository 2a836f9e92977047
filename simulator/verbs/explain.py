"""`shardsim explain`: why an iteration takes as long as it does."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import WorkersOption, written_file


def explain(
    results: Annotated[Path, typer.Argument(help="results folder of a run", metavar="RESULTS")],
    policy: Annotated[
        list[str] | None, typer.Option("--policy", "-p", help="a policy's label; repeat it; default all")
    ] = None,
    step: Annotated[float, typer.Option(min=0.001, max=1, help="by which each knob is turned up")] = 0.1,
    files: Annotated[
        Path | None, typer.Option(help="folder of the workload's traces and histograms", metavar="DIR")
    ] = None,
    workers: WorkersOption = None,
    json_file: Annotated[
        Path | None,
        written_file("--json", help="write the explanation to this file"),
    ] = None,
) -> None:
    """Say why an iteration takes so long, and what would help."""
    from rich.console import Console

    from simulator.experiment.results import write_json
    from simulator.explanation.explanation import explain_experiment
    from simulator.explanation.keep import keep
    from simulator.explanation.rebuild import differences, rebuild
    from simulator.explanation.text import explanation_text
    from simulator.sweeps.choose import workers_for

    experiment = rebuild(results, files=files)
    with workers_for(workers, None) as who:
        found = explain_experiment(experiment, policies=policy, step=step, workers=who)
    print(explanation_text(found, width=Console().width), end="")
    changed = differences(results, {each.policy: each.recorded_s for each in found})
    for line in changed:
        print(line, file=sys.stderr)
    if not changed:
        print(f"\nResults: {keep(results, found)}")
    if json_file is not None:
        write_json(json_file, [each.to_json() for each in found])
