"""`shardsim compare`: policies on a topology and a workload, without a file of its own."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import UserError
from simulator.verbs.arguments import (
    EngineOption,
    JsonOption,
    ToleranceOption,
    TopologyArgument,
    WorkloadArgument,
    iterations_argument,
    policy_entry,
)

PolicyOption = Annotated[
    list[str],
    typer.Option("--policy", "-p", help="a name, or '{name: flexshard, memory: hbm}'; repeat it"),
]
PlanOption = Annotated[
    list[Path], typer.Option("--plan", help="a saved plan to compare as well; repeat it", metavar="FILE")
]
BaselineOption = Annotated[
    str | None, typer.Option(help="label to compare with; default row_wise or the first")
]

IterationsOption = Annotated[
    str,
    typer.Option(help="iterations to replay; auto: until communication is known within ± 1 %", metavar="N"),
]


def compare(
    topology: TopologyArgument,
    workload: WorkloadArgument,
    policy: PolicyOption = [],  # noqa: B006, typer makes a new one
    plan_file: PlanOption = [],  # noqa: B006
    iterations: IterationsOption = "8",
    seed: Annotated[int, typer.Option(min=0, help="of every random draw")] = 0,
    engine: EngineOption = "fluid",
    tolerance: ToleranceOption = 0.01,
    baseline: BaselineOption = None,
    json_file: JsonOption = None,
) -> None:
    """Compare sharding policies on a topology and a workload."""
    from simulator.experiment.experiment import make_experiment
    from simulator.experiment.results import summary_json, write_json
    from simulator.experiment.simulate import simulate
    from simulator.report.table import print_comparison
    from simulator.sharding.policies.saved_plan import saved_plan_entry
    from simulator.terminal import progress
    from simulator.topology.load import load_topology
    from simulator.workload.load import load_workload

    if not policy and not plan_file:
        raise UserError("compare: name at least one --policy or --plan; `shardsim policies` lists them")
    experiment = make_experiment(
        name="compare",
        topology=load_topology(topology),
        workload=load_workload(workload),
        policies=[*map(policy_entry, policy), *(saved_plan_entry(file) for file in plan_file)],
        baseline=baseline,
        iterations=iterations_argument(iterations),
        seed=seed,
        engine=engine,
        tolerance=tolerance,
    )
    with progress(experiment) as observer:
        figures = summary_json(simulate(experiment, observer=observer))
    print_comparison(figures)
    if json_file is not None:
        write_json(json_file, figures)
