"""The simulator from Python: what the command line does, as functions with typed results and pandas frames.

    import simulator

    topology = simulator.load_topology("topologies/dgx_h100_16x8.yaml")
    workload = simulator.load_workload("workloads/sequence_dlrm.yaml")
    result = simulator.compare(topology, workload, ["row_wise", "flexshard"], iterations=2)
    print(result.summary[["policy", "communication_s", "communication_speedup"]])
    faster = topology.with_(nic_bandwidth="800 Gbit/s")

A topology or a workload may be given as the path of its file, a policy as its name or a mapping of name and
options, `execution` as a mapping of switches. A mistake in any of them raises `simulator.errors.UserError`, whose
text is what the command line prints. Everything is deterministic in its arguments.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from simulator.api_arguments import (
    Policy,
    Switches,
    as_execution,
    as_topology,
    as_workload,
    experiment_of,
)
from simulator.api_results import (
    ComparisonResult,
    ExplanationResult,
    PlanResult,
    ReplanResult,
    SimulationResult,
    SweepResult,
)
from simulator.config.load import checked
from simulator.errors import UserError
from simulator.experiment.experiment import load_experiment
from simulator.experiment.run import run_experiment
from simulator.experiment.simulate import Iteration, PolicySetup
from simulator.experiment.simulate import simulate as simulate_experiment
from simulator.experiment.spec import Engine, Precision
from simulator.explanation.elasticity import DEFAULT_STEP
from simulator.explanation.explanation import explain_experiment
from simulator.metrics.records import IterationRecord
from simulator.replanning.replan import DEFAULT_EVERY, DEFAULT_OVER, drifting
from simulator.replanning.replan import replan as weigh
from simulator.results_page import write_page
from simulator.sharding.check import check_plan
from simulator.sharding.memory import memory_bytes
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.sweeps.choose import workers_for
from simulator.sweeps.collect import collect
from simulator.sweeps.spec import SweepSpec
from simulator.sweeps.sweep import Base, Sweep, load_sweep
from simulator.topology.load import load_topology as load_topology_file
from simulator.topology.topology import Topology
from simulator.workload.load import load_workload as load_workload_file
from simulator.workload.workload import Workload


def load_topology(path: str | Path) -> Topology:
    """Read, check and build a topology file. Raises UserError with a line for each problem."""
    return load_topology_file(Path(path))


def load_workload(path: str | Path) -> Workload:
    """Read, check and build a workload file. Raises UserError with a line for each problem."""
    return load_workload_file(Path(path))


def plan(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policy: Policy,
    *,
    execution: Switches | None = None,
) -> PlanResult:
    """Where a policy puts every row, without running anything. Raises UserError when it does not fit."""
    cluster, statistics = as_topology(topology), as_workload(workload).statistics()
    made = make_plan(PolicyEntry.parse(policy), statistics, cluster, as_execution(execution))
    check_plan(made, statistics, cluster)
    return PlanResult(made, memory_bytes(made, statistics, cluster), cluster, statistics)


def simulate(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policy: Policy = "row_wise",
    *,
    iterations: int = 1,
    seed: int = 0,
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
    execution: Switches | None = None,
) -> SimulationResult:
    """Replay iterations of one policy.

    `engine` is "fluid" or "bound"; `tolerance` the fluid step as a share of the port bound, None or 0 exact.
    """
    experiment = experiment_of(
        topology,
        workload,
        [policy],
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
        execution=execution,
    )
    first: list[Iteration] = []

    def keep_first(setup: PolicySetup, record: IterationRecord, fresh: Iteration | None) -> None:
        if fresh is not None and not first:
            first.append(fresh)

    comparison = simulate_experiment(experiment, observer=keep_first)
    return SimulationResult(comparison, first[0])


def compare(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policies: Sequence[Policy],
    *,
    baseline: str | None = None,
    iterations: int | Literal["auto"] = 8,
    precision: Mapping[str, Any] | Precision | None = None,
    seed: int = 0,
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
    execution: Switches | None = None,
) -> ComparisonResult:
    """Replay several policies on the same draws. `baseline` is a label; by default row_wise, or the first.

    `precision` has the keys of an experiment's file, and says when `iterations="auto"` stops.
    """
    experiment = experiment_of(
        topology,
        workload,
        policies,
        baseline=baseline,
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
        execution=execution,
        **({} if precision is None else {"precision": precision}),
    )
    return ComparisonResult(simulate_experiment(experiment))


def run_file(path: str | Path, *, out: str | Path | None = None) -> ComparisonResult:
    """Replay an experiment's file into the results folder `out`, by default results/NAME; after a kill, go on."""
    experiment = load_experiment(Path(path))
    return ComparisonResult(run_experiment(experiment, Path(out or Path("results") / experiment.name)))


