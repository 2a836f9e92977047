"""Times of collectives against alpha-beta formulas, the crossover of algorithms, and the published tables."""

import csv
import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.collectives.all_reduce import AllReduceAlgorithm, all_gather, all_reduce, reduce_scatter
from simulator.collectives.all_to_all import AllToAllAlgorithm
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.collectives.copies import sum_copies
from simulator.collectives.run import run_stages
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Startup, Topology

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
BENCHMARK = importlib.import_module("benchmarks.collectives")
NVLINK, NIC, LATENCY_S, GAP_S = 300e9, 25e9, 3e-6, 2e-6


def cluster(islands: int, size: int, *, gap_s: float = 0.0) -> Topology:
    tier = {"latency": f"{LATENCY_S} s"}
    return build_topology(
        TopologySpec.model_validate(
            {
                "name": "plain",
                "islands": islands,
                "gpus_per_island": size,
                "scale_up": {"bandwidth": f"{NVLINK} B/s", **tier},
                "scale_out": {"nic_bandwidth": f"{NIC} B/s", "message_gap": f"{gap_s} s", **tier},
            }
        )
    )


def all_reduce_s(topology: Topology, vector_bytes: int, algorithm: AllReduceAlgorithm) -> float:
    return run_stages(
        topology, all_reduce(topology, range(topology.world_size), vector_bytes, algorithm=algorithm)
    ).end_s


@pytest.mark.parametrize(("islands", "size"), [(1, 8), (4, 1), (4, 6)])
def test_flat_ring_all_reduce(islands: int, size: int) -> None:
    """2 (W - 1) steps of a latency and V / W bytes on the slowest edge."""
    topology, ranks = cluster(islands, size), islands * size
    vector_bytes = ranks * 1_000_000
    slowest = NVLINK if islands == 1 else NIC
    expected_s = 2 * (ranks - 1) * (LATENCY_S + vector_bytes / ranks / slowest)
    assert all_reduce_s(topology, vector_bytes, "flat_ring") == pytest.approx(expected_s, rel=1e-12)


def test_ring_all_reduce_uses_all_nics() -> None:
    topology = cluster(4, 6)
    vector_bytes = 24 * 6 * 1_000_000
    carried_bytes = 2 * 23 * vector_bytes / 24
    bytes_s = max(carried_bytes / 6 / NIC, carried_bytes * 5 / 6 / NVLINK)
    expected_s = 2 * 23 * LATENCY_S + bytes_s
    assert all_reduce_s(topology, vector_bytes, "ring") == pytest.approx(expected_s, rel=1e-12)


def test_hierarchical_all_reduce_adds_its_three_stages() -> None:
    islands, size = 4, 6
    vector_bytes = islands * size * 1_000_000
    within_s = (size - 1) * (LATENCY_S + vector_bytes / size / NVLINK)
    across_s = 2 * (islands - 1) * (LATENCY_S + vector_bytes / size / islands / NIC)
    assert all_reduce_s(cluster(islands, size), vector_bytes, "hierarchical") == pytest.approx(
        2 * within_s + across_s, rel=1e-12
    )


def test_every_step_of_a_ring_pays_a_message_gap() -> None:
    with_gap, without = cluster(4, 1, gap_s=GAP_S), cluster(4, 1)
    longer_s = all_reduce_s(with_gap, 4_000_000, "ring") - all_reduce_s(without, 4_000_000, "ring")
    assert longer_s == pytest.approx(2 * 3 * GAP_S, rel=1e-9)


@pytest.mark.parametrize("half", [reduce_scatter, all_gather])
def test_halves_take_half(half: Any) -> None:
    topology = cluster(4, 6)
    vector_bytes = 24 * 6 * 1_000_000
    time_s = run_stages(topology, half(topology, range(24), vector_bytes)).end_s
    assert 2 * time_s == pytest.approx(all_reduce_s(topology, vector_bytes, "ring"), rel=1e-12)


def test_summing_islands_copies_takes_what_the_design_says() -> None:
    """2 (N - 1) / N of a shard through each NIC."""
    islands, size = 4, 6
    topology, shard_bytes = cluster(islands, size), 4_000_000
    stages = sum_copies(topology, topology.islands, [np.full(size, shard_bytes)] * islands)
    expected_s = 2 * (islands - 1) * LATENCY_S + 2 * (islands - 1) / islands * shard_bytes / NIC
    assert run_stages(topology, stages).end_s == pytest.approx(expected_s, rel=1e-12)


