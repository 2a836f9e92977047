"""How much of a speed-up is less traffic and how much is better balance, against a calculation of its own.

Row-wise suffers from the rank that owns a hot row. The calculation here hashes the hottest rows one by one to
ranks with its own random numbers, spreads the tail evenly, and takes the busiest NIC: the port bound of the
embeddings' all-to-all. It shares no code with traffic, network or placement.
"""

import numpy as np
import pytest

from simulator.seeds import generator
from simulator.sharding.execution import Execution
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.traffic.traffic import plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, Table, Workload

N, L, B, ROW_BYTES = 16, 8, 25e9, 256
W = N * L
TOPOLOGY = uniform_topology(islands=N, gpus_per_island=L, scale_up_bytes_per_s=300e9, nic_bytes_per_s=B)
HEADS = 4_096


def workload(tables: int, rows: int, lookups: int, s: float) -> Workload:
    popularity = ZipfMandelbrot(rows * 4 // 10, s, 2.75)
    each = [Table(f"t{index}", rows, ROW_BYTES // 2, popularity, fixed(200)) for index in range(tables)]
    return Workload("claim", lookups // 200, 2, tuple(each))


def hashed_s(
    tables: int, rows: int, lookups: int, s: float, *, first: int = 0, draws: int = 200
) -> np.ndarray:
    """[draws] seconds of the embeddings' all-to-all: the busiest owner's answers to other islands.

    Of rows from `first` on; the hottest of them are hashed one by one.
    """
    weights = (np.arange(1, rows * 4 // 10 + 1) + 2.75) ** -s
    weights /= weights.sum()
    hot, tail = weights[first : first + HEADS], weights[first + HEADS :].sum()
    rng = generator(1, "hashed hot rows")
    busiest = []
    for _ in range(draws):
        owners = rng.integers(0, W, (tables, len(hot)))
        shares = np.bincount(owners.ravel(), np.tile(hot, tables), W) / tables + tail / W
        busiest.append(shares.max())
    return np.array(busiest) * tables * lookups * (W - L) * ROW_BYTES / B


def drawn_s(entry, used: Workload, seeds: range) -> np.ndarray:
    """[seeds] the same of the simulator's traffic: bytes of global embeddings through the busiest NIC."""
    plan = make_plan(PolicyEntry.parse(entry), used.statistics(), TOPOLOGY, Execution())
    crosses = TOPOLOGY.island_of[:, None] != TOPOLOGY.island_of[None, :]
    seconds = []
    for seed in seeds:
        traffic = plan_traffic(plan, used, TOPOLOGY, used.draw_batch(W, seed=seed, iteration=0))
        matrix = sum(p.matrix for p in traffic.phases if p.name == "embeddings_global") * crosses
        seconds.append(max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max()) / B)
    return np.array(seconds)


@pytest.mark.parametrize(
    ("tables", "rows", "lookups", "seeds"),
    [(4, 10**7, 256_000, range(10)), (40, 10**6, 25_600, range(3))],
)
def test_row_wise_waits_for_the_owner_of_hot_rows(tables, rows, lookups, seeds):
    """Means over the seeds agree within three standard errors of both (the spread is the luck of hot rows)."""
    expected = hashed_s(tables, rows, lookups, 1.15)
    drawn = drawn_s("row_wise", workload(tables, rows, lookups, 1.15), seeds)
    error_s = np.hypot(expected.std() / np.sqrt(len(expected)), expected.std() / np.sqrt(len(drawn)))
    assert drawn.mean() == pytest.approx(expected.mean(), abs=3 * error_s)
    balanced_s = tables * lookups * ROW_BYTES * (W - L) / W / B
    assert drawn.mean() > 1.4 * balanced_s


def test_flexshards_global_rows_are_cold_and_balanced():
    """Beyond the island tier no row is hot: the busiest owner has hardly more than its share."""
    used = workload(4, 10**7, 256_000, 1.15)
    plan = make_plan(PolicyEntry.parse("flexshard"), used.statistics(), TOPOLOGY, Execution())
    first = plan.tables[0].segments[-1].start
    expected = hashed_s(4, 10**7, 256_000, 1.15, first=first, draws=20)
    drawn = drawn_s("flexshard", used, range(3))
    assert drawn.mean() == pytest.approx(expected.mean(), rel=0.02)
    statistics: Statistics = used.statistics()
    predicted = next(
        phase.nic_s
        for phase in predict(plan, statistics, TOPOLOGY).phases
        if (phase.step, phase.tier.value) == ("embeddings", "global")
    )
    assert drawn.mean() == pytest.approx(predicted, rel=0.02)


def test_balance_is_a_gain_of_its_own_on_few_tables():
    """Four tables: less traffic alone gives 6.2 times, balance about 3 times more; forty tables: 1.5."""
    gains = [
        hashed_s(tables, rows, lookups, 1.15).mean() / (tables * lookups * ROW_BYTES * (W - L) / W / B)
        for tables, rows, lookups in ((4, 10**7, 256_000), (40, 10**6, 25_600))
    ]
    assert gains[0] == pytest.approx(3.0, rel=0.15)
    assert gains[1] == pytest.approx(1.55, rel=0.15)
