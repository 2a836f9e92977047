"""Dedup's figures: lookups per distinct row, what pools save, and the expected against the drawn."""

from typing import Any

import numpy as np
import pytest

from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology
from simulator.traffic.traffic import Traffic, plan_traffic
from simulator.workload.distinct import expected_distinct
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Workload

SAMPLES = 1_024


def cluster(islands: int, size: int) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10
    )


def row_wise(
    topology: Topology,
    popularity: Uniform | ZipfMandelbrot,
    length: int,
    *,
    iteration: int = 0,
    **switches: Any,
) -> Traffic:
    """One table over all ranks, `SAMPLES` samples of `length` lookups a rank."""
    table = Table("items", popularity.rows, 4, popularity, fixed(length))
    plan = ShardingPlan(
        "row_wise",
        topology.world_size,
        (TablePlan("items", (Segment(0, table.rows, layouts.global_rows(topology)),)),),
        Execution.model_validate(switches),
    )
    batch = Batch(np.full((topology.world_size, 1), SAMPLES * length), 7, iteration)
    return plan_traffic(plan, Workload("theory", SAMPLES, 2, (table,)), topology, batch)


@pytest.mark.parametrize(
    ("rows", "s", "published"),
    [(10**7, 0.9, 1.62), (10**7, 1.0, 2.34), (10**7, 1.2, 7.09), (10**8, 0.9, 1.38)],
)
def test_lookups_per_distinct_row_of_the_design(rows: int, s: float, published: float) -> None:
    """1,024 samples x 200 a rank: what a rank looks up against the rows that it asks for."""
    traffic = row_wise(cluster(2, 8), ZipfMandelbrot(rows, s), 200, dedup="rank")
    ratio = traffic.hits_by_tier["global"] / traffic.distinct_by_tier["global"]
    assert ratio == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize("s", [0.0, 0.9, 1.2])
def test_drawn_distinct_rows_have_the_expected_number(s: float) -> None:
    popularity = ZipfMandelbrot(3_000_000, s, 2.75)
    traffic = row_wise(cluster(2, 4), popularity, 100, dedup="rank")
    expected = 8 * float(expected_distinct(popularity.blocks(), SAMPLES * 100))
    assert traffic.distinct_by_tier["global"] == pytest.approx(expected, rel=0.001)


def bytes_between_islands(traffic: Traffic, step: str, size: int) -> int:
    island = np.arange(len(traffic.gather_bytes)) // size
    between = island[:, None] != island[None, :]
    return sum(int(phase.matrix[between].sum()) for phase in traffic.phases if phase.step == step)


def test_an_island_asks_once_for_what_its_ranks_ask_for() -> None:
    """The NIC carries an island's distinct rows, (N - 1)/N of them from elsewhere, instead of its ranks'."""
    popularity = ZipfMandelbrot(3_000_000, 1.15, 2.75)
    topology = cluster(4, 8)
    by_rank = row_wise(topology, popularity, 100, dedup="rank")
    by_island = row_wise(topology, popularity, 100, dedup="island")
    rank_rows, island_rows = (
        float(expected_distinct(popularity.blocks(), ranks * SAMPLES * 100)) for ranks in (1, 8)
    )
    owned_elsewhere = 3 / 4
    row_bytes = 8
    assert bytes_between_islands(by_rank, "embeddings", 8) == pytest.approx(
        32 * rank_rows * owned_elsewhere * row_bytes, rel=0.01
    )
    assert bytes_between_islands(by_island, "embeddings", 8) == pytest.approx(
        4 * island_rows * owned_elsewhere * row_bytes, rel=0.01
    )


def test_what_is_spread_inside_an_island_is_what_ranks_asked_for() -> None:
    """From mates to ranks: as many rows as with dedup by rank come from other islands."""
    topology = cluster(4, 8)
    popularity = ZipfMandelbrot(3_000_000, 1.15, 2.75)
    by_rank = row_wise(topology, popularity, 100, dedup="rank")
    by_island = row_wise(topology, popularity, 100, dedup="island")
    spread = next(phase for phase in by_island.phases if phase.step == "embeddings_spread")
    assert int(spread.matrix.sum()) == bytes_between_islands(by_rank, "embeddings", 8)
    assert spread.groups == topology.islands
    assert bytes_between_islands(by_island, "embeddings_spread", 8) == 0


def test_uniform_ids_of_an_endless_table_are_all_distinct() -> None:
    topology, popularity = cluster(2, 4), Uniform(10**15)
    plain, by_rank, by_island = (
        row_wise(topology, popularity, 3, dedup=dedup) for dedup in ("none", "rank", "island")
    )
    assert by_rank.distinct_by_tier == plain.distinct_by_tier == by_rank.hits_by_tier
    for step in ("embeddings", "gradients"):
        sent = {bytes_between_islands(traffic, step, 4) for traffic in (plain, by_rank, by_island)}
        assert len(sent) == 1
    assert by_rank.gather_bytes.tolist() == plain.gather_bytes.tolist()


def test_one_row_is_asked_for_once() -> None:
    by_rank = row_wise(cluster(2, 4), Uniform(1), 50, dedup="rank")
    by_island = row_wise(cluster(2, 4), Uniform(1), 50, dedup="island")
    assert by_rank.distinct_by_tier["global"] == 8
    assert by_rank.gather_bytes.tolist() == [8 * 8] + [0] * 7
    assert by_island.gather_bytes.tolist() == [(4 + 1) * 8] + [0] * 7


def test_dedup_leaves_every_lookup_where_it_was() -> None:
    kinds = [
        row_wise(cluster(2, 4), ZipfMandelbrot(1000, 1.0), 50, dedup=dedup)
        for dedup in ("none", "rank", "island")
    ]
    assert kinds[0].lookups_by_tier == kinds[1].lookups_by_tier == kinds[2].lookups_by_tier


def test_one_island_has_nobody_to_pool_for() -> None:
    by_rank = row_wise(cluster(1, 8), ZipfMandelbrot(1000, 1.0), 50, dedup="rank")
    by_island = row_wise(cluster(1, 8), ZipfMandelbrot(1000, 1.0), 50, dedup="island")
    assert [phase.name for phase in by_island.phases] == [phase.name for phase in by_rank.phases]
    for one, other in zip(by_rank.phases, by_island.phases, strict=True):
        assert (one.matrix == other.matrix).all()


def test_more_ranks_in_an_island_never_ask_more_together() -> None:
    sent = []
    for size in (2, 4, 8):
        topology = cluster(16 // size, size)
        traffic = row_wise(topology, ZipfMandelbrot(100_000, 1.0), 50, dedup="island")
        sent.append(bytes_between_islands(traffic, "embeddings", size))
    assert sent[0] > sent[1] > sent[2]
