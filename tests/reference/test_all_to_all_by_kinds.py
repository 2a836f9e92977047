"""An even all-to-all by kinds of flows against the same one flow by flow."""

from pathlib import Path

import numpy as np
import pytest

from simulator.collectives import all_to_all_even
from simulator.collectives.all_to_all_even import run_by_kinds, run_even_all_to_all
from simulator.collectives.all_to_all_run import AllToAllResult
from simulator.topology.build import uniform_topology
from simulator.topology.load import load_topology

TOPOLOGIES = Path(__file__).parents[2] / "topologies"


@pytest.mark.parametrize(
    "name",
    ["teaching_2x2", "dgx_h100_16x8", "h100_pod_64x8_7to1", "b200_16x8", "gb200_nvl72_2x72", "pcie_box"],
)
def test_kinds_agree_with_flows(name):
    topology = load_topology(TOPOLOGIES / f"{name}.yaml")
    size = topology.world_size * 1_000_000
    by_kinds = run_by_kinds(topology, size)
    by_flows = run_even_all_to_all(topology, size, tolerance=None, each_flow=True)
    assert by_kinds is not None
    assert by_kinds.flow_count == by_flows.flow_count
    assert by_kinds.time_s == pytest.approx(by_flows.time_s, rel=1e-9)
    assert by_kinds.bound_s == pytest.approx(by_flows.bound_s, rel=1e-9)
    assert by_kinds.busbw_bytes_per_s == pytest.approx(by_flows.busbw_bytes_per_s, rel=1e-9)
    np.testing.assert_allclose(by_kinds.rank_finish_s, by_flows.rank_finish_s, rtol=1e-9)
    assert by_kinds.bottleneck.split("/")[0] == by_flows.bottleneck.split("/")[0]


def test_large_clusters_go_by_kinds_and_small_ones_by_flows(monkeypatch):
    topology = uniform_topology(
        islands=4, gpus_per_island=2, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9
    )
    assert isinstance(run_even_all_to_all(topology, 8_000), AllToAllResult)
    monkeypatch.setattr(all_to_all_even, "FEW_RANKS", 7)
    assert not isinstance(run_even_all_to_all(topology, 8_000), AllToAllResult)
    assert isinstance(run_even_all_to_all(topology, 8_000, each_flow=True), AllToAllResult)
    assert isinstance(run_even_all_to_all(topology, 8_000, algorithm="rail"), AllToAllResult)


def test_a_link_that_changes_in_time_has_no_kinds(monkeypatch):
    topology = uniform_topology(islands=2, gpus_per_island=1, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9)
    slow = {"target": "nic/0", "from": "1 ms", "until": "2 ms", "factor": 0.5}
    assert run_by_kinds(topology.with_(perturb=[slow]), 2_000_000) is None
    assert run_by_kinds(topology, 0) is None
