"""`run`: an experiment to a results folder that survives a kill; `compare`: the same without a folder."""

from pathlib import Path

from simulator.errors import UserError
from simulator.experiment.checkpoint import Checkpoint
from simulator.experiment.experiment import Experiment
from simulator.experiment.kind import RUN, refuse_other_kind
from simulator.experiment.results import make_folder, write_iteration, write_results
from simulator.experiment.simulate import (
    Comparison,
    Iteration,
    Observer,
    PolicySetup,
    set_up_all,
    simulate,
)
from simulator.files import held
from simulator.metrics.records import IterationRecord
from simulator.report.build import build_report


def run_experiment(experiment: Experiment, folder: Path, *, observer: Observer | None = None) -> Comparison:
    """Replay an experiment and write its results folder, going on from what an earlier run finished.

    Results of another experiment in the same folder are replaced. Raises UserError, before any replay, when the
    folder cannot be written or holds a sweep, another process is writing there, or a plan does not fit.
    """
    if experiment.workload.spec is None:
        raise UserError("run: a workload built in code has no file to tell it by; use compare")
    refuse_other_kind(folder, RUN)
    make_folder(folder)
    with held(folder):
        return _run(experiment, folder, observer)


def _run(experiment: Experiment, folder: Path, observer: Observer | None) -> Comparison:
    setups = set_up_all(experiment)
    with Checkpoint(folder, experiment.digest()) as checkpoint:

        def keep(setup: PolicySetup, record: IterationRecord, fresh: Iteration | None) -> None:
            """Keep a fresh iteration in the checkpoint, and the first one's files in the folder."""
            if fresh is not None:
                if record.iteration == 0:
                    write_iteration(folder, setup, fresh, experiment.topology)
                checkpoint.append(record)
            if observer is not None:
                observer(setup, record, fresh)

        comparison = simulate(experiment, setups=setups, done=checkpoint.done, observer=keep)
    write_results(folder, comparison)
    build_report(folder)
    return comparison
