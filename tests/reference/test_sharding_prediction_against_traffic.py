"""Predicted phases against drawn ones: on even popularity what is drawn differs by luck alone.

One iteration is drawn for each policy; every phase's bytes between and within islands, and the port bound of
the collectives' own flows, are compared with the prediction's.
"""

import pytest

from simulator.collectives.all_to_all import all_to_all
from simulator.engine.synchronise import synchronisation_stages
from simulator.network.bound import port_bound
from simulator.sharding.execution import Execution
from simulator.sharding.predict import Prediction, predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.traffic.traffic import Traffic, plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Table, Workload

TOPOLOGY = uniform_topology(islands=4, gpus_per_island=4, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
BATCH, LENGTH, ROWS = 2000, 100, 1_000_000


def workload(popularity=None) -> Workload:
    even = Uniform(ROWS) if popularity is None else popularity
    tables = tuple(Table(f"t{index}", ROWS, 64, even, fixed(LENGTH)) for index in range(2))
    return Workload("even", BATCH, 2, tables)


def both(entry, used: Workload) -> tuple[Traffic, Prediction, Execution]:
    statistics = used.statistics()
    plan = make_plan(PolicyEntry.parse(entry), statistics, TOPOLOGY, Execution())
    batch = used.draw_batch(TOPOLOGY.world_size, seed=3, iteration=0)
    return plan_traffic(plan, used, TOPOLOGY, batch), predict(plan, statistics, TOPOLOGY), plan.execution


ENTRIES = [
    "row_wise",
    "table_wise",
    "table_row_wise",
    {"name": "column_wise", "shards": 2},
    "data_parallel",
    {"name": "two_dimensional", "group_size": 4},
    {"name": "two_dimensional", "group_size": 2},
    {"name": "two_dimensional", "group_size": 8},
    {"name": "two_dimensional", "group_size": 4, "sync": "sparse"},
    {"name": "two_dimensional", "group_size": 4, "optimizer": "rowwise_adagrad"},
    {"name": "data_parallel", "sync": "sparse"},
    {"name": "data_parallel", "sync_algorithm": "flat"},
    {"name": "data_parallel", "sync_algorithm": "flat", "sync": "sparse"},
    {"name": "row_wise", "dedup": "rank"},
    {"name": "row_wise", "dedup": "island"},
    {"name": "row_wise", "all_to_all": "rail"},
    {"name": "row_wise", "all_to_all": "hierarchical"},
    {"name": "row_wise", "gradient_dtype": "fp32"},
]


def name_of(entry) -> str:
    return PolicyEntry.parse(entry).label


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_drawn_bytes_are_those_predicted(entry):
    """Straight bytes: what algorithms carry twice is compared in time, below."""
    traffic, prediction, execution = both(entry, workload())
    island = TOPOLOGY.island_of
    crosses = island[:, None] != island[None, :]
    drawn = {"inter": 0, "intra": 0}
    for phase in traffic.phases:
        drawn["inter"] += int(phase.matrix[crosses].sum())
        drawn["intra"] += int(phase.matrix[~crosses].sum() - phase.matrix.diagonal().sum())
    steps = [phase for phase in prediction.phases if phase.step != "replica_sync"]
    if execution.all_to_all == "direct":
        assert sum(phase.intra_island_bytes for phase in steps) == pytest.approx(drawn["intra"], rel=0.02)
    if execution.all_to_all != "hierarchical":
        assert sum(phase.inter_island_bytes for phase in steps) == pytest.approx(drawn["inter"], rel=0.02)


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_the_flows_of_the_collectives_take_what_is_predicted(entry):
    traffic, prediction, execution = both(entry, workload())
    exchanged_s = sum(
        port_bound(TOPOLOGY, stage.flows).time_s
        for phase in traffic.phases
        for stage in all_to_all(TOPOLOGY, phase.matrix, algorithm=execution.all_to_all)
    )
    synchronised_s = sum(
        port_bound(TOPOLOGY, stage.flows).time_s
        for entry_ in traffic.sync
        for stage in synchronisation_stages(TOPOLOGY, entry_, execution)
    )
    assert prediction.without_sync_s == pytest.approx(exchanged_s, rel=0.04, abs=1e-9)
    assert prediction.sync_s == pytest.approx(synchronised_s, rel=0.02, abs=1e-9)


@pytest.mark.parametrize(
    "keys", [{}, {"dedup": "rank"}, {"sync": "sparse"}, {"budget": "1 %"}], ids=lambda keys: str(keys)
)
def test_tiers_carry_what_the_planner_expects(keys):
    """FlexShard on skewed rows: bytes by tier, where hot rows do no harm to sums."""
    used = workload(ZipfMandelbrot(400_000, 1.1, 2.0))
    traffic, prediction, _ = both({"name": "flexshard", **keys}, used)
    tiers = {phase.tier for phase in traffic.phases}
    assert tiers
    for tier in tiers:
        drawn = sum(
            int(phase.matrix.sum() - phase.matrix.diagonal().sum())
            for phase in traffic.phases
            if phase.tier is tier
        )
        predicted = sum(
            phase.inter_island_bytes + phase.intra_island_bytes
            for phase in prediction.phases
            if phase.tier is tier and phase.step != "replica_sync"
        )
        assert predicted == pytest.approx(drawn, rel=0.03)
