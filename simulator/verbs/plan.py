"""`shardsim plan`: which rows go where, and why."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import TopologyArgument, WorkloadArgument, policy_entry, written_file


def plan(
    topology: TopologyArgument,
    workload: WorkloadArgument,
    policy: Annotated[
        str, typer.Option("--policy", "-p", help="a name, or '{name: flexshard, memory: hbm}'")
    ],
    save: Annotated[Path | None, written_file(help="write the plan as YAML")] = None,
) -> None:
    """Plan a policy, and say which rows go where and why."""
    from rich.console import Console

    from simulator.report.plan_view import plan_text
    from simulator.sharding.check import check_plan
    from simulator.sharding.execution import Execution
    from simulator.sharding.explain import explain_plan
    from simulator.sharding.plan_file import save_plan
    from simulator.sharding.registry import make_plan
    from simulator.topology.load import load_topology
    from simulator.workload.load import load_workload

    cluster, statistics = load_topology(topology), load_workload(workload).statistics()
    made = make_plan(policy_entry(policy), statistics, cluster, Execution())
    check_plan(made, statistics, cluster)
    print(plan_text(made, explain_plan(made, statistics, cluster), width=Console().width), end="")
    if save is not None:
        save_plan(made, save)
