"""What replicas exchange: dense and sparse, by layout, whenever it is."""

from typing import Any

import numpy as np
import pytest

from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.traffic.synchronisation import Synchronisation
from simulator.traffic.traffic import plan_traffic
from simulator.workload.distinct import expected_distinct
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Workload

DIM = 8
ELEMENT_BYTES = 2
ID_BYTES = 8


def cluster(*sizes: int) -> Topology:
    spec: dict[str, Any] = {
        "name": "test",
        "islands": list(sizes),
        "scale_up": {"bandwidth": "100 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
    }
    return build_topology(TopologySpec.model_validate(spec))


def synchronised(
    topology: Topology,
    *tables: tuple[Segment, ...],
    popularity: Uniform | ZipfMandelbrot | None = None,
    lookups: int = 100,
    iteration: int = 0,
    **switches: Any,
) -> tuple[Synchronisation, ...]:
    """The synchronisations of tables cut like this, every rank making `lookups` lookups in each."""
    rows = [segments[-1].stop for segments in tables]
    popularities = [popularity or Uniform(count) for count in rows]
    workload = Workload(
        "sync",
        10,
        ELEMENT_BYTES,
        tuple(
            Table(f"t{index}", count, DIM, own, fixed(10), order="sorted")
            for index, (count, own) in enumerate(zip(rows, popularities, strict=True))
        ),
    )
    plans = tuple(TablePlan(f"t{index}", segments) for index, segments in enumerate(tables))
    plan = ShardingPlan("test", topology.world_size, plans, Execution.model_validate(switches))
    batch = Batch(np.full((topology.world_size, len(tables)), lookups), 3, iteration)
    return plan_traffic(plan, workload, topology, batch).sync


def chunks(entry: Synchronisation) -> list[list[int]]:
    return [each.tolist() for each in entry.chunk_bytes]


def test_one_copy_has_nothing_to_synchronise() -> None:
    topology = cluster(2, 2)
    assert synchronised(topology, (Segment(0, 10, layouts.global_rows(topology)),)) == ()
    assert synchronised(topology, (Segment(0, 10, layouts.column_owners(4, (0, 1))),)) == ()


def test_one_rank_or_one_island_has_one_copy() -> None:
    alone, island = cluster(1), cluster(4)
    assert synchronised(alone, (Segment(0, 10, layouts.replicated(alone)),)) == ()
    assert synchronised(island, (Segment(0, 10, layouts.island(island)),)) == ()


def test_dense_replicas_hold_all_rows() -> None:
    topology = cluster(2, 2)
    segments = (Segment(0, 7, layouts.replicated(topology)), Segment(7, 10, layouts.global_rows(topology)))
    (entry,) = synchronised(topology, segments, gradient_dtype="fp32")
    assert (entry.tier, entry.mode) == (Tier.REPLICATED, "dense")
    assert entry.copies == ((0,), (1,), (2,), (3,))
    assert chunks(entry) == [[7 * DIM * 4]] * 4
    assert entry.pooled_bytes is None


def test_dense_island_copies_are_cut_by_their_islands() -> None:
    topology = cluster(4, 2)
    (entry,) = synchronised(topology, (Segment(0, 10, layouts.island(topology)),))
    row_bytes = DIM * ELEMENT_BYTES
    assert entry.tier == Tier.ISLAND
    assert entry.copies == ((0, 1, 2, 3), (4, 5))
    assert chunks(entry) == [
        [3 * row_bytes, 3 * row_bytes, 3 * row_bytes, row_bytes],
        [5 * row_bytes, 5 * row_bytes],
    ]


def test_tables_placed_alike_are_one_entry() -> None:
    topology = cluster(2, 2)
    replicated, island = layouts.replicated(topology), layouts.island(topology)
    first = (Segment(0, 3, replicated), Segment(3, 10, island))
    alike = Layout(Tier.REPLICATED, replicated.copies, replicated.copy_of)
    second = (Segment(0, 5, alike), Segment(5, 6, island))
    entries = synchronised(topology, first, second)
    row_bytes = DIM * ELEMENT_BYTES
    assert [entry.tier for entry in entries] == [Tier.REPLICATED, Tier.ISLAND]
    assert chunks(entries[0]) == [[8 * row_bytes]] * 4
    assert chunks(entries[1]) == [[(4 + 1) * row_bytes, 3 * row_bytes]] * 2


@pytest.mark.parametrize(
    ("optimizer", "row_bytes"), [("none", 16), ("rowwise_adagrad", 16 + 4), ("adam", 16 + 2 * 4 * DIM)]
)
def test_groups_exchange_weights_and_optimizer_state(optimizer: str, row_bytes: int) -> None:
    topology = cluster(2, 2)
    layout = layouts.groups(4, 2)
    (entry,) = synchronised(topology, (Segment(0, 9, layout),), optimizer=optimizer, gradient_dtype="fp32")
    assert entry.tier == Tier.GROUP
    assert chunks(entry) == [[5 * row_bytes, 4 * row_bytes]] * 2


def test_columns_of_a_copy_are_cut_as_columns() -> None:
    topology = cluster(2, 2)
    layout = Layout(Tier.GROUP, ((0, 1), (2, 3)), (0, 0, 1, 1), "columns")
    (entry,) = synchronised(topology, (Segment(0, 9, layout),))
    assert chunks(entry) == [[9 * 4 * ELEMENT_BYTES] * 2] * 2


@pytest.mark.parametrize("every", [1, 2, 10**9, 10**18])
def test_what_one_synchronisation_moves_is_told_in_every_iteration(every: int) -> None:
    """All rows of a small table are hit; how often they are brought together matters to the engine alone."""
    topology = cluster(2, 2)
    segments = (Segment(0, 7, layouts.replicated(topology)),)
    for iteration in range(3):
        dense, sparse = (
            synchronised(topology, segments, iteration=iteration, sync=mode, sync_every=every)
            for mode in ("dense", "sparse")
        )
        assert chunks(dense[0]) == [[7 * DIM * ELEMENT_BYTES]] * 4
        assert chunks(sparse[0]) == [[7 * (DIM * ELEMENT_BYTES + ID_BYTES)]] * 4


def test_sparse_replicas_send_ids_and_gradients_of_touched_rows() -> None:
    """Everybody looks up the one row there is, of ten that are replicated."""
    topology = cluster(2, 3)
    segments = (Segment(0, 10, layouts.replicated(topology)),)
    (entry,) = synchronised(topology, segments, popularity=Uniform(1), sync="sparse", gradient_dtype="fp32")
    assert entry.mode == "sparse"
    assert chunks(entry) == [[ID_BYTES + DIM * 4]] * 5
    assert entry.pooled_bytes is not None
    assert entry.pooled_bytes.tolist() == [ID_BYTES + DIM * 4] * 2


def test_sparse_rows_that_nobody_looked_up_stay() -> None:
    topology = cluster(2, 2)
    segments = (Segment(0, 10, layouts.replicated(topology)),)
    (entry,) = synchronised(topology, segments, lookups=0, sync="sparse")
    assert chunks(entry) == [[0]] * 4
    assert entry.pooled_bytes is not None
    assert entry.pooled_bytes.tolist() == [0, 0]


def test_sparse_touches_the_expected_number_of_rows() -> None:
    topology = cluster(4, 4)
    popularity = ZipfMandelbrot(50_000, 1.0, 2.75)
    row_bytes = ID_BYTES + DIM * ELEMENT_BYTES
    replicas = (Segment(0, 50_000, layouts.replicated(topology)),)
    (entry,) = synchronised(topology, replicas, popularity=popularity, lookups=20_000, sync="sparse")
    of_rank, of_island = expected_distinct(popularity.blocks(), [20_000, 80_000]) * row_bytes
    assert entry.pooled_bytes is not None
    assert np.allclose(np.concatenate(entry.chunk_bytes), of_rank, rtol=0.02)
    assert np.allclose(entry.pooled_bytes, of_island, rtol=0.01)
    islands = (Segment(0, 50_000, layouts.island(topology)),)
    (entry,) = synchronised(topology, islands, popularity=popularity, lookups=20_000, sync="sparse")
    assert np.allclose([each.sum() for each in entry.chunk_bytes], of_island, rtol=0.01)
    assert entry.pooled_bytes is None


def test_sparse_rows_gather_over_the_iterations_between() -> None:
    topology = cluster(2, 2)
    popularity = ZipfMandelbrot(50_000, 1.0, 2.75)
    segments = (Segment(0, 50_000, layouts.replicated(topology)),)
    (entry,) = synchronised(
        topology, segments, popularity=popularity, lookups=5_000, sync="sparse", sync_every=4, iteration=3
    )
    expected = expected_distinct(popularity.blocks(), 20_000) * (ID_BYTES + DIM * ELEMENT_BYTES)
    assert np.allclose(np.concatenate(entry.chunk_bytes), expected, rtol=0.02)


def test_sparse_never_touches_more_than_there_is() -> None:
    topology = cluster(3, 2)
    segments = (Segment(0, 11, layouts.replicated(topology)), Segment(11, 40, layouts.island(topology)))
    sparse = synchronised(topology, segments, lookups=100_000, sync="sparse")
    dense = synchronised(topology, segments, lookups=100_000)
    row_bytes = DIM * ELEMENT_BYTES
    for one, other in zip(sparse, dense, strict=True):
        assert (one.tier, one.copies) == (other.tier, other.copies)
        for touched, held in zip(one.chunk_bytes, other.chunk_bytes, strict=True):
            assert (touched // (row_bytes + ID_BYTES) == held // row_bytes).all()


@pytest.mark.parametrize("lookups", [1, 2, 5, 40])
def test_an_island_touches_what_its_ranks_touch_together(lookups: int) -> None:
    topology = cluster(3, 1, 2)
    segments = (Segment(0, 30, layouts.replicated(topology)),)
    for iteration in range(20):
        (entry,) = synchronised(topology, segments, lookups=lookups, iteration=iteration, sync="sparse")
        touched, pooled = np.concatenate(entry.chunk_bytes), entry.pooled_bytes
        assert pooled is not None
        for island, ranks in enumerate(topology.islands):
            assert touched[list(ranks)].max() <= pooled[island] <= touched[list(ranks)].sum()
