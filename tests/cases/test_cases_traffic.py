"""Practitioners' cases 2, 5, 6, 8, 9 and 12 on the level of byte matrices, on files as users write them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.network.flows import Flows
from simulator.sharding import layouts
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import shard_bounds
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.traffic.traffic import Traffic, plan_traffic
from simulator.workload.load import load_workload
from simulator.workload.workload import Batch, Workload

POLICIES = (
    "row_wise",
    "table_wise",
    "column_wise",
    "table_row_wise",
    "data_parallel",
    "two_dimensional",
    "flexshard",
)


def cluster(folder: Path, islands: str) -> Topology:
    path = folder / "topology.yaml"
    size = "" if islands.startswith("[") else "gpus_per_island: 2\n"
    path.write_text(
        f"name: case\nislands: {islands}\n{size}"
        "scale_up: {bandwidth: 100 GB/s}\nscale_out: {nic_bandwidth: 10 GB/s}\n"
    )
    return load_topology(path)


def tables(folder: Path, *lines: str, batch: int = 10, dtype: str = "fp32") -> Workload:
    path = folder / "workload.yaml"
    listed = "".join(f"  - {{name: t{index}, {line}}}\n" for index, line in enumerate(lines))
    path.write_text(f"name: case\nbatch_per_rank: {batch}\nembedding_dtype: {dtype}\ntables:\n{listed}")
    return load_workload(path)


def planned(policy: str, workload: Workload, topology: Topology, **switches: Any) -> ShardingPlan:
    entry = PolicyEntry.parse({"name": policy, **switches})
    plan = make_plan(entry, workload.statistics(), topology, Execution())
    check_plan(plan, workload.statistics(), topology)
    return plan


def drawn(plan: ShardingPlan, workload: Workload, topology: Topology) -> Traffic:
    batch = workload.draw_batch(topology.world_size, seed=7, iteration=0)
    return plan_traffic(plan, workload, topology, batch)


def sent(traffic: Traffic, step: str) -> list[int]:
    """Bytes that each rank hands to the network in one step."""
    matrices = [phase.matrix for phase in traffic.phases if phase.step == step]
    return sum(
        (matrix.sum(axis=1) - np.diag(matrix) for matrix in matrices), np.zeros(4, dtype=np.int64)
    ).tolist()


ID_0 = (
    "rows: 8, dim: 4, order: sorted, length: {kind: fixed, value: 1}, popularity: {kind: zipf, s: 1000}",
    "rows: 8, dim: 4, order: sorted, touched: 0.125, length: {kind: fixed, value: 1}, popularity: {kind: uniform}",
)


@pytest.mark.parametrize("line", ID_0)
class TestCase8:
    """4 ranks, 8 rows, dim 4 fp32, 10 lookups each, all of id 0."""

    def test_rank_0_sends_everything(self, tmp_path: Path, line: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        traffic = drawn(planned("row_wise", workload, topology), workload, topology)
        embeddings = sent(traffic, "embeddings")
        assert embeddings == [480, 0, 0, 0]
        assert max(embeddings) / np.mean(embeddings) == 4.0
        assert sent(traffic, "gradients") == [0, 160, 160, 160]
        assert sent(traffic, "ids") == [0, 84, 84, 84]
        assert traffic.lookups_by_tier["local"] == 10

    def test_a_replicated_row_sends_nothing_forward(self, tmp_path: Path, line: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        segments = (Segment(0, 1, layouts.replicated(topology)), Segment(1, 8, layouts.global_rows(topology)))
        plan = ShardingPlan("tiers", 4, (TablePlan("t0", segments),), Execution())
        traffic = drawn(plan, workload, topology)
        assert all(sent(traffic, step) == [0] * 4 for step in ("ids", "embeddings", "gradients"))
        assert traffic.lookups_by_tier["replicated"] == 40

    def test_dedup_sends_each_rank_the_row_once(self, tmp_path: Path, line: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        traffic = drawn(planned("row_wise", workload, topology, dedup="rank"), workload, topology)
        assert sent(traffic, "embeddings") == [48, 0, 0, 0]
        assert sent(traffic, "gradients") == [0, 16, 16, 16]

    def test_dedup_by_island_sends_the_other_island_the_row_once(self, tmp_path: Path, line: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        traffic = drawn(planned("row_wise", workload, topology, dedup="island"), workload, topology)
        assert sent(traffic, "embeddings") == [32, 0, 0, 0]
        assert sent(traffic, "embeddings_spread") == [0, 0, 16, 0]


def test_case_2_a_thousand_remote_lookups_of_dim_10(tmp_path: Path) -> None:
    topology = cluster(tmp_path, "2")
    line = "rows: 100, dim: 10, length: {kind: fixed, value: 1}, popularity: {kind: uniform}"
    workload = tables(tmp_path, line, batch=1_000, dtype="fp16")
    plan = ShardingPlan(
        "one", 4, (TablePlan("t0", (Segment(0, 100, layouts.single_owner(4, 0)),)),), Execution()
    )
    batch = Batch(np.array([[0], [1_000], [0], [0]]), 7, 0)
    traffic = plan_traffic(plan, workload, topology, batch)
    assert sent(traffic, "embeddings") == [20_000, 0, 0, 0]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("islands", ["[1]", "[5]"])
def test_case_5_one_gpu_or_one_island_sends_nothing_between_islands(
    tmp_path: Path, policy: str, islands: str
) -> None:
    line = "rows: 1000, dim: 4, length: {kind: fixed, value: 3}, popularity: {kind: zipf, s: 1}"
    topology, workload = cluster(tmp_path, islands), tables(tmp_path, line)
    for dedup in ("none", "rank", "island"):
        traffic = drawn(planned(policy, workload, topology, dedup=dedup), workload, topology)
        between = topology.island_of[:, None] != topology.island_of[None, :]
        assert not any(phase.matrix[between].any() for phase in traffic.phases)
        if topology.world_size == 1:
            assert all(len(Flows.from_matrix(phase.matrix)) == 0 for phase in traffic.phases)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("islands", ["2", "[8, 4]", "[3]", "[5, 7]"])
def test_case_6_every_row_has_its_owner_and_every_lookup_its_place(
    tmp_path: Path, policy: str, islands: str
) -> None:
    topology = cluster(tmp_path, islands)
    skewed = (
        "rows: 1000, dim: 4, touched: 0.6, length: {kind: fixed, value: 7}, popularity: {kind: zipf, s: 1.1}"
    )
    few = "rows: 3, dim: 2, length: {kind: fixed, value: 2}, popularity: {kind: zipf, s: 1}"
    workload = tables(tmp_path, skewed, few)
    plan = planned(policy, workload, topology)
    traffic = drawn(plan, workload, topology)
    assert sum(traffic.lookups_by_tier.values()) == topology.world_size * 10 * (7 + 2)
    for table, table_plan in zip(workload.tables, plan.tables, strict=True):
        cuts = [segment.start for segment in table_plan.segments] + [table_plan.segments[-1].stop]
        assert cuts == sorted(cuts)
        assert cuts[0] == 0
        assert table.touched_rows <= cuts[-1] <= table.rows
        for segment in table_plan.segments:
            for owners in segment.layout.copies:
                bounds = shard_bounds(segment.stop - segment.start, len(owners))
                assert (bounds[0], bounds[-1]) == (0, segment.stop - segment.start)


class TestCase9:
    """Nothing to look up, in every shape of nothing."""

    LINE = "rows: 100, dim: 4, length: {kind: fixed, value: VALUE}, popularity: {kind: zipf, s: 1}"

    @pytest.mark.parametrize("dedup", ["none", "rank", "island"])
    @pytest.mark.parametrize("policy", POLICIES)
    def test_lengths_all_zero(self, tmp_path: Path, policy: str, dedup: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, self.LINE.replace("VALUE", "0"))
        traffic = drawn(planned(policy, workload, topology, dedup=dedup), workload, topology)
        assert not any(phase.matrix.any() for phase in traffic.phases)
        assert not traffic.gather_bytes.any()
        assert set(traffic.lookups_by_tier.values()) == {0}

    @pytest.mark.parametrize("dedup", ["none", "rank", "island"])
    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_rank_with_an_empty_batch(self, tmp_path: Path, policy: str, dedup: str) -> None:
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, self.LINE.replace("VALUE", "6"))
        plan = planned(policy, workload, topology, dedup=dedup, sync="sparse")
        batch = Batch(np.array([[60], [0], [60], [60]]), 7, 0)
        traffic = plan_traffic(plan, workload, topology, batch)
        assert sum(traffic.lookups_by_tier.values()) == 180
        for phase in traffic.phases:
            asks, answers = phase.matrix[1], phase.matrix[:, 1]
            if phase.step == "ids" and dedup != "island":  # a mate asks for others
                assert not asks.any()
            if phase.step in ("embeddings", "embeddings_spread") and dedup != "island":
                assert not answers.any()


class TestCase12:
    """What a rank keeps to itself is in the matrix, and never on the network."""

    def test_the_diagonal_is_local_lookups_and_no_flow(self, tmp_path: Path) -> None:
        line = "rows: 1000, dim: 4, length: {kind: fixed, value: 50}, popularity: {kind: zipf, s: 1}"
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        traffic = drawn(planned("row_wise", workload, topology), workload, topology)
        matrix = next(phase.matrix for phase in traffic.phases if phase.step == "embeddings")
        flows = Flows.from_matrix(matrix)
        assert int(np.trace(matrix)) == traffic.lookups_by_tier["local"] * 16 > 0
        assert int(flows.bytes.sum()) == traffic.lookups_by_tier["global"] * 16
        assert (flows.sources != flows.destinations).all()

    def test_a_table_read_by_its_owner_alone_needs_no_network(self, tmp_path: Path) -> None:
        line = "rows: 1000, dim: 4, length: {kind: fixed, value: 50}, popularity: {kind: zipf, s: 1}"
        topology, workload = cluster(tmp_path, "2"), tables(tmp_path, line)
        plan = ShardingPlan(
            "one", 4, (TablePlan("t0", (Segment(0, 1000, layouts.single_owner(4, 2)),)),), Execution()
        )
        traffic = plan_traffic(plan, workload, topology, Batch(np.array([[0], [0], [500], [0]]), 7, 0))
        assert all(len(Flows.from_matrix(phase.matrix)) == 0 for phase in traffic.phases)
        assert traffic.lookups_by_tier["local"] == 500
        assert traffic.gather_bytes.tolist() == [0, 0, 500 * 16, 0]
