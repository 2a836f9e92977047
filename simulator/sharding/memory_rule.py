"""How much memory FlexShard may use: "no additional memory" in both of its readings, and a budget.

baseline   no rank keeps more than row-wise's fullest; never-touched rows are reclaimed and pay for copies
hbm        within the reservation, a share of a GPU's memory; every row keeps its place
budget     so much more than row-wise's fullest rank; every row keeps its place, so 0 is row-wise
"""

from dataclasses import dataclass, replace
from typing import Literal

from simulator.sharding.execution import Execution
from simulator.sharding.memory import row_memory_bytes
from simulator.topology.topology import Topology
from simulator.units import UnitError, format_bytes, parse_bytes, spell_bytes
from simulator.workload.workload import Statistics

Rule = Literal["baseline", "hbm"]


@dataclass(frozen=True)
class MemoryRule:
    """The limit on the fullest rank, and whether never-touched rows are reclaimed."""

    limit_bytes: int
    reclaims: bool
    text: str

    def scaled(self, factor: float) -> "MemoryRule":
        """With so many times the limit."""
        if factor == 1.0:
            return self
        return replace(self, limit_bytes=int(factor * self.limit_bytes), text=f"{factor:g} times {self.text}")

    def end_rows(self, statistics: Statistics) -> list[int]:
        """Rows of each table that take memory."""
        return [table.touched_rows if self.reclaims else table.rows for table in statistics.tables]


@dataclass(frozen=True)
class Budget:
    """What may be used beyond row-wise: a share of its fullest rank, or bytes a rank."""

    share: float = 0.0
    extra_bytes: int = 0

    @classmethod
    def parse(cls, value: object) -> "Budget":
        """From '5 %', '200 MB' or 0. Raises ValueError."""
        text = "0 %" if value == 0 and not isinstance(value, bool) else value
        try:
            if not isinstance(text, str) or not text.strip().endswith("%"):
                return cls(extra_bytes=parse_bytes(text, allow_zero=True))
            percent = float(text.strip()[:-1])
        except (UnitError, ValueError) as error:
            raise ValueError(f"{value!r} is neither a share like '5 %' nor bytes like '200 MB'") from error
        if not 0 <= percent < float("inf"):
            raise ValueError(f"{value!r} must be at least 0 %")
        return cls(share=percent / 100)

    def __str__(self) -> str:
        return format_bytes(self.extra_bytes) if self.extra_bytes else f"{100 * self.share:g} %"

    def spelled(self) -> str:
        """A text that `parse` reads back exactly."""
        return spell_bytes(self.extra_bytes) if self.extra_bytes else f"{100 * self.share:.15g} %"

    def beyond(self, row_wise_bytes: int) -> int:
        """Bytes a rank when row-wise's fullest keeps so many."""
        return self.extra_bytes + int(self.share * row_wise_bytes)


def memory_rule(
    statistics: Statistics,
    topology: Topology,
    execution: Execution,
    *,
    rule: Rule,
    budget: Budget | None,
    hbm_share: float,
) -> MemoryRule:
    """The rule that a policy's options ask for; a budget takes the place of `rule`."""
    row_wise_bytes = row_wise_max_bytes(statistics, topology, execution)
    baseline = f"row-wise's {format_bytes(row_wise_bytes)} a rank"
    if budget is not None:
        return MemoryRule(
            row_wise_bytes + budget.beyond(row_wise_bytes), False, f"{baseline} and {budget} more"
        )
    if rule == "hbm":
        limit_bytes = int(hbm_share * topology.hbm_capacity_bytes)
        whole = format_bytes(topology.hbm_capacity_bytes)
        return MemoryRule(limit_bytes, False, f"{100 * hbm_share:g} % of a GPU's {whole}")
    return MemoryRule(row_wise_bytes, True, f"{baseline}, never-touched rows reclaimed")


def row_wise_max_bytes(statistics: Statistics, topology: Topology, execution: Execution) -> int:
    """What the fullest rank keeps under row-wise: the first has the larger block of every table."""
    return sum(
        -(-table.rows // topology.world_size) * row_memory_bytes(table, execution.optimizer)
        for table in statistics.tables
    )


def tier_memory_bytes(
    statistics: Statistics,
    topology: Topology,
    execution: Execution,
    cuts: list[tuple[int, int, int]],
) -> int:
    """What a rank keeps that has the larger block of everything, in the smallest island.

    `cuts` has (replicated, island, end) for each table, in rows.
    """
    total_bytes = 0
    for table, (hot, warm, end) in zip(statistics.tables, cuts, strict=True):
        warm_rows = -(-(warm - hot) // min(topology.island_sizes))
        cold_rows = -(-(end - warm) // topology.world_size)
        total_bytes += (hot + warm_rows + cold_rows) * row_memory_bytes(table, execution.optimizer)
    return total_bytes