def sweep(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policies: Sequence[Policy],
    vary: Mapping[str, Any],
    *,
    then: Mapping[str, Any] | None = None,
    iterations: int = 1,
    seed: int = 0,
    engine: Engine = "bound",
    tolerance: float | None = 0.01,
    execution: Switches | None = None,
    csv: str | Path | None = None,
    workers: int | None = 1,
    dask: str | None = None,
) -> SweepResult:
    """Compute every combination of varied values; `vary`, `then` and the rest are those of a sweep file.

    With `csv` points are kept there as they finish, and a second call goes on from them. `workers` are processes
    (None: one a core); a script that asks for several guards its calls with `if __name__ == "__main__":`, as
    multiprocessing needs. `dask` is the address of a scheduler instead.
    """
    cluster, load = as_topology(topology), as_workload(workload)
    if load.spec is None or load.folder is None:
        raise UserError(f"workload {load.name}: built in code, it has no keys to change")
    data = {
        "name": "sweep",
        "topology": cluster.name,
        "workload": load.name,
        "policies": list(policies),
        "vary": vary,
        "engine": engine,
        "then": then,
        "iterations": iterations,
        "seed": seed,
        "tolerance": tolerance,
        "execution": as_execution(execution),
    }
    spec = checked(data, SweepSpec, source="sweep")
    made = Sweep(spec, Path(), Base(cluster.spec, load.spec, load.folder))
    return _collected(made, csv, workers if dask is None else None, dask)


def sweep_file(
    path: str | Path,
    *,
    csv: str | Path | None = None,
    workers: int | None = 1,
    dask: str | None = None,
) -> SweepResult:
    """Compute the sweep of a file; see `sweep`."""
    return _collected(load_sweep(Path(path)), csv, workers if dask is None else None, dask)


def _collected(made: Sweep, csv: str | Path | None, workers: int | None, dask: str | None) -> SweepResult:
    with workers_for(workers, dask) as who, TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.csv" if csv is None else Path(csv)
        return SweepResult(collect(made, path, workers=who))


def explain(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policies: Sequence[Policy],
    *,
    step: float = DEFAULT_STEP,
    seed: int = 0,
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
    execution: Switches | None = None,
    workers: int | None = 1,
) -> ExplanationResult:
    """Why the first iteration of each policy takes as long as it does, and what its communication time follows."""
    experiment = experiment_of(
        topology,
        workload,
        policies,
        iterations=1,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
        execution=execution,
    )
    with workers_for(workers, None) as who:
        return ExplanationResult(explain_experiment(experiment, step=step, workers=who))


def replan(
    topology: Topology | str | Path,
    workload: Workload | str | Path,
    policy: Policy,
    *,
    every: Sequence[int] = DEFAULT_EVERY,
    over: int = DEFAULT_OVER,
    drift: float | None = None,
    horizon: int | None = None,
    pause_s: float = 0.0,
    iterations: int = 2,
    seed: int = 0,
    engine: Engine = "fluid",
    tolerance: float | None = 0.01,
    execution: Switches | None = None,
) -> ReplanResult:
    """What planning anew every so many iterations costs and gains, as the workload's drift or epoch moves on.

    The changes that the workload declares take `over` iterations; `drift` is a share of all lookups that moves
    instead of what the workload says. A plan that is never renewed is kept for `horizon` iterations, by default
    ten times the longest interval.
    """
    experiment = experiment_of(
        topology,
        drifting(as_workload(workload), drift),
        [policy],
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
        execution=execution,
    )
    return ReplanResult(weigh(experiment, every=every, over=over, horizon=horizon, pause_s=pause_s))


def write_report(
    results: str | Path,
    other: str | Path | None = None,
    *,
    out: str | Path | None = None,
    x: str | None = None,
    y: str | None = None,
) -> Path:
    """Write the page of a run, of a sweep (`x` across, `y` upwards), or of two runs compared; where it lies."""
    other, out = (None if path is None else Path(path) for path in (other, out))
    return write_page(Path(results), other, out, x=x, y=y)
