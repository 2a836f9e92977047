"""An iteration carries every phase of its traffic, what pools gather and spread included, in order."""

import numpy as np
import pytest

from simulator.engine.iteration import iteration_program
from simulator.engine.program import Collective
from simulator.engine.replay import replay
from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.topology.build import uniform_topology
from simulator.traffic.traffic import plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Dense, Workload

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
WORKLOAD = Workload(
    "test", 10, 2, (Table("t", 1_000, 4, ZipfMandelbrot(900, 1.0), fixed(30)),), Dense(1e-3, 2e-3)
)
POOLED_STEPS = ["ids_gather", "ids", "embeddings", "embeddings_spread", "gradients_gather", "gradients"]


def pooled(**switches: bool) -> tuple[Execution, ShardingPlan]:
    execution = Execution(dedup="island").model_copy(update=switches)
    segments = (Segment(0, 1_000, layouts.global_rows(TOPOLOGY)),)
    return execution, ShardingPlan("pooled", 4, (TablePlan("t", segments),), execution)


@pytest.mark.parametrize("shared_stream", [True, False])
@pytest.mark.parametrize("pipelining", [True, False])
def test_every_phase_travels_in_its_turn(pipelining: bool, shared_stream: bool) -> None:
    execution, plan = pooled(pipelining=pipelining, shared_stream=shared_stream)
    traffic = plan_traffic(plan, WORKLOAD, TOPOLOGY, Batch(np.full((4, 1), 300), 1, 0))
    program = iteration_program(traffic, WORKLOAD, TOPOLOGY, execution)
    collectives = [each for each in program.operations if isinstance(each, Collective)]
    steps = list(dict.fromkeys(each.step for each in collectives))
    assert steps == (POOLED_STEPS[2:4] + POOLED_STEPS[:2] + POOLED_STEPS[4:] if pipelining else POOLED_STEPS)
    for phase in traffic.phases:
        moved = sum(
            int(stage.flows.bytes.sum())
            for each in collectives
            if each.step == phase.step
            for stage in each.stages
        )
        assert moved == int(phase.matrix.sum() - np.trace(phase.matrix)) > 0
    timeline = replay(program, TOPOLOGY, engine="fluid", tolerance=None)
    ends: dict[str, float] = {}
    for index, each in enumerate(program.operations):  # a name's groups run side by side
        ends[each.name] = max(ends.get(each.name, 0.0), float(np.nanmax(timeline.end_s[index])))
    ahead = "next_" if pipelining else ""
    assert ends[f"{ahead}ids_gather_global"] < ends[f"{ahead}ids_global"]
    assert ends["embeddings_global"] < ends["embeddings_spread_global"] < ends["dense_forward"]
    assert ends["dense_backward"] < ends["gradients_gather_global"] < ends["gradients_global"]
