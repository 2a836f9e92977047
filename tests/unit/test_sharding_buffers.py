"""Buffers of the collectives, by hand."""

import numpy as np
import pytest

from simulator.sharding.buffers import buffer_bytes
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)
STATISTICS = Statistics((TableStatistics("items", 1000, 8, 2, 1000, Uniform(1000), 400.0),))


def buffers(entry) -> list[int]:
    plan = make_plan(PolicyEntry.parse(entry), STATISTICS, TOPOLOGY, Execution())
    return buffer_bytes(plan, STATISTICS, TOPOLOGY).tolist()


def test_row_wise_keeps_its_rows_and_sends_and_receives_three_quarters():
    assert buffers("row_wise") == [400 * 16 + 2 * 300 * 16] * 4


def test_gradients_in_fp32_are_the_larger_all_to_all():
    assert buffers({"name": "row_wise", "gradient_dtype": "fp32"}) == [400 * 16 + 2 * 300 * 32] * 4


def test_the_owner_of_a_whole_table_sends_for_all_others():
    assert buffers("table_wise") == [400 * 16 + 3 * 400 * 16] + [400 * 16 + 400 * 16] * 3


def test_replicated_rows_need_no_exchange():
    assert buffers("data_parallel") == [400 * 16] * 4


def test_dedup_keeps_a_row_once():
    distinct = 1000 * -np.expm1(400 * np.log1p(-1 / 1000))
    assert buffers({"name": "row_wise", "dedup": "rank"}) == pytest.approx([distinct * 16 * 2.5] * 4, abs=1)
