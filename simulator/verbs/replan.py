"""`shardsim replan`: how often to plan anew."""

from typing import Annotated

import typer

from simulator.units import parse_duration
from simulator.verbs.arguments import (
    EngineOption,
    JsonOption,
    ToleranceOption,
    TopologyArgument,
    WorkloadArgument,
    policy_entry,
    quantity_argument,
)

PolicyOption = Annotated[
    str, typer.Option("--policy", "-p", help="a name, or '{name: flexshard, memory: hbm}'")
]
EveryOption = Annotated[
    list[int], typer.Option(min=1, help="iterations from one plan to the next; repeat it")
]
OverOption = Annotated[
    int, typer.Option(min=1, help="iterations that the workload's drift, or its epoch, takes")
]
DriftOption = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="share of all lookups that moves; default what the workload says"),
]
HorizonOption = Annotated[
    int | None,
    typer.Option(min=1, help="iterations of a plan never renewed; default 10 x the longest interval"),
]
PauseOption = Annotated[
    str | None,
    typer.Option(help="how long a new plan stops training, moving aside", metavar="DURATION"),
]


def replan(
    topology: TopologyArgument,
    workload: WorkloadArgument,
    policy: PolicyOption,
    every: EveryOption = [10, 100, 1_000, 10_000],  # noqa: B006, typer makes a new one
    over: OverOption = 1_000,
    drift: DriftOption = None,
    horizon: HorizonOption = None,
    pause: PauseOption = None,
    iterations: Annotated[int, typer.Option(min=1, help="iterations to replay at each age")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="of every random draw")] = 0,
    engine: EngineOption = "fluid",
    tolerance: ToleranceOption = 0.01,
    json_file: JsonOption = None,
) -> None:
    """Weigh how often to plan anew as popularity moves on."""
    from rich.console import Console

    from simulator import api
    from simulator.experiment.results import write_json
    from simulator.replanning.text import replan_text

    result = api.replan(
        topology,
        workload,
        policy_entry(policy),
        every=every,
        over=over,
        drift=drift,
        horizon=horizon,
        pause_s=0.0 if pause is None else quantity_argument("--pause", pause, parse_duration),
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
    )
    print(replan_text(result.study, width=Console().width), end="")
    if json_file is not None:
        write_json(json_file, result.to_json())
