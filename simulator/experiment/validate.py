"""`validate`: says what a file is and whether it is right, without running anything."""

from pathlib import Path

from simulator.config.document import load_document
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.experiment.experiment import load_experiment
from simulator.experiment.spec import ExperimentSpec
from simulator.topology.load import load_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.load import load_workload
from simulator.workload.spec import WorkloadSpec

TELLING_KEYS = {"policies": "experiment", "tables": "workload", "islands": "topology"}
MODELS: dict[str, type[StrictModel]] = {
    "topology": TopologySpec,
    "workload": WorkloadSpec,
    "experiment": ExperimentSpec,
}


def model_of(kind: str) -> type[StrictModel]:
    """The schema of a kind of file."""
    return MODELS[kind]


def validate_file(path: Path) -> str:
    """What the file holds, in a line. Its kind is told by the key that only this kind has. Raises UserError."""
    kind = kind_of(path)
    if kind == "experiment":
        experiment = load_experiment(path)
        return f"experiment {experiment.name!r}, {len(experiment.policies)} policies, baseline {experiment.baseline}"
    if kind == "workload":
        workload = load_workload(path)
        rows = sum(table.rows for table in workload.tables)
        return f"workload {workload.name!r}, {len(workload.tables)} tables, {rows:,} rows"
    topology = load_topology(path)
    return f"topology {topology.name!r}, {topology.world_size} ranks in {topology.island_count} islands"


def kind_of(path: Path) -> str:
    data = load_document(path).data
    for key, kind in TELLING_KEYS.items():
        if key in data:
            return kind
    raise UserError(
        f"{path}: none of the keys {', '.join(TELLING_KEYS)}; a topology, workload or experiment is expected"
    )
