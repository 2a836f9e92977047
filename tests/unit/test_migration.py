"""Which rows cross between two plans, and the bytes that this carries from rank to rank."""

import numpy as np
import pytest

from simulator.sharding.crossings import (
    Crossings,
    crossings_by_drift,
    crossings_by_heat,
    in_heat_order,
)
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import column_owners, global_rows, island, replicated, single_owner
from simulator.sharding.migration import Migration, migration
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan
from simulator.topology.build import build_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.workload.popularity.blend import Blend
from simulator.workload.popularity.runs import in_order
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = build_topology(
    TopologySpec(
        name="two_by_two",
        islands=2,
        gpus_per_island=2,
        scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
        scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
    )
)
GLOBAL, ISLAND, REPLICATED = global_rows(TOPOLOGY), island(TOPOLOGY), replicated(TOPOLOGY)
ROW_BYTES = 16


def table_plan(*runs: tuple[int, Layout]) -> TablePlan:
    starts = (0, *(stop for stop, _ in runs))
    return TablePlan("t", tuple(Segment(a, b, layout) for a, (b, layout) in zip(starts, runs, strict=False)))


def moved(old: TablePlan, new: TablePlan, rows: list[list[float]], optimizer: str = "none") -> Migration:
    statistics = Statistics((TableStatistics("t", 1000, 4, 4, 1000, Uniform(1000), 10.0),))
    plan = ShardingPlan("p", 4, (old,), Execution(optimizer=optimizer))
    crossing = Crossings("t", old.segments, new.segments, np.array(rows, float))
    return migration([crossing], statistics, plan, TOPOLOGY)


def one_run(layout: Layout, rows: int = 400) -> TablePlan:
    return table_plan((rows, layout))


def carried(old: Layout, new: Layout, optimizer: str = "none") -> Migration:
    """400 rows that go from one layout to another."""
    return moved(one_run(old), one_run(new), [[400, 0], [0, 0]], optimizer)


class TestMatrix:
    def test_placed_alike_nothing_moves(self) -> None:
        for layout in (GLOBAL, ISLAND, REPLICATED, single_owner(4, 2)):
            assert not carried(layout, layout).matrix.any()

    def test_from_one_copy_to_a_copy_on_every_rank(self) -> None:
        """Every rank takes a quarter from each owner; its own quarter it holds."""
        result = carried(GLOBAL, REPLICATED)
        assert (result.matrix == 100 * ROW_BYTES).all()
        assert result.moved_bytes == 12 * 100 * ROW_BYTES
        assert result.inter_island_bytes(TOPOLOGY) == 8 * 100 * ROW_BYTES

    def test_from_a_copy_on_every_rank_nothing_travels(self) -> None:
        for layout in (GLOBAL, ISLAND):
            assert carried(REPLICATED, layout).moved_bytes == 0
        assert carried(REPLICATED, GLOBAL).moved_rows == 400

    def test_from_one_copy_to_one_in_each_island(self) -> None:
        """Each rank wants half of the rows, a quarter of these from each owner."""
        assert (carried(GLOBAL, ISLAND).matrix == 50 * ROW_BYTES).all()

    def test_from_islands_only_nvlink_is_used(self) -> None:
        result = carried(ISLAND, GLOBAL)
        assert result.matrix.tolist() == [
            [50 * ROW_BYTES, 50 * ROW_BYTES, 0, 0],
            [50 * ROW_BYTES, 50 * ROW_BYTES, 0, 0],
            [0, 0, 50 * ROW_BYTES, 50 * ROW_BYTES],
            [0, 0, 50 * ROW_BYTES, 50 * ROW_BYTES],
        ]
        assert result.inter_island_bytes(TOPOLOGY) == 0

    def test_a_whole_table_to_another_rank(self) -> None:
        result = carried(single_owner(4, 0), single_owner(4, 3))
        assert result.matrix[0, 3] == 400 * ROW_BYTES == result.moved_bytes

    def test_columns_are_shared_out(self) -> None:
        result = carried(single_owner(4, 1), column_owners(4, (0, 1)))
        assert result.matrix[1].tolist() == [200 * ROW_BYTES, 200 * ROW_BYTES, 0, 0]

    @pytest.mark.parametrize(("optimizer", "more"), [("rowwise_adagrad", 4), ("adam", 32)])
    def test_optimizer_state_travels_with_its_row(self, optimizer: str, more: int) -> None:
        result = carried(single_owner(4, 0), single_owner(4, 3), optimizer)
        assert result.moved_bytes == 400 * (ROW_BYTES + more)

    def test_reclaimed_rows_travel_from_nowhere_and_to_nowhere(self) -> None:
        plan = one_run(GLOBAL)
        result = moved(plan, plan, [[390, 10], [10, 590]])
        assert (result.initialised_rows, result.dropped_rows, result.moved_rows) == (10, 10, 0)
        assert result.moved_bytes == 0

    def test_tables_and_runs_add_up(self) -> None:
        old, new = table_plan((4, REPLICATED), (400, GLOBAL)), table_plan((8, REPLICATED), (400, GLOBAL))
        result = moved(old, new, [[4, 0, 0], [4, 392, 0], [0, 0, 600]])
        assert result.moved_rows == 4
        assert (result.matrix == ROW_BYTES).all()


