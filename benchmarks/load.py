"""Load: long runs, long traces, and what checking every iteration costs.

Memory must be flat: figures say how much a process has after a tenth of the work and after all of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import simulator.experiment.simulate as simulation
from benchmarks.case import Case, Figures
from benchmarks.tables import ROOT
from simulator.arrays import IntArray
from simulator.experiment.experiment import Experiment, load_experiment
from simulator.experiment.run import run_experiment
from simulator.experiment.simulate import Iteration, PolicySetup, set_up, simulate_iteration
from simulator.metrics.invariants import check_iteration
from simulator.metrics.records import IterationRecord
from simulator.workload.profile import profile_trace
from simulator.workload.traces.source import Format, TraceSource

MB = 1e6
DIFFERENT_IDS = 1_000_000
BLOCK_LOOKUPS = 500_000  # that a trace is written by
BLOCKS = 8  # that differ; sessions of a longer trace come again


def quickstart(policy: str, iterations: int) -> Experiment:
    """128 ranks, 4 tables, one policy."""
    whole = load_experiment(ROOT / "experiments" / "quickstart.yaml")
    entries = tuple(entry for entry in whole.policies if entry.label == policy)
    return replace(whole, policies=entries, baseline=policy, iterations=iterations)


def long_run(experiment: Experiment) -> Figures:
    """A results folder, its size, and memory on the way."""
    assert isinstance(experiment.iterations, int)
    memory_mb: dict[int, float] = {}

    def observe(setup: PolicySetup, record: IterationRecord, fresh: Iteration | None) -> None:
        memory_mb[record.iteration + 1] = resident_mb()

    with TemporaryDirectory() as name:
        run_experiment(experiment, Path(name), observer=observe)
        size = sum(file.stat().st_size for file in Path(name).rglob("*") if file.is_file())
    return {
        "iterations": len(memory_mb),
        "at_a_tenth_mb": memory_mb[experiment.iterations // 10],
        "at_the_end_mb": memory_mb[experiment.iterations],
        "with_report_mb": resident_mb(),
        "folder_mb": size / MB,
    }


def resident_mb() -> float:
    """Memory that this process has now; where the system does not tell, 0."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 / MB if status.exists() else 0.0


@dataclass(frozen=True)
class WrittenTrace:
    """A trace in a folder of its own that goes when this does."""

    folder: TemporaryDirectory[str]
    source: TraceSource


def trace(size_mb: int, format: Format) -> WrittenTrace:
    """Skewed ids, sequences of 20 on average."""
    folder = TemporaryDirectory()
    path, written, number = Path(folder.name) / "trace.txt", 0, 0
    with path.open("wb") as file:
        while written < size_mb * MB:
            written += file.write(sessions(number % BLOCKS) if format == "sessions" else user_items(number))
            number += 1
    return WrittenTrace(folder, TraceSource(path, format))


def block(number: int) -> tuple[IntArray, IntArray]:
    """[lookups] ids of a block, and the user of each."""
    rng = np.random.default_rng(number)
    items = (rng.zipf(1.3, BLOCK_LOOKUPS) + number * 1_000) % DIFFERENT_IDS
    users = np.repeat(np.arange(BLOCK_LOOKUPS), rng.integers(1, 40, BLOCK_LOOKUPS))[:BLOCK_LOOKUPS]
    return items, users + number * BLOCK_LOOKUPS


@cache
def sessions(number: int) -> bytes:
    items, users = block(number)
    ends = np.flatnonzero(np.diff(users)) + 1
    return "".join(" ".join(map(str, part.tolist())) + "\n" for part in np.split(items, ends)).encode()


def user_items(number: int) -> bytes:
    items, users = block(number)
    return "".join(f"{user} {item}\n" for user, item in zip(users, items, strict=True)).encode()


def profile(work: WrittenTrace) -> Figures:
    """Measure a trace; its speed is in seconds of computing."""
    began = time.process_time()
    found = profile_trace(work.source)
    size_mb = work.source.path.stat().st_size / MB
    return {
        "file_mb": size_mb,
        "mb_per_s": size_mb / (time.process_time() - began),
        "rows": found.rows_touched,
    }


def check_share(experiment: Experiment) -> Figures:
    """Seconds of checking in those of whole iterations, side by side."""
    setup = set_up(experiment, experiment.policies[0])
    simulate_iteration(experiment, setup, 0)
    spent_s = [0.0]

    def timed(*values: object, **names: object) -> None:
        began = time.process_time()
        check_iteration(*values, **names)  # type: ignore[arg-type]
        spent_s[0] += time.process_time() - began

    with patch.object(simulation, "check_iteration", timed):
        began = time.process_time()
        for number in range(1, 21):
            simulate_iteration(experiment, setup, number)
        whole_s = time.process_time() - began
    return {"iteration_ms": whole_s * 50, "check_ms": spent_s[0] * 50, "share_%": 100 * spent_s[0] / whole_s}


def runs(iterations: int, *, large: bool) -> Case:
    prepare: Callable[[], Experiment] = partial(quickstart, "flexshard", iterations)
    counts = {"iterations": iterations}
    return Case(f"load, {iterations:,} iterations", prepare, long_run, "flat", 1, counts, large)


def traces(size_mb: int, format: Format, *, large: bool) -> Case:
    name = f"load, {size_mb:,} MB {format}"
    return Case(name, partial(trace, size_mb, format), profile, "50 MB/s", 1, large=large)


CASES = (
    runs(50, large=False),
    runs(1_000, large=True),
    traces(100, "sessions", large=False),
    traces(100, "user_item", large=False),
    traces(2_000, "sessions", large=True),
    *(
        Case(f"load, checks, {policy}", partial(quickstart, policy, 1), check_share, "2 %", 3)
        for policy in ("row_wise", "flexshard")
    ),
)
