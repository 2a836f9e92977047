"""`prepare`: runs, shares, shared layouts, reclaimed rows."""

from typing import Any

import numpy as np
import pytest

from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import uniform_topology
from simulator.traffic.placement import HEADS_IN_ALL, MAX_HEADS, MIN_HEADS, Placement, heads_of_each, prepare
from simulator.workload.lengths import fixed
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.shuffle import permute
from simulator.workload.table import Table
from simulator.workload.workload import Workload

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)


def placed(*tables: tuple[Table, tuple[Segment, ...]], samples: Any = (), **switches: Any) -> Placement:
    workload = Workload("test", 8, 2, tuple(table for table, _ in tables), batch_of_rank=samples)
    plans = tuple(TablePlan(table.name, segments) for table, segments in tables)
    plan = ShardingPlan("test", 4, plans, Execution.model_validate(switches))
    return prepare(plan, workload, TOPOLOGY, seed=1)


def test_runs_have_the_shares_of_their_rows() -> None:
    popularity = ZipfMandelbrot(80, 1.0)
    segments = (
        Segment(0, 5, layouts.replicated(TOPOLOGY)),
        Segment(5, 5, layouts.groups(4, 2)),
        Segment(5, 30, layouts.island(TOPOLOGY)),
        Segment(30, 100, layouts.global_rows(TOPOLOGY)),
    )
    placement = placed((Table("a", 100, 4, popularity, fixed(1)), segments))
    (table,) = placement.tables
    assert [run.kind for run in table.runs] == ["replicated", "island", "global"]
    assert [run.rows for run in table.runs] == [5, 25, 70]
    assert np.allclose(table.shares, popularity.share_between([0, 5, 30], [5, 30, 100]))
    assert list(placement.groups) == [Tier.REPLICATED, Tier.ISLAND, Tier.GLOBAL]


def test_layouts_that_are_alike_are_one() -> None:
    island = layouts.island(TOPOLOGY)
    alike = Layout(island.tier, island.copies, island.copy_of)
    table = Table("a", 10, 4, Uniform(10), fixed(1))
    other = Table("b", 10, 4, Uniform(10), fixed(1))
    placement = placed((table, (Segment(0, 10, island),)), (other, (Segment(0, 10, alike),)))
    assert placement.layouts == (island,)
    assert len(placement.readers) == 1
    assert placement.tables[1].runs[0].layout is island


def test_rows_after_the_last_segment_go_where_their_ids_hash_to() -> None:
    """Rows 0 to 9 were seen by the planner; a tenth of the lookups now go anywhere in 1,000 rows."""
    base = Uniform(10)
    drifted = Drifted(base, 0.1, 1_000, key=5)
    table = Table("a", 1_000, 4, base, fixed(1), replayed=drifted)
    placement = placed((table, (Segment(0, 10, layouts.replicated(TOPOLOGY)),)))
    kept, reclaimed = placement.tables[0].runs
    assert (kept.kind, reclaimed.kind) == ("replicated", "reclaimed")
    assert reclaimed.layout.tier == Tier.GLOBAL
    assert reclaimed.rows == 990
    assert Tier.GLOBAL in placement.groups
    outside = int((permute(1_000, np.arange(10), key=5) >= 10).sum())
    assert placement.tables[0].shares[1] == pytest.approx(0.1 * outside / 10, abs=0.001)
    assert placement.readers[reclaimed.parts[0].readers].owners.tolist() == [[0, 1, 2, 3]] * 4


def test_rows_that_nobody_looks_up_are_no_run() -> None:
    placement = placed(
        (Table("a", 1_000, 4, Uniform(10), fixed(1)), (Segment(0, 10, layouts.replicated(TOPOLOGY)),))
    )
    assert [run.kind for run in placement.tables[0].runs] == ["replicated"]
    assert list(placement.groups) == [Tier.REPLICATED]


def test_a_table_without_segments_is_reclaimed_whole() -> None:
    placement = placed((Table("a", 100, 4, Uniform(10), fixed(1)), ()))
    assert [run.kind for run in placement.tables[0].runs] == ["reclaimed"]
    assert placement.tables[0].shares.tolist() == [1.0]


def test_columns_are_cut_in_blocks_and_looked_up_at_all_owners() -> None:
    layout = layouts.column_owners(4, (0, 1, 3, 2))
    (run,) = placed((Table("a", 100, 6, Uniform(10), fixed(1)), (Segment(0, 100, layout),))).tables[0].runs
    (part,) = run.parts
    assert part.columns.tolist() == [2, 2, 2, 0]
    assert part.owners.shares.tolist() == [1.0]


@pytest.mark.parametrize(("dtype", "expected"), [(None, 2), ("fp16", 2), ("bf16", 2), ("fp32", 4)])
def test_gradients_have_the_dtype_of_embeddings_unless_told(dtype: str | None, expected: int) -> None:
    assert placed(gradient_dtype=dtype).gradient_bytes == expected


def test_samples_are_those_of_each_rank() -> None:
    assert placed(samples=((2, 0),)).samples.tolist() == [8, 8, 0, 8]


def test_rows_told_apart_are_fewer_in_many_tables() -> None:
    assert heads_of_each(1) == heads_of_each(64) == MAX_HEADS
    assert heads_of_each(128) == MAX_HEADS // 2
    assert heads_of_each(10**6) == MIN_HEADS
    assert heads_of_each(0) == MAX_HEADS
    assert 1_000 * heads_of_each(1_000) <= HEADS_IN_ALL