def test_torus_all_reduce() -> None:
    """Each dimension adds 2 (d - 1) / d of what is left over the two directions of its links."""
    dims, link = (4, 5), 10e9
    topology = build_topology(
        TopologySpec.model_validate(
            {
                "name": "torus",
                "islands": 20,
                "gpus_per_island": 1,
                "scale_out": {
                    "nic_bandwidth": "100 GB/s",
                    "latency": f"{LATENCY_S} s",
                    "fabric": {"kind": "torus", "dims": dims, "link_bandwidth": f"{link} B/s"},
                },
            }
        )
    )
    vector_bytes = 40_000_000
    steps = 2 * sum(length - 1 for length in dims)
    bytes_s = (2 * 3 / 4 * vector_bytes + 2 * 4 / 5 * vector_bytes / 4) / 2 / link
    assert all_reduce_s(topology, vector_bytes, "torus") == pytest.approx(
        steps * LATENCY_S + bytes_s, rel=1e-12
    )


def even_s(topology: Topology, pair_bytes: int, algorithm: AllToAllAlgorithm) -> float:
    matrix = np.full((topology.world_size, topology.world_size), pair_bytes)
    return run_all_to_all(topology, matrix, tolerance=None, algorithm=algorithm).time_s


def test_even_all_to_alls() -> None:
    islands, size, pair_bytes = 4, 3, 100_000
    topology = cluster(islands, size, gap_s=GAP_S)
    others, mates = islands - 1, size - 1
    nic_s = others * size * pair_bytes / NIC
    assert even_s(topology, pair_bytes, "direct") == pytest.approx(LATENCY_S + others * size * GAP_S + nic_s)
    assert even_s(topology, pair_bytes, "rail") == pytest.approx(
        2 * LATENCY_S + mates * islands * pair_bytes / NVLINK + others * GAP_S + nic_s
    )
    # one message a rank, size * size pairs in it; gather: mates' own, and what they lead
    gather_s = (mates + (others - 1) * size) * pair_bytes / NVLINK
    exchange_s, spread_s = GAP_S + size * size * pair_bytes / NIC, mates * size * pair_bytes / NVLINK
    assert even_s(topology, pair_bytes, "hierarchical") == pytest.approx(
        3 * LATENCY_S + gather_s + exchange_s + spread_s
    )


@pytest.mark.parametrize("islands", [2, 4, 9])
def test_rail_beats_direct_below_the_gaps_worth_of_nvlink(islands: int) -> None:
    """Rail saves (N - 1) (L - 1) gaps and adds a latency and N (L - 1) pairs on NVLink."""
    size = 8
    topology = cluster(islands, size, gap_s=GAP_S)
    saved_s = (islands - 1) * (size - 1) * GAP_S - LATENCY_S
    crossover_bytes = saved_s * NVLINK / (islands * (size - 1))
    for pair_bytes, quicker in ((0.99 * crossover_bytes, "rail"), (1.01 * crossover_bytes, "direct")):
        times_s = {name: even_s(topology, int(pair_bytes), name) for name in ("direct", "rail")}
        assert min(times_s, key=lambda name: times_s[name]) == quicker


def test_without_a_gap_direct_is_never_slower() -> None:
    topology = cluster(4, 3)
    for pair_bytes in (1, 1_000, 1_000_000):
        direct_s = even_s(topology, pair_bytes, "direct")
        assert direct_s <= min(
            even_s(topology, pair_bytes, "rail"), even_s(topology, pair_bytes, "hierarchical")
        )


def test_start_up_is_paid_once_whatever_the_stages() -> None:
    pure = uniform_topology(islands=4, gpus_per_island=3, scale_up_bytes_per_s=NVLINK, nic_bytes_per_s=NIC)
    topology = replace(pure, scale_out_startup=Startup(50e-6, 0.0))
    for algorithm in ("direct", "rail", "hierarchical"):
        later_s = even_s(topology, 1000, algorithm) - even_s(pure, 1000, algorithm)
        assert later_s == pytest.approx(50e-6)


@pytest.mark.parametrize(
    ("name", "row_of"),
    [("collectives_all_to_all", "all_to_all_row"), ("collectives_all_reduce", "all_reduce_row")],
)
def test_published_tables_are_what_the_benchmark_computes(name: str, row_of: str) -> None:
    topology = BENCHMARK.cluster(16)
    with (ROOT / f"docs/data/{name}.csv").open() as file:
        published = [row for row in csv.DictReader(file) if row["ranks"] == "128"]
    page = (ROOT / "docs/collectives.md").read_text()
    for row in published:
        assert f"| {' | '.join(row.values())} |" in page
    for row in (published[0], published[-1]):
        computed = getattr(BENCHMARK, row_of)(topology, int(row["bytes_per_rank"]))
        assert row["quickest"] == computed["quickest"]
        for column in (key for key in row if key.endswith("_us")):
            assert float(row[column]) == pytest.approx(computed[column], abs=0.11)


@pytest.mark.parametrize(("ranks", "from_bytes"), [("16", 1 << 24), ("128", 1 << 28), ("512", 1 << 30)])
def test_direct_wins_from_the_size_that_the_page_names(ranks: str, from_bytes: int) -> None:
    with (ROOT / "docs/data/collectives_all_to_all.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["ranks"] == ranks]
    for row in rows:
        assert (row["quickest"] == "direct") == (int(row["bytes_per_rank"]) >= from_bytes)
