"""A cluster of one GPU, with no port and no NIC: nothing travels, nothing fails, and ratios do not exist."""

from pathlib import Path
from typing import Literal

import pytest

from simulator.experiment.experiment import make_experiment
from simulator.experiment.results import summary_json
from simulator.experiment.simulate import simulate
from simulator.sharding.registry import PolicyEntry, available
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.load import load_workload

TINY = load_workload(Path(__file__).parents[2] / "workloads" / "tiny.yaml")
LONE = {"name": "lone", "islands": 1, "gpus_per_island": 1}
POLICIES = [policy.name for policy in available() if policy.name != "saved_plan"]


@pytest.mark.parametrize("extra", [{}, {"scale_up": {"bandwidth": "100 GB/s"}}], ids=["no port", "a port"])
@pytest.mark.parametrize("engine", ["fluid", "bound"])
def test_every_policy_on_one_gpu(extra: dict[str, dict[str, str]], engine: Literal["fluid", "bound"]) -> None:
    experiment = make_experiment(
        name="lone",
        topology=build_topology(TopologySpec.model_validate(LONE | extra)),
        workload=TINY,
        policies=[PolicyEntry.parse(policy) for policy in POLICIES],
        iterations=1,
        engine=engine,
    )
    for figures in summary_json(simulate(experiment))["policies"]:
        assert figures["inter_island_bytes"] == figures["intra_island_bytes"] == 0
        assert figures["communication_s"] == 0
        assert figures["iteration_s"] == pytest.approx(300e-6, rel=1e-3)
        assert figures["communication_speedup"] is None
        assert figures["imbalance"] is None
        assert figures["memory_bytes_per_rank_max"] == 1000 * 64 + 100 * 32
