"""Progress and messages for the person at the terminal; all of it goes to standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from simulator.experiment.experiment import Experiment
from simulator.experiment.simulate import Iteration, Observer, PolicySetup
from simulator.metrics.records import IterationRecord


@contextmanager
def progress(experiment: Experiment) -> Iterator[Observer]:
    """A progress bar on a terminal, elsewhere a line for each policy that is computed."""
    if sys.stderr.isatty():
        with bar(experiment) as observer:
            yield observer
    else:
        announced: dict[str, int] = {}
        yield plain_lines(experiment, announced)
        if not announced:
            print(f"{experiment.name}: all was computed before", file=sys.stderr, flush=True)


@contextmanager
def bar(experiment: Experiment) -> Iterator[Observer]:
    """A bar a policy, with the time that remains."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    total = experiment.iterations if isinstance(experiment.iterations, int) else None
    with Progress(*columns, console=Console(stderr=True)) as display:
        tasks = {entry.label: display.add_task(entry.label, total=total) for entry in experiment.policies}

        def advance(setup: PolicySetup, record: IterationRecord, fresh: Iteration | None) -> None:
            display.advance(tasks[setup.label])

        yield advance


def plain_lines(experiment: Experiment, announced: dict[str, int]) -> Observer:
    """A line a policy, when its first iteration that was not known before is done; `announced` keeps which it was."""

    def announce(setup: PolicySetup, record: IterationRecord, fresh: Iteration | None) -> None:
        if fresh is None or setup.label in announced:
            return
        announced[setup.label] = record.iteration
        since = f" from iteration {record.iteration}" if record.iteration else ""
        print(f"{experiment.name}: {setup.label}{since} ...", file=sys.stderr, flush=True)

    return announce
