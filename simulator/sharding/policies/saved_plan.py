"""A plan made before, perhaps edited by hand: the content of a file that `shardsim plan --save` wrote.

The content is part of the entry, so that results carry all that they came from.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, WithJsonSchema

from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.sharding.execution import Execution
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.plan_file import PlanSpec, build_plan
from simulator.sharding.registry import PolicyEntry, register
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


class SavedPlanOptions(StrictModel):
    """The plan brings its own switches."""

    plan: Annotated[PlanSpec, WithJsonSchema({"type": "object"})] = Field(
        description="the content of a saved plan; required"
    )


@register("saved_plan", "a plan from a file, as `--plan FILE` gives it", options=SavedPlanOptions)
def saved_plan(
    statistics: Statistics, topology: Topology, execution: Execution, options: SavedPlanOptions
) -> ShardingPlan:
    return build_plan(options.plan, statistics, topology, source=f"plan {options.plan.policy!r}")


def saved_plan_entry(path: Path) -> PolicyEntry:
    """An entry that replays the plan of a file, called as the file is. Raises UserError with its lines."""
    options = SavedPlanOptions(plan=load_model(path, PlanSpec))
    return PolicyEntry(name="saved_plan", label=path.stem, switches={}, options=options)
