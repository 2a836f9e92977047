"""An `Experiment` made again from the manifest of its results folder."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.config.load import checked
from simulator.csv_cells import unguarded
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.inputs import named_files, workload_inputs
from simulator.experiment.spec import Precision
from simulator.files import read_json
from simulator.report.scales import time_text
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.sweeps.policy import entry_settings
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec

MANIFEST = "manifest.json"
CLOSE = 1e-9  # relative; what a time may differ by on another machine
KEYS = {"topology", "workload", "experiment", "inputs"}
EXPERIMENT_KEYS = {
    *("name", "policies", "baseline", "iterations", "seed", "engine", "tolerance", "execution", "precision")
}


def rebuild(folder: Path, *, files: Path | None = None) -> Experiment:
    """The experiment whose results are in `folder`.

    `files` is the folder that the traces and histograms of its workload are relative to; a manifest holds their
    digests, but no path. Raises UserError when the manifest is none, or files are missing or have changed.
    """
    data = read_manifest(folder)
    source = str(folder / MANIFEST)
    workload_spec = checked(data["workload"], WorkloadSpec, source=source)
    names = sorted(set(named_files(data["workload"])))
    if names and files is None:
        raise UserError(
            f"{source}: the workload reads {', '.join(names)}: give the folder they are in (--files)"
        )
    workload = build_workload(workload_spec, files or folder)
    changed = [name for name, found in workload_inputs(workload).items() if data["inputs"].get(name) != found]
    if changed:
        raise UserError(f"{source}: {', '.join(changed)} changed since these results were made")
    made = data["experiment"]
    return make_experiment(
        name=made["name"],
        topology=build_topology(checked(data["topology"], TopologySpec, source=source)),
        workload=workload,
        policies=[policy_entry(entry, source) for entry in made["policies"]],
        baseline=made["baseline"],
        iterations=made["iterations"],
        seed=made["seed"],
        engine=made["engine"],
        tolerance=made["tolerance"],
        execution=checked(made["execution"], Execution, source=source),
        precision=checked(made["precision"], Precision, source=source),
    )


def policy_entry(kept: Any, source: str) -> PolicyEntry:
    """A policy as the manifest keeps it. Raises UserError."""
    try:
        return PolicyEntry.parse(entry_settings(kept))
    except (AttributeError, KeyError, TypeError):
        raise UserError(f"{source}: is no manifest of a run: a policy in it is {kept!r}") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """The content of a results folder's manifest. Raises UserError."""
    path = folder / MANIFEST
    try:
        data = read_json(path)
    except UserError as error:
        raise UserError(f"{error}; the folder of a finished `shardsim run` is expected") from None
    missing = sorted(KEYS - set(data)) if isinstance(data, dict) else sorted(KEYS)
    missing += [] if missing else sorted(EXPERIMENT_KEYS - set(data["experiment"]))
    if missing:
        raise UserError(f"{path}: is no manifest of a run: {', '.join(missing)} missing")
    if not isinstance(data["inputs"], dict) or not isinstance(data["experiment"]["policies"], list):
        raise UserError(f"{path}: is no manifest of a run: inputs or policies are in another form")
    found: dict[str, Any] = data
    return found


def differences(folder: Path, found_s: Mapping[str, float]) -> list[str]:
    """Where the first iterations' communication times, by policy, are not those that the folder's results have."""
    lines = []
    for policy, recorded_s in _first_iterations(folder / "iterations.csv").items():
        now_s = found_s.get(policy)
        if now_s is not None and not math.isclose(now_s, recorded_s, rel_tol=CLOSE):
            times = f"{time_text(recorded_s)} in the results, {time_text(now_s)} now"
            lines.append(f"{policy}: {times}: another version made them")
    return lines


def _first_iterations(path: Path) -> dict[str, float]:
    """Communication times by policy; none where the file is no table of them."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            first = [row for row in csv.DictReader(file) if row["iteration"] == "0"]
        return {unguarded(row["policy"]): float(row["communication_s"]) for row in first}
    except (OSError, KeyError, TypeError, ValueError):
        return {}