class TestByHeat:
    OLD = table_plan((2, REPLICATED), (6, GLOBAL))

    def test_rows_are_followed(self) -> None:
        """Rows 4 and 1 are the hottest now: row 0 leaves the copies, row 4 joins them."""
        order = in_heat_order(in_order(np.array([3, 8, 3, 0, 9, 1])), np.array([2, 6]), 8)
        crossing = crossings_by_heat(self.OLD, self.OLD, order)
        assert crossing.rows.tolist() == [[1, 1, 0], [1, 3, 0], [0, 0, 2]]
        assert order.popularity.rows == 5
        assert order.popularity.blocks().shares == pytest.approx(np.array([9, 8, 3, 3, 1]) / 24)

    def test_nothing_crosses_where_the_order_stays(self) -> None:
        order = in_heat_order(in_order(np.array([9, 8, 3, 3, 1, 1])), np.array([2, 6]), 8)
        crossing = crossings_by_heat(self.OLD, self.OLD, order)
        assert crossing.rows.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 2]]

    def test_equals_keep_their_order(self) -> None:
        order = in_heat_order(Uniform(6), np.array([2, 6]), 8)
        assert crossings_by_heat(self.OLD, self.OLD, order).rows[0, 0] == 2

    def test_equals_keep_their_order_whatever_their_shares_round_to(self) -> None:
        """Blocks of many rows: a block's share divided by its rows is a rounding error more or less than another's."""
        uniform, cuts = Uniform(1_000_003), np.array([1_000, 500_000])
        for popularity in (uniform, Blend(uniform, Uniform(1_000_003), 0.3)):
            starts = in_heat_order(popularity, cuts, 1_200_000).starts
            assert (np.diff(starts) > 0).all()

    def test_another_cut_moves_the_rows_between(self) -> None:
        order = in_heat_order(in_order(np.array([9, 8, 7, 6, 5, 4])), np.array([2, 6]), 8)
        new = table_plan((5, REPLICATED), (6, GLOBAL))
        assert crossings_by_heat(self.OLD, new, order).rows.tolist() == [[2, 0, 0], [3, 1, 0], [0, 0, 2]]


class TestByDrift:
    def test_a_share_of_each_run_is_dealt_to_all(self) -> None:
        plan = table_plan((100, REPLICATED), (400, GLOBAL))
        rows = crossings_by_drift(plan, plan, 1000, moved=0.5, among=400).rows
        assert rows == pytest.approx(np.array([[62.5, 37.5, 0], [37.5, 262.5, 0], [0, 0, 600]]))

    def test_without_drift_only_cuts_matter(self) -> None:
        old, new = table_plan((100, REPLICATED), (400, GLOBAL)), table_plan((150, REPLICATED), (500, GLOBAL))
        rows = crossings_by_drift(old, new, 1000, moved=0.0, among=0).rows
        assert rows.tolist() == [[100, 0, 0], [50, 250, 0], [0, 100, 500]]

    def test_all_of_a_table_of_1e12_rows(self) -> None:
        plan = table_plan((10**6, REPLICATED), (10**12, GLOBAL))
        rows = crossings_by_drift(plan, plan, 10**12, moved=1.0, among=10**12).rows
        assert rows[0, 0] == pytest.approx(1.0)
        assert rows[0, 1] == rows[1, 0] == pytest.approx(10**6 - 1)
