"""A results folder: every file of it is written whole, from values alone.

docs/results.md lists the files and their columns; `report/` draws from these files and nothing else.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from simulator.anatomy.anatomy import anatomy_of
from simulator.anatomy.lanes import lane_slices, lanes
from simulator.arrays import IntArray
from simulator.csv_cells import guarded
from simulator.errors import UserError
from simulator.experiment.inputs import workload_inputs
from simulator.experiment.provenance import assumptions, provenance, versions
from simulator.experiment.simulate import Comparison, Iteration, PolicySetup
from simulator.files import replace_file
from simulator.metrics.records import METRIC_NAMES
from simulator.report.folder import OPTIMIZER, explanation_name, matrix_name, timeline_name, trace_name
from simulator.report.perfetto import write_trace
from simulator.topology.topology import ResourceKind, Topology
from simulator.workload.workload import Workload

Rows = list[dict[str, Any]]
POPULARITY_POINTS = 200
NESTED = ("spread", "longest_wait")  # what a policy's summary has in JSON only


def make_folder(folder: Path) -> None:
    """Create the folder and make sure that it can be written, before any long work. Raises UserError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.write_text("")
        probe.unlink(missing_ok=True)  # another process may have come at the same moment
    except OSError as error:
        raise UserError(f"{folder}: cannot be used for results: {error.strerror}") from error


def write_iteration(folder: Path, setup: PolicySetup, iteration: Iteration, topology: Topology) -> None:
    """The matrices, the timeline and the anatomy of one iteration (the first is enough to read)."""
    for phase in iteration.traffic.phases:
        write_matrix(folder / matrix_name(setup.label, phase.name), phase.matrix)
    timeline, label = iteration.timeline, setup.label
    write_trace(timeline, folder / trace_name(label))
    shown = lanes(timeline, topology.islands)
    write_csv(folder / timeline_name(label), [vars(part) for part in lane_slices(timeline, shown)])
    anatomy = anatomy_of(timeline, topology, policy=label)
    write_json(folder / explanation_name(label), anatomy.to_json())


def write_matrix(path: Path, matrix: IntArray) -> None:
    """A byte matrix in the form that nccl-tests' alltoallv_perf reads."""
    replace_file(path, "".join(" ".join(map(str, row)) + "\n" for row in matrix.tolist()))


def write_results(folder: Path, comparison: Comparison) -> None:
    """All tables of the folder."""
    write_json(folder / "summary.json", summary_json(comparison))
    tables: dict[str, Callable[[Comparison], Rows]] = {
        "summary": summary_rows,
        "iterations": iteration_rows,
        "phases": phase_rows,
        "links": link_rows,
        "memory": memory_rows,
        "tiers": tier_rows,
        "hit_rates": hit_rate_rows,
        "popularity": lambda own: popularity_rows(own.experiment.workload),
    }
    for name, rows_of in tables.items():  # one at a time: long runs have many rows
        write_csv(folder / f"{name}.csv", rows_of(comparison))
    write_json(folder / "manifest.json", manifest(comparison))


