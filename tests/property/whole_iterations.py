"""Whole simulated iterations for tests that change one thing and compare: a cluster, a workload, a policy, a replay."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from simulator.engine.iteration import iteration_program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.simulate import Iteration, PolicySetup, draw, replay_iteration, set_up
from simulator.sharding.execution import Execution
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.registry import PolicyEntry
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase
from simulator.traffic.placement import prepare
from simulator.traffic.traffic import Traffic
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Workload

Engine = Literal["fluid", "bound"]
ENGINES: tuple[Engine, ...] = ("fluid", "bound")
POLICIES = (
    "row_wise",
    "table_wise",
    "column_wise",
    "table_row_wise",
    "data_parallel",
    "two_dimensional",
    "hybrid",
    "flexshard",
)

TABLES: tuple[dict[str, Any], ...] = (
    {"name": "a", "rows": 3000, "dim": 8, "length": 20, "popularity": {"kind": "zipf", "s": 1.1}},
    {"name": "b", "rows": 500, "dim": 16, "length": 7, "popularity": {"kind": "uniform"}},
    {"name": "c", "rows": 64, "dim": 4, "length": 3, "popularity": {"kind": "zipf", "s": 0.8}},
)


def cluster(
    *,
    islands: int | Sequence[int] = 2,
    gpus_per_island: int | None = 2,
    scale_up: str = "300 GB/s",
    nic: str = "25 GB/s",
    latency: str = "0 s",
    **keys: Any,
) -> Topology:
    """The pure model unless `keys` say otherwise."""
    spec: dict[str, Any] = {
        "name": "any",
        "islands": islands if isinstance(islands, int) else list(islands),
        "gpu": keys.pop("gpu", {"hbm_capacity": "1 GB", "hbm_bandwidth": "1 TB/s"}),
        "scale_up": {"bandwidth": scale_up, "latency": latency, **keys.pop("inside", {})},
        "scale_out": {"nic_bandwidth": nic, "latency": latency, **keys.pop("between", {})},
        **keys,
    }
    if isinstance(islands, int):
        spec["gpus_per_island"] = gpus_per_island
    return build_topology(TopologySpec.model_validate(spec))


def model(
    tables: Sequence[dict[str, Any]] = TABLES, *, batch: int = 30, dtype: str = "fp16", **keys: Any
) -> Workload:
    spec = {"name": "any", "batch_per_rank": batch, "embedding_dtype": dtype, "tables": list(tables), **keys}
    return build_workload(WorkloadSpec.model_validate(spec), Path())


def experiment(
    topology: Topology,
    workload: Workload,
    policy: str | dict[str, Any],
    *,
    engine: Engine = "fluid",
    tolerance: float | None = None,
    **execution: Any,
) -> Experiment:
    return make_experiment(
        name="any",
        topology=topology,
        workload=workload,
        policies=[PolicyEntry.parse(policy)],
        seed=3,
        engine=engine,
        tolerance=tolerance,
        execution=Execution.model_validate(execution),
    )


def planned(made: Experiment) -> PolicySetup:
    return set_up(made, made.policies[0])


def iterate(made: Experiment, setup: PolicySetup | None = None) -> Iteration:
    """Its first iteration, measured and checked, with a plan of its own unless one is given."""
    setup = setup or planned(made)
    return replay_iteration(made, setup, draw(made, setup.placement, 0))


def replayed(
    traffic: Traffic, workload: Workload, topology: Topology, *, engine: Engine = "fluid", **execution: Any
) -> Timeline:
    """Traffic that is given, exactly."""
    program = iteration_program(traffic, workload, topology, Execution.model_validate(execution))
    return replay(program, topology, engine=engine, tolerance=None)


def relabelled(traffic: Traffic, new_of: np.ndarray) -> Traffic:
    """The same bytes with rank r called `new_of[r]`; copies to be synchronised are left out."""
    old_of = np.argsort(new_of)
    return replace(
        traffic,
        phases=tuple(relabelled_phase(phase, new_of) for phase in traffic.phases),
        sync=(),
        gather_bytes=traffic.gather_bytes[old_of],
        host_gather_bytes=traffic.host_gather_bytes[old_of],
    )


def relabelled_phase(phase: Phase, new_of: np.ndarray) -> Phase:
    old_of = np.argsort(new_of)
    groups = tuple(sorted(tuple(sorted(new_of[list(group)].tolist())) for group in phase.groups))
    return replace(phase, groups=groups, matrix=phase.matrix[np.ix_(old_of, old_of)])


def placed(made: Experiment, plan: ShardingPlan) -> PolicySetup:
    """A plan that was made for another experiment, placed in this one."""
    memory = memory_bytes(plan, made.workload.statistics(), made.topology)
    return PolicySetup(plan.policy, plan, memory, prepare(plan, made.workload, made.topology, seed=made.seed))
