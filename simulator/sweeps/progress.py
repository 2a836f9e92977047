"""Tells the person at the terminal how far a sweep is, how fast it goes and how long it will take."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from simulator.sweeps.collect import Observer, Progress
from simulator.units import format_duration

LINES = 10  # of a pass, where there is no terminal


@contextmanager
def sweep_progress(name: str) -> Iterator[Observer]:
    """A bar for each pass on a terminal, a line now and then elsewhere; all of it to standard error."""
    if sys.stderr.isatty():
        with _bars() as observer:
            yield observer
    else:
        yield _Lines(name)


@dataclass
class Clock:
    """Rate and remaining time of a pass."""

    begun_s: float

    def pace(self, progress: Progress, now_s: float) -> str:
        """Points a second since the pass began, and how long the rest takes at this rate; empty at first."""
        rate = progress.computed / (now_s - self.begun_s) if now_s > self.begun_s else 0.0
        if not rate:
            return ""
        left = progress.points - progress.known - progress.computed
        return f", {rate:.3g} points/s, {format_duration(left / rate)} left"


class _Lines:
    def __init__(self, name: str) -> None:
        self.name = name
        self.clock = Clock(0.0)
        self.told = -1

    def __call__(self, progress: Progress) -> None:
        if not progress.computed:
            self.clock, self.told = Clock(time.monotonic()), -1
        finished = progress.known + progress.computed
        tenth = LINES * finished // max(progress.points, 1)
        if tenth > self.told:
            self.told = tenth
            pace = self.clock.pace(progress, time.monotonic())
            print(f"{self.name}: {finished_text(progress)}{pace}", file=sys.stderr, flush=True)


def finished_text(progress: Progress) -> str:
    """'120 of 1,000 bound points, 3 failed'."""
    finished = progress.known + progress.computed
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    return f"{finished:,} of {progress.points:,} {progress.engine} points{failed}"


@contextmanager
def _bars() -> Iterator[Observer]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description:6}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with Display(*columns, console=Console(stderr=True)) as display:
        tasks: dict[str, tuple[TaskID, Clock]] = {}

        def show(progress: Progress) -> None:
            """Move the bar of the pass that `progress` tells of."""
            if progress.engine not in tasks:
                task = display.add_task(progress.engine, total=progress.points, pace="")
                tasks[progress.engine] = (task, Clock(time.monotonic()))
            task, clock = tasks[progress.engine]
            failed = f"{progress.failed:,} failed" if progress.failed else ""
            pace = (failed + clock.pace(progress, time.monotonic())).removeprefix(", ")
            display.update(task, completed=progress.known + progress.computed, pace=pace)

        yield show