def write_csv(path: Path, rows: Rows) -> None:
    """A table; what the user named is no formula for a spreadsheet."""
    import pandas as pd

    plain = [
        {name: guarded(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    ]
    replace_file(path, pd.DataFrame(plain).to_csv(index=False, lineterminator="\n", float_format="%.12g"))


def write_json(path: Path, data: Any) -> None:
    replace_file(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def summary_json(comparison: Comparison) -> dict[str, Any]:
    """What `compare --json` writes: the policies' figures beside their baseline, assumptions and provenance."""
    experiment = comparison.experiment
    wanted = experiment.precision.relative_half_width if experiment.iterations == "auto" else None
    return {
        "baseline": experiment.baseline,
        "wanted_half_width": wanted,
        "provenance": provenance(experiment),
        "assumptions": assumptions(experiment),
        "policies": [
            {
                **summary.to_json(),
                "hit_rates": [vars(rate) for rate in rates],
                "notes": list(setup.plan.notes),
            }
            for summary, setup, rates in zip(
                comparison.summaries, comparison.setups, comparison.hit_rates(), strict=True
            )
        ],
    }


def summary_rows(comparison: Comparison) -> Rows:
    """`summary.csv`, one flat row a policy: means, then standard deviations."""
    rows = []
    for summary in comparison.summaries:
        row = {name: value for name, value in summary.to_json().items() if name not in NESTED}
        row |= {f"{name}_std": summary.estimates[name].std for name in METRIC_NAMES}
        rows.append(row)
    return rows


def iteration_rows(comparison: Comparison) -> Rows:
    """`iterations.csv`: the metrics of each iteration under each policy."""
    return [
        {"policy": record.policy, "iteration": record.iteration, **vars(record.metrics)}
        | {f"lookups_{tier}": count for tier, count in record.lookups_by_tier.items()}
        for records in comparison.records
        for record in records
    ]


def phase_rows(comparison: Comparison) -> Rows:
    """`phases.csv`: each collective of each iteration."""
    return [
        {"policy": record.policy, "iteration": record.iteration, **vars(phase)}
        for records in comparison.records
        for record in records
        for phase in record.phases
    ]


def link_rows(comparison: Comparison) -> Rows:
    """Mean bytes an iteration through every resource, and the share of the communication time it would need."""
    resources = comparison.experiment.topology.resources
    rows = []
    for summary, records in zip(comparison.summaries, comparison.records, strict=True):
        mean_bytes = np.mean([record.resource_bytes for record in records], axis=0)
        busy_s = mean_bytes / resources.capacity_bytes_per_s
        communication_s = summary.mean("communication_s")
        for index, name in enumerate(resources.names):
            rows.append(
                {
                    "policy": summary.policy,
                    "resource": name,
                    "kind": ResourceKind(resources.kind[index]).name.lower(),
                    "capacity_bytes_per_s": resources.capacity_bytes_per_s[index],
                    "bytes": mean_bytes[index],
                    "utilisation": busy_s[index] / communication_s if communication_s else 0.0,
                }
            )
    return rows


def memory_rows(comparison: Comparison) -> Rows:
    """Bytes by tier on the rank that holds most, and of optimizer state where there is some."""
    rows = []
    for setup in comparison.setups:
        rank = int(setup.memory.total_bytes.argmax())
        for tier, held in setup.memory.weights_bytes_by_tier.items():
            rows.append({"policy": setup.label, "tier": str(tier), "bytes": int(held[rank])})
        if state_bytes := int(setup.memory.optimizer_bytes[rank]):
            rows.append({"policy": setup.label, "tier": OPTIMIZER, "bytes": state_bytes})
    return rows


def tier_rows(comparison: Comparison) -> Rows:
    """Where each plan cuts each table, and the share of lookups planned for each run of rows."""
    statistics = comparison.experiment.workload.statistics()
    rows = []
    for setup in comparison.setups:
        for table, plan in zip(statistics.tables, setup.plan.tables, strict=True):
            for segment in plan.segments:
                low, high = table.popularity.cumulative_share([segment.start, segment.stop])
                rows.append(
                    {
                        "policy": setup.label,
                        "table": table.name,
                        "tier": str(segment.layout.tier),
                        "start_row": segment.start,
                        "stop_row": segment.stop,
                        "lookup_share": high - low,
                    }
                )
    return rows


def hit_rate_rows(comparison: Comparison) -> Rows:
    """The share of lookups that each tier was planned to take, and took."""
    return [
        {"policy": setup.label, **vars(rate)}
        for setup, rates in zip(comparison.setups, comparison.hit_rates(), strict=True)
        for rate in rates
    ]


def popularity_rows(workload: Workload) -> Rows:
    """Cumulative shares of lookups at rows spaced evenly on a log scale."""
    return [
        {"table": table.name, "rows": int(rows), "cumulative_share": float(share)}
        for table in workload.statistics().tables
        for rows, share in log_points(table.popularity.rows, table.popularity.cumulative_share)
    ]


def log_points(rows: int, cumulative_share: Any) -> Iterable[tuple[int, float]]:
    points = np.unique(np.geomspace(1, max(rows, 1), POPULARITY_POINTS).astype(np.int64))
    return zip(points, cumulative_share(points), strict=True)


def manifest(comparison: Comparison) -> dict[str, Any]:
    """`manifest.json`: what was run, with what, and what was assumed."""
    experiment = comparison.experiment
    return {
        "name": experiment.name,
        "provenance": provenance(experiment),
        "versions": versions(),
        "inputs": {**experiment.files, **workload_inputs(experiment.workload)},
        "assumptions": assumptions(experiment),
        "notes": {setup.label: list(setup.plan.notes) for setup in comparison.setups},
        "island_sizes": list(experiment.topology.island_sizes),
        **experiment.configuration(),
    }
