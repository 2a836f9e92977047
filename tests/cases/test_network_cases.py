"""Practitioners' cases that the network alone decides; the numbers are those of the list."""

from typing import Any

import numpy as np
import pytest

from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.network.simulate import simulate_flows
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology

TOLERANCES = [None, 0.01]


def matrix_flows(rows: Any) -> Flows:
    return Flows.from_matrix(np.asarray(rows, np.int64))


def switch(ranks: int, bandwidth: str = "1 MB/s") -> Topology:
    """Ranks on one non-blocking switch."""
    return build_topology(
        TopologySpec.model_validate({"name": "s", "islands": [ranks], "scale_up": {"bandwidth": bandwidth}})
    )


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_8_the_time_follows_the_rank_with_the_hot_row_not_the_mean(tolerance: float | None) -> None:
    """Rank 0 sends 160 B to each of three others, 4 x the mean of 120 B a rank."""
    matrix = np.zeros((4, 4), np.int64)
    matrix[0] = 160
    result = simulate_flows(switch(4, "480 B/s"), matrix_flows(matrix), tolerance=tolerance)
    assert result.time_s == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("hole", [np.s_[2, :], np.s_[:, 2], np.s_[:, :]])
def test_9_zero_rows_and_columns_and_a_zero_matrix_finish(hole: Any, tolerance: float | None) -> None:
    matrix = np.full((4, 4), 10**6, np.int64)
    matrix[hole] = 0
    flows = matrix_flows(matrix)
    result = simulate_flows(switch(4), flows, tolerance=tolerance)
    bound = port_bound(switch(4), flows)
    assert np.isfinite(result.finish_s).all()
    assert result.time_s == pytest.approx(bound.time_s, rel=1e-12)
    if not matrix.any():
        assert (result.time_s, bound.time_s, bound.bottleneck, result.solves) == (0.0, 0.0, "none", 0)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_10_eight_ranks_on_a_switch_take_seven_slots_not_thirteen(tolerance: float | None) -> None:
    flows = matrix_flows(np.full((8, 8), 10**6))
    assert simulate_flows(switch(8), flows, tolerance=tolerance).time_s == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_11_fewer_nics_take_longer_in_exact_proportion(tolerance: float | None) -> None:
    times_s = []
    for nics in (1, 2, 4, 8):
        topology = uniform_topology(
            islands=2, gpus_per_island=8, scale_up_bytes_per_s=1e12, nic_bytes_per_s=1e9, nics_per_island=nics
        )
        times_s.append(
            simulate_flows(topology, matrix_flows(np.full((16, 16), 10**6)), tolerance=tolerance).time_s
        )
    assert [times_s[0] / time_s for time_s in times_s] == pytest.approx([1, 2, 4, 8], rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_12_own_bytes_use_no_port_and_no_port_is_above_its_rate(tolerance: float | None) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 10**6, (8, 8))
    topology = uniform_topology(islands=2, gpus_per_island=4, scale_up_bytes_per_s=4e9, nic_bytes_per_s=1e9)
    flows = matrix_flows(matrix)
    result = simulate_flows(topology, flows, tolerance=tolerance)
    crossed = port_bound(topology, flows).resource_bytes
    assert crossed.sum() == 2 * (matrix.sum() - np.trace(matrix))
    rates = crossed / result.time_s
    assert (rates <= topology.resources.capacity_bytes_per_s * (1 + 1e-12)).all()


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_13_halving_a_bandwidth_doubles_the_time_if_and_only_if_it_is_the_bottleneck(
    tolerance: float | None,
) -> None:
    matrix = np.full((8, 8), 10**6)

    def run(up: float, nic: float) -> tuple[float, str]:
        topology = uniform_topology(
            islands=2, gpus_per_island=4, scale_up_bytes_per_s=up, nic_bytes_per_s=nic
        )
        flows = matrix_flows(matrix)
        return simulate_flows(topology, flows, tolerance=tolerance).time_s, port_bound(
            topology, flows
        ).bottleneck

    whole_s, bottleneck = run(8e9, 1e9)
    assert bottleneck.startswith("nic/")
    assert run(8e9, 0.5e9)[0] == pytest.approx(2 * whole_s, rel=1e-12)
    assert run(4e9, 1e9)[0] == pytest.approx(whole_s, rel=1e-12)
    matrix[:4, :4] *= 40
    whole_s, bottleneck = run(8e9, 1e9)
    assert bottleneck.startswith("scale_up/")
    assert run(4e9, 1e9)[0] == pytest.approx(2 * whole_s, rel=1e-12)
    assert run(8e9, 0.5e9)[0] == pytest.approx(whole_s, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_15_half_a_link_from_the_start_equals_a_link_of_half_the_bandwidth(tolerance: float | None) -> None:
    base: dict[str, Any] = {
        "name": "h",
        "islands": 2,
        "gpus_per_island": 2,
        "scale_up": {"bandwidth": "4 GB/s"},
        "scale_out": {"nic_bandwidth": "1 GB/s"},
    }
    perturbed = {**base, "perturb": [{"target": "nic/3", "from": "0 s", "factor": 0.5}]}
    overridden = {**base, "overrides": [{"target": "nic/3", "bandwidth": "0.5 GB/s"}]}
    flows = matrix_flows(np.random.default_rng(5).integers(1, 10**6, (4, 4)))
    first, second = (
        simulate_flows(build_topology(TopologySpec.model_validate(spec)), flows, tolerance=tolerance)
        for spec in (perturbed, overridden)
    )
    assert first.finish_s.tobytes() == second.finish_s.tobytes()
