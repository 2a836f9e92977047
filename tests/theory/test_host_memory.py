"""Rows in host memory: the replayed gather takes what reading them over PCIe takes, and nobody else pays."""

import numpy as np
import pytest

from simulator.engine.iteration import gather_s
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import single_owner
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan
from simulator.topology.build import uniform_topology
from simulator.traffic.traffic import plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Table, Workload

TOPOLOGY = uniform_topology(
    islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9
).with_(**{"gpu.host_bandwidth": "1 MB/s", "gpu.hbm_bandwidth": "1 GB/s"})
WORKLOAD = Workload("one", 25, 4, (Table("items", 1_000, 4, Uniform(1_000), fixed(4)),))


def traffic(hot_rows, *, dedup="none"):
    """Rank 3 owns the table, its hot rows in HBM and the rest in host memory."""
    layout = single_owner(4, 3)
    parts = (Segment(0, hot_rows, layout), Segment(hot_rows, 1_000, layout, "host"))
    tables = (TablePlan("items", tuple(part for part in parts if part.stop > part.start)),)
    plan = ShardingPlan("cold", 4, tables, Execution(dedup=dedup))
    return plan_traffic(plan, WORKLOAD, TOPOLOGY, WORKLOAD.draw_batch(4, seed=1, iteration=0))


def test_all_in_host_memory_is_read_at_its_bandwidth():
    """4 ranks x 100 lookups x 16 B = 6,400 B at 1 MB/s: 6.4 ms on the owner, nothing on the others."""
    np.testing.assert_allclose(gather_s(traffic(0), TOPOLOGY), [0, 0, 0, 6.4e-3])


def test_all_in_hbm_is_read_at_hbm_bandwidth():
    np.testing.assert_allclose(gather_s(traffic(1_000), TOPOLOGY), [0, 0, 0, 6.4e-6])


def test_each_row_is_read_where_it_is():
    drawn = traffic(500)
    host = int(drawn.host_gather_bytes[3])
    assert 0 < host < int(drawn.gather_bytes[3]) == 6_400
    assert host == pytest.approx(3_200, rel=0.2)
    assert gather_s(drawn, TOPOLOGY)[3] == pytest.approx(host / 1e6 + (6_400 - host) / 1e9)
    assert drawn.host_gather_bytes[:3].sum() == 0


def test_distinct_rows_are_read_once_for_each_reader():
    drawn = traffic(0, dedup="rank")
    assert drawn.host_gather_bytes[3] == drawn.gather_bytes[3] < 6_400
