"""Edited specifications keep one copy of what they have in common with their base, and stay what they were."""

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sweep_inputs import small_sweep

from simulator.config.load import load_model
from simulator.sweeps.point import Point
from simulator.sweeps.share import share_parts
from simulator.topology.edit import edited_spec as edited_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.edit import edited_spec as edited_workload
from simulator.workload.spec import WorkloadSpec

ROOT = Path(__file__).parents[2]
TOPOLOGY = load_model(ROOT / "topologies/dgx_h100_16x8.yaml", TopologySpec)
WORKLOAD = load_model(ROOT / "workloads/production_like.yaml", WorkloadSpec)


@pytest.mark.parametrize(
    "changes",
    [
        {"nic_bandwidth": "1 Gbit/s"},
        {"islands": [8, 4, 4]},
        {"scale_up.latency": "9 us", "hbm_capacity": "1 GB"},
        {"fabric": {"kind": "rail_only"}},
        {"overrides": [{"target": "nic/3", "factor": 0.5}]},
    ],
)
def test_an_edit_is_equal_before_and_after(changes: dict[str, Any]) -> None:
    untouched = TOPOLOGY.model_copy(deep=True)
    plain = edited_topology(TOPOLOGY, changes)
    shared = share_parts(edited_topology(TOPOLOGY, changes), TOPOLOGY)
    assert shared == plain
    assert shared != TOPOLOGY
    for exclude_unset in (False, True):
        dumps = [spec.model_dump(mode="json", exclude_unset=exclude_unset) for spec in (plain, shared)]
        assert dumps[0] == dumps[1]
    assert untouched == TOPOLOGY


def test_what_is_not_changed_is_the_bases_own() -> None:
    shared = share_parts(edited_topology(TOPOLOGY, {"nic_bandwidth": "1 Gbit/s"}), TOPOLOGY)
    assert shared.scale_up is TOPOLOGY.scale_up
    assert shared.scale_out is not None
    assert TOPOLOGY.scale_out is not None
    assert shared.scale_out is not TOPOLOGY.scale_out
    assert shared.scale_out.startup is TOPOLOGY.scale_out.startup


def test_of_a_list_each_entry_is_shared_alone() -> None:
    name = WORKLOAD.tables[1].name
    shared = share_parts(edited_workload(WORKLOAD, {f"tables.{name}.rows": 999_999_937}), WORKLOAD)
    alike = [own is base for own, base in zip(shared.tables, WORKLOAD.tables, strict=True)]
    assert alike == [table.name != name for table in WORKLOAD.tables]
    assert shared.tables[1].length is WORKLOAD.tables[1].length


@pytest.mark.parametrize("tables", [1, 3])
def test_lists_of_unequal_length(tables: int) -> None:
    data = WORKLOAD.model_dump(mode="json", by_alias=True, exclude_unset=True)
    shorter = WorkloadSpec.model_validate(data | {"tables": data["tables"][:tables]})
    again = WorkloadSpec.model_validate(data | {"tables": data["tables"][:tables]})
    assert share_parts(again, WORKLOAD) == shorter
    whole = WorkloadSpec.model_validate(data)
    assert share_parts(whole, shorter) == WORKLOAD


def test_a_point_takes_a_few_kilobytes(tmp_path: Path) -> None:
    pairs = [
        {"topology.scale_out.nic_bandwidth": f"{number} MB/s", "workload.batch_per_rank": number}
        for number in range(1, 301)
    ]
    sweep = small_sweep(tmp_path, policies=["row_wise"], vary={"list": pairs})
    sweep.points("bound")  # whatever is made once is there
    again = replace(sweep, given=sweep.base)  # knows no points
    tracemalloc.start()
    made = again.points("bound")
    taken_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(made) == 300
    assert all(isinstance(point, Point) for point in made)
    assert 500 < taken_bytes / len(made) < 4_000
