"""`draw_traffic`: phases, counts and bytes of small plans."""

from typing import Any

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology
from simulator.traffic.placement import prepare
from simulator.traffic.traffic import Traffic, draw_traffic, plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Workload

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
SAMPLES = 5


def hot_row(rows: int = 8, **fields: Any) -> Table:
    """Only row 0 is ever looked up, and it lies first."""
    return Table("hot", rows, fields.pop("dim", 4), Uniform(1), fixed(2), order="sorted", **fields)


def traffic(
    segments: tuple[Segment, ...],
    table: Table,
    lookups: IntArray | int = 10,
    *,
    topology: Topology = TOPOLOGY,
    iteration: int = 0,
    **switches: Any,
) -> Traffic:
    world_size = topology.world_size
    plan = ShardingPlan(
        "test", world_size, (TablePlan(table.name, segments),), Execution.model_validate(switches)
    )
    batch = Batch(np.broadcast_to(np.asarray(lookups), (world_size,))[:, None].copy(), 1, iteration)
    return plan_traffic(plan, Workload("test", SAMPLES, 2, (table,)), topology, batch)


def matrices(drawn: Traffic) -> dict[str, list[list[int]]]:
    return {phase.name: phase.matrix.tolist() for phase in drawn.phases}


def test_an_owner_of_the_whole_table_gets_lengths() -> None:
    drawn = traffic((Segment(0, 8, layouts.single_owner(4, 1)),), hot_row(), np.array([10, 0, 1, 2]))
    assert matrices(drawn) == {
        "ids_global": [[0, 100, 0, 0], [0, 0, 0, 0], [0, 28, 0, 0], [0, 36, 0, 0]],
        "embeddings_global": [[0, 0, 0, 0], [80, 0, 8, 16], [0, 0, 0, 0], [0, 0, 0, 0]],
        "gradients_global": [[0, 80, 0, 0], [0, 0, 0, 0], [0, 8, 0, 0], [0, 16, 0, 0]],
    }
    assert drawn.gather_bytes.tolist() == [0, 13 * 8, 0, 0]


def test_an_owner_of_some_rows_gets_a_number_of_ids() -> None:
    drawn = traffic((Segment(0, 8, layouts.global_rows(TOPOLOGY)),), hot_row())
    assert matrices(drawn)["ids_global"] == [[84, 0, 0, 0]] * 4


def test_replicated_rows_are_read_where_they_are_needed() -> None:
    drawn = traffic((Segment(0, 8, layouts.replicated(TOPOLOGY)),), hot_row(), np.array([1, 2, 3, 0]))
    assert drawn.phases == ()
    assert drawn.gather_bytes.tolist() == [8, 16, 24, 0]
    assert drawn.lookups_by_tier["replicated"] == 6
    assert drawn.lookups_by_tier["local"] == 0


def test_tiers_and_their_groups() -> None:
    segments = (
        Segment(0, 2, layouts.replicated(TOPOLOGY)),
        Segment(2, 20, layouts.island(TOPOLOGY)),
        Segment(20, 90, layouts.global_rows(TOPOLOGY)),
    )
    drawn = traffic(segments, Table("t", 90, 4, ZipfMandelbrot(90, 0.5), fixed(2)), 500)
    assert [phase.name for phase in drawn.phases] == [
        "ids_island",
        "ids_global",
        "embeddings_island",
        "embeddings_global",
        "gradients_island",
        "gradients_global",
    ]
    groups = {str(phase.tier): phase.groups for phase in drawn.phases}
    assert groups == {"island": ((0, 1), (2, 3)), "global": ((0, 1, 2, 3),)}
    assert list(drawn.lookups_by_tier) == ["local", "replicated", "island", "global", "group", "reclaimed"]
    assert sum(drawn.lookups_by_tier.values()) == 2_000


def test_pooled_steps_come_where_they_happen() -> None:
    drawn = traffic((Segment(0, 8, layouts.global_rows(TOPOLOGY)),), hot_row(), dedup="island")
    assert [phase.step for phase in drawn.phases] == [
        "ids_gather",
        "ids",
        "embeddings",
        "embeddings_spread",
        "gradients_gather",
        "gradients",
    ]
    by_name = matrices(drawn)
    nothing = [0] * 4
    assert by_name["ids_gather_global"] == [nothing, nothing, [0, 0, 12, 0], [0, 0, 12, 0]]
    assert by_name["ids_global"] == [[12, 0, 0, 0], [12, 0, 0, 0], [12, 0, 0, 0], nothing]
    assert by_name["embeddings_global"] == [[8, 8, 8, 0], nothing, nothing, nothing]
    assert by_name["embeddings_spread_global"] == [nothing, nothing, [0, 0, 8, 8], nothing]


