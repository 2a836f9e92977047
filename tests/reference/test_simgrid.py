"""Exact mode against what SimGrid computed, each flow's finish; `record_simgrid.py` says how it was recorded."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simgrid_cases import CASES, Case

from simulator.network.flows import Flows
from simulator.network.simulate import simulate_flows
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology

RECORDED = Path(__file__).with_name("simgrid_recorded.csv")


def topology_of(case: Case) -> Topology:
    scale_up: dict[str, Any] = {"bandwidth": f"{case.scale_up} B/s"}
    scale_out: dict[str, Any] = {"nic_bandwidth": f"{case.nic} B/s"}
    if case.pair_cap is not None:
        scale_up["pair_cap"] = f"{case.pair_cap} B/s"
    if case.nics_per_island is not None:
        scale_out["nics_per_island"] = case.nics_per_island
    if case.leaf is not None:
        below, link_bytes_per_s = case.leaf
        ratio = case.nic * case.islands[0] * below / link_bytes_per_s
        scale_out["fabric"] = {
            "kind": "leaf_spine",
            "islands_per_leaf": below,
            "oversubscription": f"{ratio}:1",
        }
    spec = {"name": case.name, "islands": list(case.islands), "scale_up": scale_up, "scale_out": scale_out}
    return build_topology(TopologySpec.model_validate(spec))


def recorded(name: str) -> list[dict[str, str]]:
    with RECORDED.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["case"] == name]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_flow_finishes_when_simgrid_says(case: Case) -> None:
    rows = recorded(case.name)
    sources, destinations, sizes = (
        np.array([int(row[column]) for row in rows]) for column in ("source", "destination", "bytes")
    )
    start_s, finish_s = (np.array([float(row[column]) for row in rows]) for column in ("start_s", "finish_s"))
    flows = Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64))

    result = simulate_flows(topology_of(case), flows, tolerance=None, start_s=start_s)

    np.testing.assert_allclose(result.finish_s, finish_s, rtol=1e-6)


def test_the_table_holds_every_flow_of_every_case() -> None:
    for case in CASES:
        rows = [
            (int(row["source"]), int(row["destination"]), int(row["bytes"]), float(row["start_s"]))
            for row in recorded(case.name)
        ]
        assert rows == case.flows()
