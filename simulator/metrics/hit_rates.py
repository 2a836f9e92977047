"""How many lookups each tier was planned to take, and how many it took: they part when popularity has drifted."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.metrics.records import IterationRecord
from simulator.sharding.plan import ShardingPlan
from simulator.sums import added
from simulator.workload.workload import Statistics


@dataclass(frozen=True)
class HitRate:
    """Shares of all lookups. `achieved_share` is None when there were none."""

    tier: str
    planned_share: float
    achieved_share: float | None


def hit_rates(
    plan: ShardingPlan, statistics: Statistics, records: Sequence[IterationRecord]
) -> tuple[HitRate, ...]:
    """A rate for each tier of the plan, and for reclaimed rows, in the order in which tiers first appear."""
    planned = planned_lookups(plan, statistics)
    expected = added(planned.values())
    hits = {tier: sum(record.hits_by_tier.get(tier, 0) for record in records) for tier in planned}
    total = sum(sum(record.hits_by_tier.values()) for record in records)
    return tuple(
        HitRate(
            tier=tier,
            planned_share=lookups / expected if expected else 0.0,
            achieved_share=hits[tier] / total if total else None,
        )
        for tier, lookups in planned.items()
    )


def planned_lookups(plan: ShardingPlan, statistics: Statistics) -> dict[str, float]:
    """Expected lookups a rank and iteration by tier, reclaimed rows (planned for none) last."""
    planned: dict[str, float] = {}
    for table, table_plan in zip(statistics.tables, plan.tables, strict=True):
        for segment in table_plan.segments:
            low, high = table.popularity.cumulative_share([segment.start, segment.stop])
            tier = str(segment.layout.tier)
            planned[tier] = planned.get(tier, 0.0) + float(high - low) * table.lookups_per_rank
    return planned | {"reclaimed": 0.0}
