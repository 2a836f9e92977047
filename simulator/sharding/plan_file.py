"""A plan as a YAML file that people can read, edit and replay.

    policy: flexshard
    world_size: 128
    execution: {dedup: rank}
    tables:
    - table: items_0
      segments:
      - {to: 12833, tier: replicated}     # rows [0, 12833) in order of popularity
      - {to: 72971, tier: island}
      - {to: 4000000, tier: global}       # rows beyond are reclaimed

A segment begins where the one before ends. `owners` names the ranks of a global segment that is not on all of
them, `split: columns` cuts their columns, `group_size` belongs to tier `group`.
"""

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import Count, NonNegative, PositiveCount, Share, Text
from simulator.errors import UserError
from simulator.files import replace_file
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import column_owners, global_owners, groups, island, replicated
from simulator.sharding.plan import Layout, Prices, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


class SegmentSpec(StrictModel):
    """A run of rows placed alike."""

    to: Count = Field(description="the row, in order of popularity, that it ends before")
    tier: Literal["replicated", "island", "global", "group"] = Field(description="where its copies are")
    owners: tuple[Count, ...] | None = Field(
        None, strict=False, description="ranks of a global segment, in order of their shards; default all"
    )
    split: Literal["rows", "columns"] = Field(
        "rows", description="what each owner holds a block of; default rows"
    )
    group_size: PositiveCount | None = Field(None, description="ranks that share one copy, for tier group")
    memory: Literal["hbm", "host"] = Field("hbm", description="whose memory the rows are in; default hbm")

    @model_validator(mode="after")
    def _keys_of_tier(self) -> "SegmentSpec":
        findings = []
        if self.tier != "global" and (self.owners is not None or self.split == "columns"):
            findings.append(
                Finding(("tier",), f"found {self.tier!r}: `owners` and `split` belong to tier global")
            )
        if (self.tier == "group") != (self.group_size is not None):
            findings.append(
                Finding(("tier",), f"found {self.tier!r}: `group_size` goes with tier group alone")
            )
        if findings:
            refuse(findings)
        return self


class TableSpec(StrictModel):
    """One table's rows."""

    table: Text = Field(description="its name in the workload")
    segments: tuple[SegmentSpec, ...] = Field(
        strict=False, description="in order of popularity, hottest first"
    )


class PricesSpec(StrictModel):
    """What the planner found scarce; for explanations alone."""

    nic_shares: tuple[Share, ...] = Field(strict=False, description="of each race, what the NICs hold")
    memory_s_per_byte: NonNegative = Field(description="seconds saved by a byte more on every rank")


class PlanSpec(StrictModel):
    """A whole plan."""

    policy: Text = Field(description="what results call it")
    world_size: PositiveCount = Field(description="ranks that it is made for")
    execution: Execution = Field(Execution(), description="switches that differ from their defaults")
    prices: PricesSpec | None = Field(None, description="what the planner found scarce")
    tables: tuple[TableSpec, ...] = Field(strict=False, description="in the workload's order")


def save_plan(plan: ShardingPlan, path: Path) -> None:
    """Write the plan; what the planner said of it goes into comments. Raises UserError."""
    replace_file(path, plan_text(plan))


def plan_text(plan: ShardingPlan) -> str:
    """The file's text."""
    data: dict[str, Any] = {"policy": plan.policy, "world_size": plan.world_size}
    data["execution"] = plan.execution.model_dump(exclude_defaults=True)
    if plan.prices is not None:
        data["prices"] = {
            "nic_shares": list(plan.prices.nic_shares),
            "memory_s_per_byte": plan.prices.memory_s_per_byte,
        }
    data["tables"] = [
        {
            "table": table.table,
            "segments": [_segment_data(segment, plan.world_size) for segment in table.segments],
        }
        for table in plan.tables
    ]
    notes = "".join(f"# {note}\n" for note in plan.notes)
    return notes + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110)


def load_plan(path: Path, statistics: Statistics, topology: Topology) -> ShardingPlan:
    """The plan of a file, checked against the workload and the topology to the row. Raises UserError."""
    return build_plan(load_model(path, PlanSpec), statistics, topology, source=str(path))


def build_plan(spec: PlanSpec, statistics: Statistics, topology: Topology, *, source: str) -> ShardingPlan:
    """The plan that a file, which errors call `source`, holds; checked to the row. Raises UserError."""
    if spec.world_size != topology.world_size:
        raise UserError(
            f"{source}: world_size: made for {spec.world_size} ranks, the topology has {topology.world_size}"
        )
    prices = None
    if spec.prices is not None:
        prices = Prices(spec.prices.nic_shares, spec.prices.memory_s_per_byte)
    tables = tuple(_table_plan(table, topology, source) for table in spec.tables)
    plan = ShardingPlan(spec.policy, spec.world_size, tables, spec.execution, prices=prices)
    try:
        check_plan(plan, statistics, topology)
    except UserError as error:
        lines = [line.removeprefix(f"plan {spec.policy}: ") for line in str(error).splitlines()]
        raise UserError("\n".join(f"{source}: {line}" for line in lines)) from None
    return plan


def _segment_data(segment: Segment, world_size: int) -> dict[str, Any]:
    layout = segment.layout
    data: dict[str, Any] = {"to": segment.stop, "tier": layout.tier.value}
    if layout.tier is Tier.GROUP:
        data["group_size"] = len(layout.copies[0])
    if layout.tier is Tier.GLOBAL and layout.copies[0] != tuple(range(world_size)):
        data["owners"] = list(layout.copies[0])
    if layout.split == "columns":
        data["split"] = layout.split
    if segment.memory != "hbm":
        data["memory"] = segment.memory
    return data


def _table_plan(spec: TableSpec, topology: Topology, source: str) -> TablePlan:
    starts = (0, *(segment.to for segment in spec.segments))
    for start, segment in zip(starts, spec.segments, strict=False):
        if segment.to < start:
            raise UserError(
                f"{source}: table {spec.table}: a segment ends before row {segment.to}, it begins at {start}"
            )
    return TablePlan(
        spec.table,
        tuple(
            Segment(start, segment.to, _layout(segment, topology), segment.memory)
            for start, segment in zip(starts, spec.segments, strict=False)
        ),
    )


def _layout(spec: SegmentSpec, topology: Topology) -> Layout:
    if spec.tier == "replicated":
        return replicated(topology)
    if spec.tier == "island":
        return island(topology)
    if spec.group_size is not None:
        return groups(topology.world_size, spec.group_size)
    owners = tuple(range(topology.world_size)) if spec.owners is None else spec.owners
    place = column_owners if spec.split == "columns" else global_owners
    return place(topology.world_size, owners)