def test_columns_answer_in_parts() -> None:
    """dim 4 over three owners: 2, 2 and 0 columns."""
    drawn = traffic((Segment(0, 8, layouts.column_owners(4, (0, 1, 2))),), hot_row(), np.array([3, 0, 0, 1]))
    by_name = matrices(drawn)
    assert by_name["embeddings_global"] == [[12, 0, 0, 4], [12, 0, 0, 4], [0] * 4, [0] * 4]
    assert by_name["ids_global"] == [[44, 44, 0, 0], [0] * 4, [0] * 4, [28, 28, 0, 0]]
    assert drawn.lookups_by_tier["global"] == 4
    assert drawn.lookups_by_tier["local"] == 0


def test_groups_stay_in_their_groups() -> None:
    drawn = traffic((Segment(0, 8, layouts.groups(4, 2)),), hot_row(), iteration=0)
    assert matrices(drawn)["embeddings_group"] == [[80, 80, 0, 0], [0] * 4, [0, 0, 80, 80], [0] * 4]
    assert drawn.lookups_by_tier["group"] == drawn.lookups_by_tier["local"] == 20


def test_reclaimed_rows_travel_like_global_ones_and_are_counted() -> None:
    drawn = traffic((), Table("t", 100, 4, Uniform(100), fixed(2)), 50)
    assert drawn.lookups_by_tier["reclaimed"] == drawn.hits_by_tier["reclaimed"] == 200
    assert int(drawn.phases[1].matrix.sum()) == 200 * 8
    assert drawn.phases[1].name == "embeddings_global"


def test_gradients_have_their_own_dtype() -> None:
    drawn = traffic((Segment(0, 8, layouts.single_owner(4, 0)),), hot_row(), gradient_dtype="fp32")
    by_name = matrices(drawn)
    assert by_name["embeddings_global"][0] == [80] * 4
    assert [row[0] for row in by_name["gradients_global"]] == [160] * 4


def test_repeats_add_lookups_and_no_distinct_row() -> None:
    table = Table("t", 10**9, 4, Uniform(10**9), fixed(2))
    plan = ShardingPlan(
        "test",
        4,
        (TablePlan("t", (Segment(0, 10**9, layouts.global_rows(TOPOLOGY)),)),),
        Execution(dedup="rank"),
    )
    batch = Batch(np.full((4, 1), 100), 1, 0, repeats=np.full((4, 1), 75))
    drawn = plan_traffic(plan, Workload("test", 50, 2, (table,)), TOPOLOGY, batch)
    assert drawn.hits_by_tier["global"] == 400
    assert drawn.distinct_by_tier["global"] == 100


def test_tables_of_one_stream_land_alike() -> None:
    """Two tables look up the same ids: the same rows of both on the same ranks."""
    one, other = (Table(name, 1_000, 4, ZipfMandelbrot(900, 1.0), fixed(2), stream="users") for name in "ab")
    plan = ShardingPlan(
        "test",
        4,
        tuple(TablePlan(name, (Segment(0, 1_000, layouts.global_rows(TOPOLOGY)),)) for name in "ab"),
        Execution(dedup="rank"),
    )
    batch = Batch(np.full((4, 2), 300), 1, 0)
    both = plan_traffic(plan, Workload("test", SAMPLES, 2, (one, other)), TOPOLOGY, batch)
    single = traffic((Segment(0, 1_000, layouts.global_rows(TOPOLOGY)),), one, 300, dedup="rank")
    for pair, alone in zip(both.phases, single.phases, strict=True):
        assert (pair.matrix == 2 * alone.matrix).all()


def test_iterations_draw_afresh_and_seeds_too() -> None:
    table = Table("t", 1_000, 4, ZipfMandelbrot(900, 1.0), fixed(2))
    plan = ShardingPlan(
        "test", 4, (TablePlan("t", (Segment(0, 1_000, layouts.global_rows(TOPOLOGY)),)),), Execution()
    )
    workload = Workload("test", SAMPLES, 2, (table,))
    placement = prepare(plan, workload, TOPOLOGY, seed=1)
    lookups = np.full((4, 1), 300)
    first, again, second = (draw_traffic(placement, Batch(lookups, 1, iteration)) for iteration in (0, 0, 1))
    other = draw_traffic(prepare(plan, workload, TOPOLOGY, seed=2), Batch(lookups, 2, 0))
    assert (first.phases[1].matrix == again.phases[1].matrix).all()
    assert (first.phases[1].matrix != second.phases[1].matrix).any()
    assert (first.phases[1].matrix != other.phases[1].matrix).any()


@pytest.mark.parametrize("dedup", ["none", "rank", "island"])
def test_a_billion_lookups_a_rank_are_drawn_and_not_listed(dedup: str) -> None:
    topology = uniform_topology(
        islands=16, gpus_per_island=8, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10
    )
    table = Table("t", 10**12, 4, ZipfMandelbrot(10**12, 1.0), fixed(2))
    segments = (Segment(0, 10**12, layouts.global_rows(topology)),)
    drawn = traffic(segments, table, 10**9, topology=topology, dedup=dedup)
    assert sum(drawn.hits_by_tier.values()) == 128 * 10**9
