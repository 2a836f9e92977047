"""What the tutorial claims without showing a command for it."""

from pathlib import Path

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.collectives.matrix import even_matrix
from simulator.sharding.execution import Execution
from simulator.sharding.memory import memory_bytes
from simulator.sharding.plan import ShardingPlan, Tier
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase
from simulator.traffic.traffic import plan_traffic
from simulator.workload.load import load_workload
from simulator.workload.workload import Workload

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial"
TEACHING = load_topology(ROOT / "topologies" / "teaching_2x2.yaml")
MOVIES = load_workload(TUTORIAL / "movies.yaml")
EQUAL_TABLES = """
name: equal
batch_per_rank: 10
tables: [{{name: table, count: {count}, rows: 100, dim: 4, length: 5, popularity: {{kind: uniform}}}}]
"""


def planned(policy: str | dict[str, str], workload: Workload, topology: Topology = TEACHING) -> ShardingPlan:
    return make_plan(PolicyEntry.parse(policy), workload.statistics(), topology, Execution())


def phases(plan: ShardingPlan, workload: Workload) -> tuple[Phase, ...]:
    return plan_traffic(plan, workload, TEACHING, workload.draw_batch(4, seed=0, iteration=0)).phases


def rows_in(plan: ShardingPlan, tier: Tier) -> int:
    return sum(
        segment.stop - segment.start for segment in plan.tables[0].segments if segment.layout.tier == tier
    )


def sent(matrix: IntArray) -> IntArray:
    bytes_sent: IntArray = matrix.sum(axis=1) - np.diag(matrix)
    return bytes_sent


@pytest.mark.parametrize(("factor", "time_s"), [(1, 0.05), (0.05, 0.05), (0.04, 0.0625)])
def test_lesson_1_nvlink_may_be_twenty_times_slower_and_no_more(factor: float, time_s: float) -> None:
    slower = [{"target": f"scale_up/{rank}", "factor": factor} for rank in range(4)]
    cluster = TEACHING.with_(overrides=slower)
    result = run_all_to_all(cluster, even_matrix(cluster, 10**9), tolerance=None)
    assert result.time_s == pytest.approx(time_s, rel=1e-9)


@pytest.mark.parametrize(("count", "imbalance"), [(4, 1.0), (5, 1.6)])
def test_lesson_2_equal_tables_on_four_ranks(tmp_path: Path, count: int, imbalance: float) -> None:
    path = tmp_path / "equal.yaml"
    path.write_text(EQUAL_TABLES.format(count=count))
    workload = load_workload(path)
    embeddings = next(p for p in phases(planned("table_wise", workload), workload) if p.step == "embeddings")
    busiest = sent(embeddings.matrix).max() / sent(embeddings.matrix).mean()
    assert busiest == pytest.approx(imbalance, rel=1e-9)


def test_lesson_3_the_hottest_row_has_4_5_percent() -> None:
    table = load_workload(ROOT / "workloads" / "headline_4.yaml").statistics().tables[0]
    assert float(table.popularity.cumulative_share(1)) == pytest.approx(0.045, abs=5e-4)


def test_lesson_4_larger_batches_copy_more_rows() -> None:
    """Ten times the batch: rows with 0.4 of the former lookups an iteration have 4 now."""
    before = planned("hybrid", MOVIES)
    after = planned("hybrid", MOVIES.with_(batch_per_rank=80))
    lookups = 4 * 80 * MOVIES.statistics().tables[0].popularity.share_between(range(1000), range(1, 1001))
    assert rows_in(before, Tier.REPLICATED) == np.count_nonzero(lookups >= 4.0)
    assert rows_in(after, Tier.REPLICATED) == np.count_nonzero(lookups >= 0.4)
    assert rows_in(after, Tier.REPLICATED) > rows_in(before, Tier.REPLICATED)


def test_lesson_5_the_budget_is_used_up_to_the_next_row() -> None:
    """64 B more than row-wise; another row would make it 128 B, more than the budget of 100."""
    statistics = MOVIES.statistics()
    plan = planned({"name": "flexshard", "budget": "100 B"}, MOVIES)
    row_wise = memory_bytes(planned("row_wise", MOVIES), statistics, TEACHING).max_bytes
    assert memory_bytes(plan, statistics, TEACHING).max_bytes == row_wise + 64


def test_lesson_5_one_island_has_no_island_rows_and_no_nic_bytes() -> None:
    cluster = load_topology(TUTORIAL / "gpus_1x16.yaml")
    plan = planned({"name": "flexshard", "memory": "hbm"}, MOVIES, cluster)
    assert rows_in(plan, Tier.ISLAND) == 0
    assert rows_in(plan, Tier.REPLICATED) > 0
    assert {cluster.resources.names[hop] for hop in cluster.routes([0], [15]).resources[0]} == {
        "scale_up/0/egress",
        "scale_up/15/ingress",
    }


def test_lesson_6_no_copy_fits_where_all_rows_are_touched() -> None:
    row_wise = phases(planned("row_wise", MOVIES), MOVIES)
    flexshard = phases(planned({"name": "flexshard", "memory": "baseline"}, MOVIES), MOVIES)
    assert [phase.name for phase in flexshard] == [phase.name for phase in row_wise]
    for one, other in zip(flexshard, row_wise, strict=True):
        np.testing.assert_array_equal(one.matrix, other.matrix)
