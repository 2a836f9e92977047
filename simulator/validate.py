"""`validate`: says what a file is and whether it is right, without running anything."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from simulator.config.document import load_document
from simulator.config.explain import known_keys
from simulator.config.kinds import NAMES, kind_of
from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment, load_experiment
from simulator.experiment.simulate import plan_policy
from simulator.experiment.spec import ExperimentSpec
from simulator.sharding.plan_file import PlanSpec
from simulator.sweeps.point import Refused
from simulator.sweeps.prices import PricesSpec, load_prices
from simulator.sweeps.spec import SweepSpec
from simulator.sweeps.sweep import MOST_TOLD, load_sweep
from simulator.topology.load import load_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.load import load_workload
from simulator.workload.spec import WorkloadSpec

MODELS: dict[str, type[StrictModel]] = {
    "topology": TopologySpec,
    "workload": WorkloadSpec,
    "experiment": ExperimentSpec,
    "sweep": SweepSpec,
    "plan": PlanSpec,
    "prices": PricesSpec,
}


def model_of(kind: str) -> type[StrictModel]:
    """The schema of a kind of file."""
    return MODELS[kind]


def validate_file(path: Path) -> str:
    """What the file holds, in a line; what it is, is told by its keys. Raises UserError."""
    keys = load_document(path).data.keys()
    kind = kind_of(keys) or likeliest(keys)
    if kind is None:
        *names, last = (NAMES[kind] for kind in MODELS)
        raise UserError(f"{path}: no key tells what it is, expected {', '.join(names)} or {last}")
    return DESCRIBE[kind](path)


def likeliest(keys: Collection[str]) -> str | None:
    """The kind of file to which most of the keys belong; a name alone is any."""
    known = {kind: len(set(known_keys(model, ())) & set(keys) - {"name"}) for kind, model in MODELS.items()}
    most = max(known, key=lambda kind: known[kind])
    return most if known[most] else None


def topology_text(path: Path) -> str:
    topology = load_topology(path)
    return f"topology {topology.name!r}, {topology.world_size} ranks in {topology.island_count} islands"


def workload_text(path: Path) -> str:
    workload = load_workload(path)
    rows = sum(table.rows for table in workload.tables)
    return f"workload {workload.name!r}, {len(workload.tables)} tables, {rows:,} rows"


def experiment_text(path: Path) -> str:
    """The policies are planned too: whether their plans fit is seen here."""
    experiment = load_experiment(path)
    problems = list(plan_problems(experiment))
    if problems:
        raise UserError("\n".join(f"{path}: {problem}" for problem in problems))
    return (
        f"experiment {experiment.name!r}, {len(experiment.policies)} policies, baseline {experiment.baseline}"
    )


def plan_problems(experiment: Experiment) -> Iterator[str]:
    """What keeps a policy from being planned, a line each."""
    for entry in experiment.policies:
        try:
            plan_policy(experiment, entry)
        except UserError as error:
            yield from str(error).splitlines()


def sweep_text(path: Path) -> str:
    """What a sweep file would compute, and which combinations are refused, why."""
    sweep = load_sweep(path)
    points = sweep.points(sweep.spec.engine)
    refused = [point for point in points if isinstance(point, Refused)]
    text = f"sweep {sweep.spec.name!r}, {len(points):,} {sweep.spec.engine} points"
    if not refused:
        return text
    told = [f"  {refused_text(point)}" for point in refused[:MOST_TOLD]]
    rest = [f"  and {len(refused) - MOST_TOLD:,} more"] if len(refused) > MOST_TOLD else []
    return "\n".join([f"{text}, {len(refused):,} of them refused:", *told, *rest])


def refused_text(point: Refused) -> str:
    """The policy, the varied values and what is wrong with them."""
    values = ", ".join(f"{key} {value}" for key, value in point.values.items())
    return f"{point.label} at {values}: {point.error}"


def plan_text(path: Path) -> str:
    plan = load_model(path, PlanSpec)
    return f"plan {plan.policy!r}, {len(plan.tables)} tables on {plan.world_size} ranks"


def prices_text(path: Path) -> str:
    return f"prices, {len(load_prices(path).prices)} entries"


DESCRIBE: dict[str, Callable[[Path], str]] = {
    "topology": topology_text,
    "workload": workload_text,
    "experiment": experiment_text,
    "sweep": sweep_text,
    "plan": plan_text,
    "prices": prices_text,
}
