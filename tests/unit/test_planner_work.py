"""How much work planning is: it is counted, not timed."""

import pytest

from simulator.sharding import planner
from simulator.sharding.execution import Execution
from simulator.sharding.memory_rule import Budget, memory_rule
from simulator.sharding.planner import solve
from simulator.sharding.row_blocks import row_blocks
from simulator.sharding.tier_costs import tier_costs
from simulator.sharding.tiering import TierPlanner
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

SLOW_PORTS = uniform_topology(islands=8, gpus_per_island=8, scale_up_bytes_per_s=3e10, nic_bytes_per_s=2.5e10)


def statistics(tables: int, rows: int) -> Statistics:
    touched = rows * 4 // 10
    return Statistics(
        tuple(
            TableStatistics(
                f"t{index}",
                rows,
                (16, 64, 256)[index % 3],
                2,
                touched,
                ZipfMandelbrot(touched, 0.8 + 0.005 * index, 2.75),
                1e4 * (1 + index % 7),
            )
            for index in range(tables)
        )
    )


def evaluations(monkeypatch: pytest.MonkeyPatch, used: Statistics, execution: Execution, share: float) -> int:
    """How often the planner puts every row in its cheapest tier."""
    calls = []
    original = planner.cheapest
    monkeypatch.setattr(
        planner, "cheapest", lambda *args, **kwargs: calls.append(1) or original(*args, **kwargs)
    )
    rule = memory_rule(
        used, SLOW_PORTS, execution, rule="baseline", budget=Budget(share=share), hbm_share=1.0
    )
    solve(TierPlanner(used, SLOW_PORTS, execution, rule).program())
    return len(calls)


@pytest.mark.parametrize("rows", [10**6, 10**9, 10**12])
def test_one_price_takes_a_few_evaluations_whatever_the_rows(monkeypatch, rows):
    assert evaluations(monkeypatch, statistics(30, rows), Execution(), 1e-3) <= 60


def test_prices_and_shares_together_take_some_hundreds(monkeypatch):
    found = evaluations(monkeypatch, statistics(30, 10**9), Execution(tiers="concurrent"), 1e-4)
    assert found <= 1500


def test_blocks_do_not_grow_with_the_rows():
    costs = tier_costs(statistics(1, 10**9), SLOW_PORTS, Execution())
    widths = [
        row_blocks(statistics(1, rows), costs.measures).edges.shape[1] for rows in (10**6, 10**9, 10**12)
    ]
    assert widths[2] < 2 * widths[1] < 4 * widths[0] < 5000


def test_a_cut_lies_in_the_block_that_holds_it():
    blocks = row_blocks(
        statistics(2, 10**6), tier_costs(statistics(2, 10**6), SLOW_PORTS, Execution()).measures
    )
    for cut in (0.0, 0.5, 3.0, 600.3, 399_999.0, 400_000.0):
        block = blocks.block_at(blocks.touched_rows * 0 + cut)
        edges = blocks.edges[[0, 1], block], blocks.edges[[0, 1], block + 1]
        assert (edges[0] <= cut).all()
        assert (cut <= edges[1]).all()


def test_totals_are_cumulative_shares():
    used = statistics(2, 10**6)
    costs = tier_costs(used, SLOW_PORTS, Execution())
    blocks = row_blocks(used, costs.measures)
    lookups = [measure.kind for measure in costs.measures].index("lookups")
    for cut in (1, 100, 5_000, 300_000):
        totals = blocks.totals(blocks.touched_rows * 0 + cut)[lookups]
        for table, total in zip(used.tables, totals, strict=True):
            share = table.popularity.cumulative_share([cut])[0]
            assert total == pytest.approx(table.lookups_per_rank * share, rel=1e-4)
