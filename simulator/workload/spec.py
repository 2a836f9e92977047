"""The schema of a workload file. Every key says what it means, in which unit, and what it is when left out."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.model import StrictModel
from simulator.config.types import Count, Duration, Name, PositiveCount, PositiveShare, Share, Text
from simulator.units import format_bytes
from simulator.workload.spec_length import LengthSpec
from simulator.workload.spec_popularity import (
    CumulativeSpec,
    LocalitySpec,
    PopularitySpec,
    UniformSpec,
    ZipfSpec,
)

ELEMENT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
MOST_SAMPLES = 10**9  # of one rank
MOST_ELEMENTS = 10**6  # of one row
MOST_TABLES = 10_000
TABLE_BYTES = 30_000  # of our own memory for each, on few ranks
Dtype = Literal["fp32", "fp16", "bf16", "fp8", "int8"]


class TraceSpec(StrictModel):
    """A trace file in a declared format: popularity and lengths as they are in it."""

    path: Text = Field(description="file, relative to the workload file; required")
    format: Literal["user_item", "sessions", "user_items"] = Field(
        description="a user and an item a line, one session a line, or a user and its items a line; required"
    )
    ids: Literal["strict", "modulo"] = Field(
        "strict", description="ids outside the table are an error, or wrapped into it; default strict"
    )
    padding_id: Annotated[int, Field(ge=-(2**63), lt=2**64)] | None = Field(
        None, description="an id that stands for nothing: dropped and counted; default none"
    )
    part: Literal["all", "first_half", "second_half"] = Field(
        "all", description="sequences that begin in this half of the file; default all"
    )


class PlanningSpec(StrictModel):
    """What the planner is shown, where it is not what is replayed. Give one of the two."""

    trace: TraceSpec | None = Field(None, description="another trace of the same ids")
    popularity: PopularitySpec | None = Field(None, description="another skew over rows in the same order")

    @model_validator(mode="after")
    def _one(self) -> "PlanningSpec":
        if (self.trace is None) == (self.popularity is None):
            refuse([Finding((), "give either trace or popularity")])
        return self


class DriftSpec(StrictModel):
    """Lookups that have moved to other rows since the plan was made. A bare number is the share."""

    share: Share = Field(description="of the lookups; required")
    to: Literal["touched", "all"] = Field(
        "touched", description="rows they move to: those ever touched, or any of the table; default touched"
    )


def _drift_from_number(value: Any) -> Any:
    if isinstance(value, (Mapping, DriftSpec)):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"share": value}
    raise ValueError("must be a share from 0 to 1, or a mapping with the keys share, to")


Drift = Annotated[DriftSpec, BeforeValidator(_drift_from_number, json_schema_input_type=float | DriftSpec)]


class TableSpec(StrictModel):
    """One embedding table, or `count` alike."""

    name: Name = Field(description="unique in the file; required")
    count: PositiveCount = Field(1, description="tables alike, named name_0, name_1, ...; default 1")
    rows: Count = Field(description="rows of the table; required")
    dim: Count = Field(le=MOST_ELEMENTS, description="elements of a row; required")
    touched: PositiveShare | None = Field(
        None, description="share of the rows that training data ever hits; default 1, or what the data says"
    )
    length: LengthSpec | None = Field(None, description="lookups of one sample; required without a trace")
    popularity: PopularitySpec | None = Field(
        None, description="how skewed lookups are; required without a trace"
    )
    trace: TraceSpec | None = Field(None, description="popularity and lengths from a trace; default none")
    order: Literal["shuffled", "sorted"] = Field(
        "shuffled", description="where rows lie: hashed over the table, or hottest first; default shuffled"
    )
    stream: Name | None = Field(
        None,
        description="tables of one stream look up the same ids in every sample; default a stream of its own",
    )
    repeat: Share = Field(
        0.0,
        description="share of a sample's later lookups that repeat one of its ids, beside chance; default 0",
    )
    planning: PlanningSpec | None = Field(None, description="what the planner saw; default what is replayed")
    drift: Drift | None = Field(
        None, description="share of lookups that moved since the plan was made; default the workload's"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "TableSpec":
        findings = [
            Finding((key,), f"table {self.name}: {key} is 0, must be at least 1")
            for key in ("rows", "dim")
            if getattr(self, key) == 0
        ]
        if (self.trace is None) == (self.popularity is None):
            findings.append(Finding(("popularity",), f"table {self.name}: give either popularity or trace"))
        if self.trace is None and self.length is None:
            findings.append(
                Finding(("length",), f"table {self.name}: length is missing, only a trace brings its own")
            )
        if self.planning is not None and self.drift is not None:
            findings.append(Finding(("drift",), f"table {self.name}: planning already says what drifted"))
        if self.planning is not None and (self.planning.trace is None) != (self.trace is None):
            findings.append(
                Finding(("planning",), f"table {self.name}: plan a trace from a trace, a law from a law")
            )
        findings.extend(self._misfits())
        if findings:
            refuse(findings)
        return self

    def _misfits(self) -> list[Finding]:
        """Popularity that does not fit into the rows."""
        law = self.popularity
        if isinstance(law, ZipfSpec) and len(law.hitter_shares) >= self.touched_rows > 0:
            text = f"{len(law.hitter_shares)} heavy hitters, the touched rows are {self.touched_rows}"
            return [Finding(("popularity", "heavy_hitters"), f"table {self.name}: {text}")]
        planned = None if self.planning is None else self.planning.popularity
        for measured, key in ((law, ("popularity",)), (planned, ("planning", "popularity"))):
            if isinstance(measured, CumulativeSpec) and measured.rows[-1] > self.rows:
                text = f"{measured.rows[-1]} touched rows, the table has {self.rows}"
                return [Finding((*key, "rows"), f"table {self.name}: {text}")]
        if self.touched is not None and not isinstance(law, (ZipfSpec, UniformSpec, LocalitySpec)):
            return [Finding(("touched",), f"table {self.name}: the data says which rows are touched")]
        return []

    @property
    def touched_rows(self) -> int:
        """The touched share in rows, where it is declared: rounded, and at least one."""
        share = Fraction(1 if self.touched is None else self.touched)
        return max(1, round(share * self.rows)) if self.rows else 0

    @property
    def names(self) -> tuple[str, ...]:
        """name, or name_0, name_1, ... of tables alike."""
        return (
            (self.name,) if self.count == 1 else tuple(f"{self.name}_{index}" for index in range(self.count))
        )


class DenseSpec(StrictModel):
    """The dense layers: given durations, and what their all-reduce carries."""

    forward: Duration = Field(0.0, description="duration of the dense forward; default 0 s")
    backward: Duration = Field(0.0, description="duration of the dense backward; default 0 s")
    parameters: Count = Field(0, description="dense parameters, all-reduced every iteration; default 0: none")
    gradient_dtype: Dtype = Field("fp32", description="of the dense gradients; default fp32")


class RankBatchSpec(StrictModel):
    """A rank with a batch of its own."""

    rank: Count = Field(description="required")
    samples: Count = Field(
        le=MOST_SAMPLES, description="of this rank in one iteration, 0 is allowed; required"
    )


class RankSkewSpec(StrictModel):
    """One rank that holds the long sequences."""

    rank: Count = Field(0, description="default 0")
    share: Share = Field(1.0, description="of its samples that are the longest of the cluster's; default 1")


class WorkloadSpec(StrictModel):
    """A workload file."""

    name: Name = Field(description="required")
    source: Text | None = Field(None, description="where the figures come from; default none")
    batch_per_rank: Count = Field(
        le=MOST_SAMPLES, description="samples of one rank in one iteration; required"
    )
    embedding_dtype: Dtype = Field("fp32", description="of an element of a row; default fp32")
    tables: tuple[TableSpec, ...] = Field(description="at least one; required")
    dense: DenseSpec = Field(DenseSpec(), description="default: no dense compute")
    batch_of_rank: tuple[RankBatchSpec, ...] = Field((), description="ranks with another batch; default none")
    rank_skew: RankSkewSpec | None = Field(
        None, description="a rank that holds the long sequences; default none"
    )
    drift: Drift | None = Field(
        None, description="drift of every table that does not say its own; default none"
    )

    @model_validator(mode="after")
    def _not_too_many(self) -> "WorkloadSpec":
        """Looked at first, before anything is made for each table."""
        tables = sum(table.count for table in self.tables)
        if tables > MOST_TABLES:
            most = max(range(len(self.tables)), key=lambda index: self.tables[index].count)
            text = f"{tables:,} tables in all are too many, allowed: {MOST_TABLES:,}"
            size = f"they would take about {format_bytes(tables * TABLE_BYTES)} of memory"
            refuse([Finding(("tables", most, "count"), f"{text}; {size}")])
        return self

    @model_validator(mode="after")
    def _tables_fit_together(self) -> "WorkloadSpec":
        findings, names, streams = [], set[str](), dict[str, TableSpec]()
        for index, table in enumerate(self.tables):
            if names & set(table.names):
                text = f"{min(names & set(table.names))!r} stands twice, names must differ"
                findings.append(Finding(("tables", index, "name"), text))
            names.update(table.names)
            if table.stream is not None and _looked_up(table) != _looked_up(
                streams.setdefault(table.stream, table)
            ):
                text = f"tables of stream {table.stream!r} must be alike in all but name, count and dim"
                findings.append(Finding(("tables", index, "stream"), text))
        ranks = [entry.rank for entry in self.batch_of_rank]
        if len(set(ranks)) < len(ranks):
            findings.append(Finding(("batch_of_rank",), "a rank stands twice"))
        if not self.tables:
            findings.append(Finding(("tables",), "the list is empty, at least one table is needed"))
        if findings:
            refuse(findings)
        return self


def _looked_up(table: TableSpec) -> TableSpec:
    """The table without what may differ inside a stream."""
    return table.model_copy(update={"name": "", "count": 1, "dim": 1})
