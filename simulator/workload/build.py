"""From a checked specification to a workload: reads the traces and histograms that it names."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from simulator.errors import UserError
from simulator.workload.lengths import LengthDistribution, empirical, fixed, lognormal
from simulator.workload.popularity.heavy import HeavyHitters
from simulator.workload.popularity.histogram import from_locality
from simulator.workload.popularity.runs import Runs
from simulator.workload.popularity.shares import Popularity
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.spec import ELEMENT_BYTES, DriftSpec, TableSpec, TraceSpec, WorkloadSpec
from simulator.workload.spec_length import FixedLengthSpec, HistogramLengthSpec, LengthSpec
from simulator.workload.spec_popularity import (
    CumulativeSpec,
    LocalitySpec,
    PopularitySpec,
    RankFrequencySpec,
    UniformSpec,
)
from simulator.workload.table import Table
from simulator.workload.traces.locality import read_locality
from simulator.workload.traces.rank_frequency import read_rank_frequency
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.trace import Trace, read_trace, replayed_in_planned_order
from simulator.workload.workload import Dense, RankSkew, Workload


def build_workload(spec: WorkloadSpec, folder: Path, *, like: Workload | None = None) -> Workload:
    """The workload; paths in it are relative to `folder`. Raises UserError for a file it cannot read.

    Tables that `like` has from an equal specification are taken from it, so that an edit reads no file again.
    """
    known = {} if like is None else _tables_by_spec(like)
    tables: list[Table] = []
    for table in spec.tables:
        drift = table.drift or spec.drift
        if (alike := known.get(table.name)) is not None and alike[:2] == (table, drift):
            tables.extend(alike[2])
            continue
        first = _build_table(table, drift, folder)
        tables.extend(replace(first, name=name) for name in table.names)
    dense, skew = spec.dense, spec.rank_skew
    return Workload(
        name=spec.name,
        batch_per_rank=spec.batch_per_rank,
        element_bytes=ELEMENT_BYTES[spec.embedding_dtype],
        tables=tuple(tables),
        dense=Dense(dense.forward, dense.backward, dense.parameters, ELEMENT_BYTES[dense.gradient_dtype]),
        batch_of_rank=tuple((entry.rank, entry.samples) for entry in spec.batch_of_rank),
        rank_skew=None if skew is None else RankSkew(skew.rank, skew.share),
        spec=spec,
        folder=folder,
    )


def _tables_by_spec(workload: Workload) -> dict[str, tuple[TableSpec, DriftSpec | None, tuple[Table, ...]]]:
    """By its name in the file: a table's specification, its drift, and the tables it became."""
    if workload.spec is None:
        return {}
    known, built = {}, iter(workload.tables)
    for table in workload.spec.tables:
        drift = table.drift or workload.spec.drift
        known[table.name] = (table, drift, tuple(islice(built, table.count)))
    return known


def _build_table(spec: TableSpec, drift: DriftSpec | None, folder: Path) -> Table:
    """The first of `count` tables alike."""
    trace = None if spec.trace is None else read_trace(_source(spec.trace, spec, folder))
    length = trace.lengths if trace is not None and spec.length is None else _length(spec.length)
    planned, replayed = _popularities(spec, trace, folder)
    table = Table(
        name=spec.name,
        rows=spec.rows,
        dim=spec.dim,
        popularity=planned,
        length=length,
        order=spec.order,
        stream=spec.stream or "",
        repeat_share=spec.repeat,
        replayed=replayed,
    )
    return table if drift is None else table.with_drift(drift.share, to=drift.to)


def _popularities(spec: TableSpec, trace: Trace | None, folder: Path) -> tuple[Popularity, Popularity | None]:
    """What the planner sees, and what is replayed where it differs."""
    planning = spec.planning
    if trace is not None:
        if planning is None or planning.trace is None:
            return trace.popularity, None
        planned = read_trace(_source(planning.trace, spec, folder))
        return planned.popularity, replayed_in_planned_order(planned, trace)
    replayed = _popularity(spec.popularity, spec, folder)
    if planning is None or planning.popularity is None:
        return replayed, None
    return _popularity(planning.popularity, spec, folder), replayed


def _popularity(law: PopularitySpec | None, table: TableSpec, folder: Path) -> Popularity:
    rows = table.touched_rows
    match law:
        case UniformSpec():
            return Uniform(rows)
        case LocalitySpec():
            return from_locality(read_locality(folder / law.path), rows)
        case RankFrequencySpec():
            measured = read_rank_frequency(folder / law.path)
            if measured.rows > table.rows:
                text = f"{measured.rows} ranks, the table has {table.rows} rows"
                raise UserError(f"{folder / law.path}: table {table.name}: {text}")
            return measured
        case CumulativeSpec():
            return Runs(np.array([0, *law.rows], np.int64), np.diff([0.0, *law.shares]))
    assert law is not None
    hitters = law.hitter_shares
    tail = ZipfMandelbrot(rows - len(hitters), law.s, law.q)
    return HeavyHitters(hitters, tail) if hitters else tail


def _length(spec: LengthSpec | None) -> LengthDistribution:
    assert spec is not None
    if isinstance(spec, FixedLengthSpec):
        return fixed(spec.value)
    if isinstance(spec, HistogramLengthSpec):
        return empirical(spec.lengths, spec.weights)
    return lognormal(mean=spec.mean, sigma=spec.sigma, min=spec.min, max=spec.max)


def _source(trace: TraceSpec, table: TableSpec, folder: Path) -> TraceSource:
    return TraceSource(
        path=folder / trace.path,
        format=trace.format,
        ids=trace.ids,
        padding_id=trace.padding_id,
        part=trace.part,
        table=table.name,
        rows=table.rows,
    )
