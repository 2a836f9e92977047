"""One all-to-all from matrix to bandwidths, against values worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.collectives.all_to_all import AllToAllAlgorithm
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.collectives.matrix import even_matrix
from simulator.errors import UserError
from simulator.network.errors import StalledError
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import LinkSpec, ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Startup, Topology

MB = 1_000_000


def cluster(islands: int, size: int = 8, *, latency_s: float = 0.0, nvlink: float = 450e9) -> Topology:
    return uniform_topology(
        islands=islands,
        gpus_per_island=size,
        scale_up_bytes_per_s=nvlink,
        nic_bytes_per_s=50e9,
        latency_s=latency_s,
    )


@pytest.mark.parametrize("tolerance", [None, 0.01])
@pytest.mark.parametrize("islands", [2, 3, 4, 6, 7])
def test_algbw_is_the_nics_rate_over_the_share_that_leaves(islands: int, tolerance: float | None) -> None:
    topology = cluster(islands)
    result = run_all_to_all(topology, even_matrix(topology, 10**9), tolerance=tolerance)
    world_size = topology.world_size
    algbw = islands / (islands - 1) * 50e9
    assert result.time_s == pytest.approx(1e9 / algbw, rel=1e-9)
    assert result.algbw_bytes_per_s == pytest.approx(algbw, rel=1e-9)
    assert result.busbw_bytes_per_s == pytest.approx(algbw * (world_size - 1) / world_size, rel=1e-9)
    assert result.bottleneck.startswith("nic/")


@pytest.mark.parametrize(("islands", "time_s"), [(8, 1.120e-3), (16, 2.400e-3), (32, 4.960e-3)])
def test_even_pairs_of_a_megabyte(islands: int, time_s: float) -> None:
    topology = cluster(islands)
    matrix = np.full((topology.world_size, topology.world_size), MB)
    result = run_all_to_all(topology, matrix, tolerance=None)
    assert result.time_s == pytest.approx(time_s, rel=1e-9)
    assert result.bound_s == pytest.approx(time_s, rel=1e-9)
    assert len(result.flows) == len(result.finish_s) == topology.world_size * (topology.world_size - 1)


def test_a_diagonal_changes_nothing() -> None:
    topology = cluster(2)
    matrix = np.full((16, 16), MB)
    with_own = run_all_to_all(topology, matrix)
    np.fill_diagonal(matrix, 0)
    without = run_all_to_all(topology, matrix)
    np.fill_diagonal(matrix, 10**15)
    with_much = run_all_to_all(topology, matrix)
    assert with_own.to_json() == without.to_json() == with_much.to_json()
    assert without.busbw_bytes_per_s is not None


def test_uneven_pairs_have_no_busbw() -> None:
    topology = cluster(1, 4)
    matrix = np.full((4, 4), MB)
    matrix[1, 2] = 3 * MB
    result = run_all_to_all(topology, matrix, tolerance=None)
    # rank 1 sends 5 MB at 450 GB/s
    assert result.time_s == pytest.approx(5e6 / 450e9)
    assert result.algbw_bytes_per_s == pytest.approx(14 / 12 * 4e6 / result.time_s)
    assert result.busbw_bytes_per_s is None
    assert result.bottleneck == "scale_up/1/egress"


def test_finish_of_each_flow_and_rank() -> None:
    """Ranks 0 and 1 of one island: 450 MB one way, 900 MB the other, ports of 450 GB/s, 1 us of latency."""
    topology = cluster(1, 3, latency_s=1e-6)
    matrix = np.array([[0, 450 * MB, 0], [900 * MB, 0, 0], [0, 0, 7]])
    result = run_all_to_all(topology, matrix, tolerance=None)
    assert result.finish_s.tolist() == pytest.approx([1e-3 + 1e-6, 2e-3 + 1e-6])
    assert result.rank_finish_s.tolist() == pytest.approx([2e-3 + 1e-6, 2e-3 + 1e-6, 0.0])
    assert result.bound_s == pytest.approx(2e-3)


@pytest.mark.parametrize("engine", ["fluid", "bound"])
def test_start_up_comes_first_for_every_rank(engine: Literal["fluid", "bound"]) -> None:
    topology = replace(cluster(1, 3), scale_up_startup=Startup(10e-6, 1e-8))
    matrix = np.array([[0, 450 * MB, 0], [0, 0, 0], [0, 0, 0]])
    result = run_all_to_all(topology, matrix, engine=engine)
    startup_s = 10e-6 + 1e-8 * (450e6) ** 0.5
    assert result.time_s == pytest.approx(startup_s + 1e-3)
    assert result.rank_finish_s.tolist() == pytest.approx([startup_s + 1e-3, startup_s + 1e-3, startup_s])
    assert result.bound_s == pytest.approx(1e-3)


def test_a_late_rank_makes_everybody_wait() -> None:
    topology = replace(cluster(1, 2), late_s=np.array([0.0, 5e-3]))
    result = run_all_to_all(topology, np.array([[0, 450 * MB], [0, 0]]))
    assert result.time_s == pytest.approx(6e-3)


def test_nothing_to_move_takes_no_time() -> None:
    topology = replace(cluster(2, 2), scale_up_startup=Startup(1.0, 0.0), scale_out_startup=Startup(1.0, 0.0))
    result = run_all_to_all(topology, np.diag([5, 5, 5, 5]))
    expected = {
        "time_s": 0.0,
        "bound_s": 0.0,
        "rank_finish_s": [0.0] * 4,
        "algbw_bytes_per_s": None,
        "busbw_bytes_per_s": None,
        "bottleneck": "none",
        "flows": 0,
        "solves": 0,
    }
    assert result.to_json() == expected


def test_one_rank_has_nobody_to_talk_to() -> None:
    topology = uniform_topology(islands=1, gpus_per_island=1, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9)
    result = run_all_to_all(topology, np.array([[10**9]]))
    assert (result.time_s, result.algbw_bytes_per_s, result.busbw_bytes_per_s) == (0.0, None, None)


def test_stages_add_up() -> None:
    """Rail on 2 x 2 ranks, pairs of 9 MB: 2 over NVLink, its mate's own and one handed over; 2 on the NIC."""
    topology = cluster(2, 2, latency_s=1e-6)
    matrix = np.full((4, 4), 9 * MB)
    result = run_all_to_all(topology, matrix, algorithm="rail", tolerance=None)
    hand_over_s, exchange_s = 18e6 / 450e9, 18e6 / 50e9
    assert result.time_s == pytest.approx(hand_over_s + exchange_s + 2e-6)
    assert result.bound_s == pytest.approx(hand_over_s + exchange_s)
    assert result.finish_s[: len(result.finish_s) // 2].tolist() == pytest.approx([hand_over_s + 1e-6] * 4)


def test_bound_engine_lets_all_finish_at_the_bound() -> None:
    topology = cluster(2, 2, latency_s=1e-6)
    matrix = np.arange(16).reshape(4, 4) * MB
    result = run_all_to_all(topology, matrix, engine="bound")
    assert result.time_s == pytest.approx(result.bound_s + 1e-6)
    assert set(result.finish_s.tolist()) == {result.time_s}
    assert result.solves == 0


def with_link(factor: float, until: str | None) -> Topology:
    return build_topology(
        TopologySpec(
            name="failing",
            islands=2,
            gpus_per_island=1,
            scale_up=ScaleUpSpec(bandwidth="450 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="50 GB/s", startup={"alpha": "1 ms"}),
            perturb=[
                LinkSpec.model_validate({"target": "nic/0", "from": "2 ms", "until": until, "factor": factor})
            ],
        )
    )


def test_a_link_that_slows_after_the_start_up() -> None:
    """150 MB at 50 GB/s from 1 ms on; half rate from 2 to 4 ms: 50 MB, 50 MB, 50 MB, done at 5 ms."""
    result = run_all_to_all(with_link(0.5, "4 ms"), np.array([[0, 150 * MB], [0, 0]]), tolerance=None)
    assert result.time_s == pytest.approx(5e-3)


def test_a_link_that_never_returns_is_an_error() -> None:
    with pytest.raises(StalledError, match=r"nic/0/egress failed at 0\.002 s and never returns"):
        run_all_to_all(with_link(0.0, None), np.array([[0, 150 * MB], [0, 0]]))


def test_json_is_plain_and_flows_go_to_a_csv(tmp_path: Path) -> None:
    topology = cluster(1, 3)
    matrix = np.array([[0, 450 * MB, 0], [0, 0, 0], [900 * MB, 0, 0]])
    result = run_all_to_all(topology, matrix, tolerance=None)
    assert json.loads(json.dumps(result.to_json()))["rank_finish_s"] == result.rank_finish_s.tolist()
    path = tmp_path / "flows.csv"
    result.write_flows(path)
    assert path.read_text() == "source,destination,bytes,finish_s\n0,1,450000000,0.001\n2,0,900000000,0.002\n"


def test_a_csv_that_can_not_be_written_is_a_users_error(tmp_path: Path) -> None:
    result = run_all_to_all(cluster(1, 2), np.full((2, 2), MB))
    with pytest.raises(UserError, match=r"absent/flows\.csv: cannot be written: No such file or directory"):
        result.write_flows(tmp_path / "absent" / "flows.csv")


@pytest.mark.parametrize("algorithm", ["direct", "rail", "hierarchical"])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), islands=st.integers(1, 4), size=st.integers(1, 4))
def test_what_always_holds(algorithm: AllToAllAlgorithm, seed: int, islands: int, size: int) -> None:
    generator = np.random.default_rng(seed)
    world_size = islands * size
    matrix = generator.integers(0, 10**9, (world_size, world_size)) * (generator.random(world_size) < 0.7)
    topology = cluster(islands, size, latency_s=1e-6)
    exact = run_all_to_all(topology, matrix, tolerance=None, algorithm=algorithm)
    bound = run_all_to_all(topology, matrix, engine="bound", algorithm=algorithm)
    assert exact.rank_finish_s.max() == exact.time_s
    assert (exact.finish_s <= exact.time_s).all()
    assert exact.time_s >= exact.bound_s * (1 - 1e-12)
    assert exact.time_s >= bound.time_s * (1 - 1e-9)
    assert exact.to_json() == run_all_to_all(topology, matrix, tolerance=None, algorithm=algorithm).to_json()
