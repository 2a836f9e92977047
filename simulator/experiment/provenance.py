"""What made a result: enough to make it again. No clock time and no path, so that equal runs write equal bytes."""

import platform
from importlib.metadata import version
from typing import Any

from simulator.experiment.experiment import Experiment
from simulator.topology.topology import Topology

RECORDED_PACKAGES = ("shardsim", "numpy", "numba", "simpy")


def provenance(experiment: Experiment) -> dict[str, Any]:
    """Seed, engine, version and the digest of the effective configuration."""
    return {
        "digest": experiment.digest(),
        "seed": experiment.seed,
        "engine": experiment.engine,
        "tolerance": experiment.tolerance,
        "shardsim": version("shardsim"),
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that compute; they may differ between equal results."""
    return {"python": platform.python_version(), **{name: version(name) for name in RECORDED_PACKAGES}}


def assumptions(experiment: Experiment) -> list[str]:
    """The sentences without which a headline of this experiment must not be printed."""
    topology, workload, execution = experiment.topology, experiment.workload, experiment.execution
    network = (
        "max-min fair fluid flows"
        if experiment.engine == "fluid"
        else "the port bound alone (no contention in time)"
    )
    return [
        f"Cluster: {topology.name}, {counted(topology.world_size, 'GPU')} in "
        f"{counted(topology.island_count, 'island')}{perturbations(topology)}.",
        f"Workload: {workload.name}, {counted(len(workload.tables), 'un-pooled table')}, "
        f"{counted(workload.batch_per_rank, 'sample')} a rank; synthetic or empirical skew, not the paper's tables, "
        "which are not public.",
        f"Network: {network}; iterations begin together on all ranks.",
        f"Unless a policy's label says otherwise: dedup is {execution.dedup}; island and global all-to-alls are "
        f"{execution.tiers}; replicas are synchronised {execution.sync} and {execution.sync_algorithm} "
        f"{interval(execution.sync_every)}, and counted in the latency unless it says without.",
        f"Memory counts {counted_in_memory(experiment)}; FlexShard's tiers, planner and both readings of 'no "
        "additional memory' are ours.",
        *stopping(experiment),
    ]


def counted_in_memory(experiment: Experiment) -> str:
    """Weights, and the state of each optimizer, with its policies where others have none or another."""
    optimizers = {
        entry.label: entry.execution_over(experiment.execution).optimizer for entry in experiment.policies
    }
    parts = ["embedding weights"]
    for optimizer in dict.fromkeys(optimizers.values()):
        labels = [label for label, own in optimizers.items() if own == optimizer]
        whose = "" if len(labels) == len(optimizers) else f" ({', '.join(labels)})"
        parts += [] if optimizer == "none" else [f"the state of {optimizer}{whose}"]
    return " and ".join(parts)


def stopping(experiment: Experiment) -> list[str]:
    """When `iterations: auto` stops, which a policy's interval may not have come to; nothing for a given number."""
    if experiment.iterations != "auto":
        return []
    precision = experiment.precision
    return [
        "Iterations: until the 95 % interval of a policy's communication is within "
        f"± {100 * precision.relative_half_width:g} %, {precision.maximum} at the most."
    ]


def counted(count: int, noun: str) -> str:
    """`1 table`, `2 tables`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def interval(iterations: int) -> str:
    """`every iteration`, `every 4 iterations`."""
    return "every iteration" if iterations == 1 else f"every {iterations} iterations"


def perturbations(topology: Topology) -> str:
    """What is not as it should be, after a comma; nothing where all is well."""
    changed = [entry.target for entry in (*topology.spec.overrides, *topology.spec.perturb)]
    return f", {', '.join(dict.fromkeys(changed))} changed or perturbed" if changed else ""
