"""`validate`: says what a file is and whether it is right, without running anything."""

from collections.abc import Callable
from pathlib import Path

from simulator.config.document import load_document
from simulator.config.explain import known_keys
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.experiment.experiment import load_experiment
from simulator.experiment.spec import ExperimentSpec
from simulator.sweeps.point import Refused
from simulator.sweeps.prices import PricesSpec, load_prices
from simulator.sweeps.spec import SweepSpec
from simulator.sweeps.sweep import load_sweep
from simulator.topology.load import load_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.load import load_workload
from simulator.workload.spec import WorkloadSpec

MODELS: dict[str, type[StrictModel]] = {
    "topology": TopologySpec,
    "workload": WorkloadSpec,
    "experiment": ExperimentSpec,
    "sweep": SweepSpec,
    "prices": PricesSpec,
}


def model_of(kind: str) -> type[StrictModel]:
    """The schema of a kind of file."""
    return MODELS[kind]


def validate_file(path: Path) -> str:
    """What the file holds, in a line. Its kind is told by a key that only this kind has, or else by most of its keys.
    Raises UserError."""
    data = load_document(path).data
    for key, (_, describe) in KINDS.items():
        if key in data:
            return describe(path)
    known = {kind: len(set(known_keys(model, ())) & data.keys()) for kind, model in MODELS.items()}
    likeliest = max(known, key=lambda kind: known[kind])
    if known[likeliest] > 1:
        return next(describe for kind, describe in KINDS.values() if kind == likeliest)(path)
    kinds = ", ".join(MODELS)
    raise UserError(f"{path}: none of the keys {', '.join(KINDS)}; one of these files is expected: {kinds}")


def topology_text(path: Path) -> str:
    topology = load_topology(path)
    return f"topology {topology.name!r}, {topology.world_size} ranks in {topology.island_count} islands"


def workload_text(path: Path) -> str:
    workload = load_workload(path)
    rows = sum(table.rows for table in workload.tables)
    return f"workload {workload.name!r}, {len(workload.tables)} tables, {rows:,} rows"


def experiment_text(path: Path) -> str:
    experiment = load_experiment(path)
    return (
        f"experiment {experiment.name!r}, {len(experiment.policies)} policies, baseline {experiment.baseline}"
    )


def sweep_text(path: Path) -> str:
    sweep = load_sweep(path)
    points = sweep.points(sweep.spec.engine)
    refused = sum(isinstance(point, Refused) for point in points)
    text = f"sweep {sweep.spec.name!r}, {len(points):,} {sweep.spec.engine} points"
    return f"{text}, {refused:,} of them refused" if refused else text


def prices_text(path: Path) -> str:
    return f"prices, {len(load_prices(path).prices)} entries"


KINDS: dict[
    str, tuple[str, Callable[[Path], str]]
] = {  # by a key that only this kind has; a sweep has policies too
    "vary": ("sweep", sweep_text),
    "policies": ("experiment", experiment_text),
    "tables": ("workload", workload_text),
    "islands": ("topology", topology_text),
    "prices": ("prices", prices_text),
}
