"""What is said of a plan's rows: counts, bytes, memory, and the rows at the ends of tiers."""

import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.explain import Margin, explain_plan
from simulator.sharding.memory import memory_bytes
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=8, gpus_per_island=4, scale_up_bytes_per_s=2e11, nic_bytes_per_s=2e10)


def table(name: str, *, lookups: float = 50_000.0, s: float = 1.1, dim: int = 64) -> TableStatistics:
    return TableStatistics(name, 1_000_000, dim, 2, 400_000, ZipfMandelbrot(400_000, s, 2.0), lookups)


STATISTICS = Statistics((table("items"), table("users", lookups=5_000.0, s=0.9, dim=128)))


def explained(entry, statistics=STATISTICS):
    plan = make_plan(PolicyEntry.parse(entry), statistics, TOPOLOGY, Execution())
    return plan, explain_plan(plan, statistics, TOPOLOGY)


def test_runs_cover_every_table_from_its_first_row_to_its_last():
    _, runs = explained("flexshard")
    for name in ("items", "users"):
        own = [run for run in runs if run.table == name]
        assert [run.start for run in own] == [0, *(run.stop for run in own[:-1])]
        assert own[-1].stop == 1_000_000
        assert [run.tier for run in own] == ["replicated", "island", "global", "reclaimed"]


def test_shares_and_lookups_are_the_tables():
    _, runs = explained("flexshard")
    items = [run for run in runs if run.table == "items"]
    assert sum(run.lookup_share for run in items) == pytest.approx(1.0)
    assert sum(run.lookups for run in items) == pytest.approx(32 * 50_000)
    cumulative = STATISTICS.tables[0].popularity.cumulative_share([items[0].stop, items[1].stop])
    assert items[0].lookup_share == pytest.approx(cumulative[0])
    assert items[0].lookup_share + items[1].lookup_share == pytest.approx(cumulative[1])


def test_bytes_are_those_of_ids_embeddings_and_gradients():
    _, runs = explained("row_wise")
    assert [run.all_to_all_bytes for run in runs] == pytest.approx(
        [32 * 50_000 * (8 + 128 + 128), 32 * 5_000 * (8 + 256 + 256)]
    )


def test_replicated_and_reclaimed_rows_send_nothing():
    _, runs = explained("flexshard")
    assert {run.all_to_all_bytes for run in runs if run.tier in ("replicated", "reclaimed")} == {0.0}


def test_dedup_counts_a_row_once_a_rank():
    _, (plain, *_) = explained("row_wise")
    _, (once, *_) = explained({"name": "row_wise", "dedup": "rank"})
    assert once.lookups == plain.lookups
    assert once.all_to_all_bytes < 0.6 * plain.all_to_all_bytes


def test_memory_adds_up_to_the_fullest_rank():
    for entry in ("flexshard", "row_wise", {"name": "flexshard", "budget": "3 %", "optimizer": "adam"}):
        plan, runs = explained(entry)
        assert sum(run.memory_bytes for run in runs) == memory_bytes(plan, STATISTICS, TOPOLOGY).max_bytes


@pytest.mark.parametrize(
    "entry",
    [
        "flexshard",
        {"name": "flexshard", "budget": "1 %"},
        {"name": "flexshard", "budget": "1 %", "dedup": "rank"},
        {"name": "flexshard", "tiers": "concurrent"},
        {"name": "flexshard", "gradient_dtype": "fp32", "optimizer": "adam"},
    ],
)
def test_a_tier_ends_where_saving_and_cost_cross(entry):
    """The last row saves what it costs, the next does not; to 0.1 %, for cuts lie between blocks 2 % wide."""
    _, runs = explained(entry)
    weighed = [run for run in runs if run.margins]
    assert weighed
    for run in weighed:
        last, beyond = run.margins
        assert (last.row, beyond.row) == (run.stop - 1, run.stop)
        assert last.saves_s >= last.costs_s * (1 - 1e-3)
        assert beyond.saves_s <= beyond.costs_s * (1 + 1e-3)
        assert last.saves_s == pytest.approx(last.costs_s, rel=0.005 + 2 / run.stop)
        assert last.lookups >= beyond.lookups


def test_memory_has_a_price_where_it_is_scarce_alone():
    free, _ = explained("flexshard")
    scarce, _ = explained({"name": "flexshard", "budget": "1 %"})
    assert free.prices is not None
    assert scarce.prices is not None
    assert free.prices.memory_s_per_byte == 0.0
    assert scarce.prices.memory_s_per_byte > 0.0


def test_the_price_is_what_a_byte_more_saves():
    """Lagrange: from 1 % to 1.1 % of memory predicted time falls by bytes times the mean of both prices."""
    few, _ = explained({"name": "flexshard", "budget": "1 %"})
    more, _ = explained({"name": "flexshard", "budget": "1.1 %"})
    times_s = [predict(plan, STATISTICS, TOPOLOGY).total_s for plan in (few, more)]
    used_bytes = [memory_bytes(plan, STATISTICS, TOPOLOGY).max_bytes for plan in (few, more)]
    price = (few.prices.memory_s_per_byte + more.prices.memory_s_per_byte) / 2
    assert times_s[0] - times_s[1] == pytest.approx(price * (used_bytes[1] - used_bytes[0]), rel=0.02)


def test_margins_read_as_an_inequality():
    assert str(Margin(7, 123.4, 2e-9, 1e-9)) == "row 7 (123 lookups) saves 2 ns > costs 1 ns"
    assert str(Margin(7, 123.4, 1e-9, 2e-9)) == "row 7 (123 lookups) saves 1 ns < costs 2 ns"
    assert str(Margin(7, 123.4, 1e-9, 1.0001e-9)) == "row 7 (123 lookups) saves 1 ns = costs 1 ns"


def test_other_policies_have_no_margins():
    for name in ("row_wise", "table_wise", "two_dimensional", "column_wise"):
        _, runs = explained(name)
        assert all(run.margins == () and run.inequality == "" for run in runs)


def test_hybrid_rows_are_weighed_as_flexshards_are():
    """Its replicated rows end before the global ones begin: a tier's end like another, though not planned so."""
    _, runs = explained("hybrid")
    assert runs[0].margins[0].row == runs[0].stop - 1


def test_a_flat_table_has_no_copies():
    flat = Statistics((TableStatistics("items", 10**6, 64, 2, 400_000, Uniform(400_000), 10.0),))
    _, runs = explained("flexshard", flat)
    assert [run.tier for run in runs] == ["global"]
