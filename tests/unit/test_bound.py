"""The port bound: what it counts, whom it names, and that it needs no memory for it."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def topology(**changes: Any) -> Topology:
    spec: dict[str, Any] = {
        "name": "t",
        "islands": 2,
        "gpus_per_island": 2,
        "scale_up": {"bandwidth": "4 GB/s"},
        "scale_out": {"nic_bandwidth": "1 GB/s"},
    }
    return build_topology(TopologySpec.model_validate({**spec, **changes}))


def flows(*entries: tuple[int, int, int]) -> Flows:
    sources, destinations, sizes = (np.array(column) for column in zip(*entries, strict=True))
    return Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64))


def test_the_busiest_port_and_the_next() -> None:
    bound = port_bound(topology(), flows((0, 2, 10**9), (0, 3, 10**9), (1, 3, 5 * 10**8), (0, 1, 10**9)))
    assert (bound.time_s, bound.bottleneck) == (2.0, "nic/0/egress")
    assert (bound.runner_up_s, bound.runner_up) == (1.5, "nic/3/ingress")
    by_name = dict(zip(topology().resources.names, bound.resource_bytes.tolist(), strict=True))
    assert by_name["scale_up/0/egress"] == by_name["scale_up/1/ingress"] == 10**9
    assert by_name["nic/0/egress"] == 2 * 10**9
    assert by_name["nic/0/ingress"] == 0


def test_of_two_equal_ports_the_first_is_named() -> None:
    bound = port_bound(topology(), flows((0, 2, 10**9)))
    assert (bound.bottleneck, bound.runner_up) == ("nic/0/egress", "nic/2/ingress")
    assert bound.time_s == bound.runner_up_s == 1.0


def test_a_pair_under_its_cap() -> None:
    capped = topology(scale_up={"bandwidth": "4 GB/s", "pair_cap": "0.5 GB/s"})
    bound = port_bound(capped, flows((0, 1, 10**9), (3, 2, 2 * 10**9), (0, 2, 10**9)))
    assert (bound.time_s, bound.bottleneck, bound.pair_s) == (4.0, "pair 3->2", 4.0)
    assert bound.runner_up == "nic/0/egress"


def test_a_bound_is_kept_as_long_as_its_flows_for_each_cluster_and_number_of_messages() -> None:
    slow, fast = topology(), topology(scale_out={"nic_bandwidth": "2 GB/s", "message_gap": "1 s"})
    sent = flows((0, 2, 10**9))
    first = port_bound(slow, sent)
    assert port_bound(slow, sent) is first
    assert [port_bound(fast, sent, latency_steps=steps).time_s for steps in (1, 3)] == [1.5, 3.5]
    assert port_bound(slow, flows((0, 2, 10**9))) is not first
    gone = weakref.ref(first)
    del first, sent
    gc.collect()
    assert gone() is None


def test_nothing_moves() -> None:
    bound = port_bound(topology(), Flows.from_matrix(np.diag([5, 5, 5, 5])))
    assert (bound.time_s, bound.bottleneck, bound.runner_up, bound.runner_up_s) == (0.0, "none", "none", 0.0)
    assert not bound.resource_bytes.any()


def test_gaps_count_as_time_and_not_as_bytes_and_latency_not_at_all() -> None:
    slow = topology(scale_out={"nic_bandwidth": "1 GB/s", "message_gap": "1 s", "latency": "7 s"})
    bound = port_bound(slow, flows((0, 2, 10**9), (0, 3, 10**9)))
    assert bound.time_s == pytest.approx(4.0)
    assert bound.resource_bytes.max() == 2 * 10**9
    assert bound.latency_s == 7.0
    assert port_bound(slow, flows((0, 2, 10**9)), latency_steps=3).time_s == pytest.approx(4.0)
    assert port_bound(slow, flows((0, 2, 10**9)), latency_steps=3).latency_s == 21.0


def test_bytes_beyond_what_a_float_can_count_stay_exact() -> None:
    odd = 2**60 + 1
    bound = port_bound(topology(), flows((0, 2, odd), (0, 3, odd)))
    assert bound.resource_bytes.max() == 2 * odd


def test_more_flows_than_a_chunk_add_up() -> None:
    """640 ranks, 408,960 flows of different sizes, against the sums of the matrix's rows and columns."""
    big = uniform_topology(islands=640, gpus_per_island=1, scale_up_bytes_per_s=2e9, nic_bytes_per_s=1e9)
    matrix = np.random.default_rng(1).integers(1, 1000, (640, 640))
    np.fill_diagonal(matrix, 0)
    bound = port_bound(big, Flows.from_matrix(matrix))
    names = np.array(big.resources.names)
    egress = [name.startswith("nic") and name.endswith("egress") for name in names]
    ingress = [name.startswith("nic") and name.endswith("ingress") for name in names]
    assert bound.resource_bytes[egress].tolist() == matrix.sum(axis=1).tolist()
    assert bound.resource_bytes[ingress].tolist() == matrix.sum(axis=0).tolist()
    assert bound.time_s == max(matrix.sum(axis=1).max(), matrix.sum(axis=0).max()) / 1e9
