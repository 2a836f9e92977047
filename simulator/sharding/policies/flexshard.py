"""FlexShard: each row in one of three tiers, by how often it is expected to be looked up.

Hot rows are replicated on every rank, warm rows have a copy in every island, the rest is row-wise over all
ranks. Tier names, costs and planner are ours, for the paper's are not public. `planner` says how the cuts are
chosen, `memory_rule` what copies may take, `tiering` how they become a plan. Where no copy pays, the plan is
row-wise.
"""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from simulator.config.model import StrictModel
from simulator.config.types import Positive, PositiveShare
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.memory_rule import Budget, Rule, memory_rule, row_wise_max_bytes
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.policies.row_wise import row_wise
from simulator.sharding.predict import predict
from simulator.sharding.registry import NoOptions, register
from simulator.sharding.tiering import TierPlanner, why_no_copies
from simulator.topology.topology import Topology
from simulator.units import format_bytes, format_duration
from simulator.workload.workload import Statistics


def _parse_budget(value: Any) -> Budget | None:
    return value if value is None or isinstance(value, Budget) else Budget.parse(value)


class FlexShardOptions(StrictModel):
    """What copies of rows may take. The reservation's share is TorchRec's default (15 % is left to the rest)."""

    memory: Rule = Field(
        "baseline", description="baseline: no more than row-wise; hbm: within the reservation"
    )
    budget: Annotated[
        Budget | None,
        BeforeValidator(_parse_budget),
        PlainSerializer(Budget.spelled, return_type=str, when_used="json-unless-none"),
        WithJsonSchema({"type": "string", "examples": ["5 %"]}),
    ] = Field(
        None, description="instead of memory: what may be used beyond row-wise, '5 %' or '200 MB' a rank"
    )
    hbm_share: PositiveShare = Field(
        0.85, description="part of a GPU's memory reserved for tables; default 0.85"
    )
    memory_scale: Positive = Field(
        1.0, description="multiplies the memory that the rule allows, for studies; default 1"
    )

    @model_validator(mode="after")
    def _one_rule(self) -> "FlexShardOptions":
        if self.budget is not None and "memory" in self.model_fields_set:
            raise ValueError("give `memory` or `budget`, not both")
        return self


@register("flexshard", "rows replicated, by island or global, by popularity", options=FlexShardOptions)
def flexshard(
    statistics: Statistics, topology: Topology, execution: Execution, options: FlexShardOptions
) -> ShardingPlan:
    """Plan tiers a table; row-wise where no tier is worth having. Raises UserError when nothing fits."""
    rule = memory_rule(
        statistics,
        topology,
        execution,
        rule=options.memory,
        budget=options.budget,
        hbm_share=options.hbm_share,
    ).scaled(options.memory_scale)
    baseline = row_wise(statistics, topology, execution, NoOptions())
    planner = TierPlanner(statistics, topology, execution, rule)
    best = planner.best()
    baseline_s = planner.predicted_s(baseline)
    if best is None or planner.predicted_s(best) >= baseline_s:
        row_wise_bytes = row_wise_max_bytes(statistics, topology, execution)
        if options.memory_scale < 1.0 and row_wise_bytes > rule.limit_bytes:
            raise UserError(
                f"flexshard: {rule.text} is too little: no tiers that pay fit, and row-wise takes "
                f"{format_bytes(row_wise_bytes)} a rank"
            )
        reason = why_no_copies(planner.program(), statistics)
        return replace(baseline, policy="flexshard", notes=(f"row-wise: {reason}",))
    even = gain_note(
        "balanced owners", *(predict(plan, statistics, topology).total_s for plan in (best, baseline))
    )
    busiest = gain_note("the busiest owner counted", planner.predicted_s(best), baseline_s)
    return replace(best, notes=(f"memory: {rule.text}", even, busiest))


def gain_note(how: str, own_s: float, baseline_s: float) -> str:
    """A prediction in words."""
    own, baseline = format_duration(own_s), format_duration(baseline_s)
    return f"predicted, {how}: {own} an iteration, row-wise {baseline} ({baseline_s / own_s:.2f} times)"
