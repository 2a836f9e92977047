"""The network against times worked out by hand, on the pure model (no latency, gap or start-up)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from simpy import Environment

from simulator.arrays import FloatArray
from simulator.network.bound import port_bound
from simulator.network.errors import StalledError
from simulator.network.flows import Flows
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.network.simulate import simulate_flows
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology

TOLERANCES = [None, 0.01]
GB = 10**9


def even(topology: Topology, pair_bytes: int) -> Flows:
    return Flows.from_matrix(np.full((topology.world_size, topology.world_size), pair_bytes, np.int64))


def flow(source: int, destination: int, size: int) -> Flows:
    return Flows(np.array([source], np.int32), np.array([destination], np.int32), np.array([size], np.int64))


def four_ranks(perturb: list[dict[str, Any]] | None = None, nic: str = "1 GB/s") -> Topology:
    """Four islands of one rank with 1 GB/s NICs."""
    spec: dict[str, Any] = {
        "name": "four",
        "islands": [1, 1, 1, 1],
        "scale_out": {"nic_bandwidth": nic},
        "perturb": perturb or [],
    }
    return build_topology(TopologySpec.model_validate(spec))


def send_at(
    topology: Topology, sends: list[tuple[float, Flows]], make: Callable[..., Network]
) -> list[FloatArray]:
    """The finishes of each transmission, sent at the given times."""
    env = Environment()
    network = make(env, topology)
    sent = []
    for start_s, flows in sends:
        timer = env.timeout(start_s)
        timer.callbacks.append(
            lambda _, flows=flows: sent.append(network.send(flows, ranks=tuple(range(topology.world_size))))
        )
    env.run()
    return [transmission.finish_s for transmission in sent]


def fluid(tolerance: float | None) -> Callable[..., Network]:
    return lambda env, topology: FluidNetwork(env, topology, tolerance=tolerance)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(("ranks", "expected_ms"), [(64, 1.120), (128, 2.400), (256, 4.960)])
def test_even_megabyte_pairs(ranks: int, expected_ms: float, tolerance: float | None) -> None:
    """Every NIC carries (W - 8) MB at 50 GB/s; the 7 MB inside the island at 450 GB/s end earlier."""
    topology = uniform_topology(
        islands=ranks // 8, gpus_per_island=8, scale_up_bytes_per_s=450e9, nic_bytes_per_s=50e9
    )
    result = simulate_flows(topology, even(topology, 10**6), tolerance=tolerance)
    assert result.time_s == pytest.approx(expected_ms * 1e-3, rel=1e-12)
    assert result.solves == (2 if tolerance else 1 + topology.island_count)  # one for each part and instant
    assert min(result.finish_s) == pytest.approx(7e6 / 450e9, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("islands", [2, 3, 6])
def test_algbw_of_a_uniform_all_to_all_is_n_over_n_minus_1_nics(
    islands: int, tolerance: float | None
) -> None:
    topology = uniform_topology(
        islands=islands, gpus_per_island=8, scale_up_bytes_per_s=1e15, nic_bytes_per_s=50e9
    )
    world_size = topology.world_size
    pair_bytes = 960_000_000 // world_size
    rank_bytes = pair_bytes * world_size
    result = simulate_flows(topology, even(topology, pair_bytes), tolerance=tolerance)
    algbw_bytes_per_s = rank_bytes / result.time_s
    assert algbw_bytes_per_s == pytest.approx(islands / (islands - 1) * 50e9, rel=1e-9)
    assert result.time_s == pytest.approx(port_bound(topology, even(topology, pair_bytes)).time_s, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_three_flows_of_which_one_is_slowed_elsewhere(tolerance: float | None) -> None:
    """0->1, 0->2 and 3->2, 1 GB each at 1 GB/s. Egress 0 and ingress 2 are full with 0.5 GB/s for all three;
    all three end at 2 s."""
    flows = Flows(
        np.array([0, 0, 3], np.int32), np.array([1, 2, 2], np.int32), np.array([GB, GB, GB], np.int64)
    )
    result = simulate_flows(four_ranks(), flows, tolerance=tolerance)
    assert result.finish_s.tolist() == pytest.approx([2.0, 2.0, 2.0], rel=1e-12)


def test_what_a_finished_flow_leaves_goes_to_those_that_can_use_it() -> None:
    """0->1 0.5 GB, 0->2 1.5 GB, 3->2 3 GB. Until 1 s all run at 0.5. Then 0->1 is through; 0->2 is still held by
    ingress 2 at 0.5 and has 1 GB left, so it is through at 3 s; 3->2 has 1.5 GB left by then and runs at 1."""
    flows = Flows(
        np.array([0, 0, 3], np.int32), np.array([1, 2, 2], np.int32), np.array([GB // 2, 3 * GB // 2, 3 * GB])
    )
    exact = simulate_flows(four_ranks(), flows, tolerance=None)
    assert exact.finish_s.tolist() == pytest.approx([1.0, 3.0, 4.5], rel=1e-12)
    assert exact.solves == 3


def test_a_pair_cap_leaves_the_rest_of_the_port_to_others() -> None:
    """One sender at 4 GB/s, cap 1 GB/s: 1 GB to each of two peers take 1 s; to each of seven 7/4 s."""
    spec = {"name": "capped", "islands": [8], "scale_up": {"bandwidth": "4 GB/s", "pair_cap": "1 GB/s"}}
    topology = build_topology(TopologySpec.model_validate(spec))
    for peers, expected_s in [(2, 1.0), (4, 1.0), (7, 1.75)]:
        flows = Flows(
            np.zeros(peers, np.int32), np.arange(1, peers + 1, dtype=np.int32), np.full(peers, GB, np.int64)
        )
        for tolerance in TOLERANCES:
            result = simulate_flows(topology, flows, tolerance=tolerance)
            assert result.time_s == pytest.approx(expected_s, rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_two_transmissions_that_overlap(tolerance: float | None) -> None:
    """0->1 1 GB from 0 s; 0->2 0.25 GB from 0.5 s. Both run at 0.5 GB/s until the second is through at 1 s; the
    first has 0.25 GB left and is through at 1.25 s."""
    sends = [(0.0, flow(0, 1, GB)), (0.5, flow(0, 2, GB // 4))]
    first_s, second_s = send_at(four_ranks(), sends, fluid(tolerance))
    assert first_s.tolist() == pytest.approx([1.25], rel=1e-12)
    assert second_s.tolist() == pytest.approx([1.0], rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(
    ("perturb", "expected_s"),
    [
        pytest.param([], 1.0, id="whole"),
        pytest.param([{"target": "nic/0", "factor": 0.5}], 2.0, id="half from the start"),
        pytest.param(
            [{"target": "nic/0", "from": "400 ms", "factor": 0.5}], 1.6, id="0.6 GB left at 0.5 GB/s"
        ),
        pytest.param(
            [{"target": "nic/1/ingress", "from": "400 ms", "until": "800 ms", "factor": 0.25}],
            1.3,
            id="0.4 s at a quarter cost 0.3 s",
        ),
        pytest.param(
            [{"target": "nic/0", "from": "200 ms", "until": "700 ms", "factor": 0}], 1.5, id="fails, returns"
        ),
        pytest.param([{"target": "nic/2", "factor": 0.5}], 1.0, id="not on the way"),
        pytest.param([{"target": "nic/0", "from": "1 s", "factor": 0}], 1.0, id="fails when it is over"),
    ],
)
def test_a_link_that_changes_during_a_transfer(
    perturb: list[dict[str, Any]], expected_s: float, tolerance: float | None
) -> None:
    topology = four_ranks(perturb)
    alone = simulate_flows(topology, flow(0, 1, GB), tolerance=tolerance)
    assert alone.finish_s.tolist() == pytest.approx([expected_s], rel=1e-12)
    for make in (fluid(tolerance), BoundNetwork):
        (finish_s,) = send_at(topology, [(0.0, flow(0, 1, GB))], make)
        assert finish_s.tolist() == pytest.approx([expected_s], rel=1e-12)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_link_that_fails_while_two_transmissions_share_it(tolerance: float | None) -> None:
    """Two flows of 1 GB share egress 0 from 0 s and 0.5 s; it is down from 1 s to 2 s. At 1 s 0.25 GB and
    0.75 GB are left; from 2 s on both run at 0.5 until 2.5 s, then the second alone until 3 s."""
    topology = four_ranks([{"target": "nic/0/egress", "from": "1 s", "until": "2 s", "factor": 0}])
    sends = [(0.0, flow(0, 1, GB)), (0.5, flow(0, 2, GB))]
    first_s, second_s = send_at(topology, sends, fluid(tolerance))
    assert first_s.tolist() == pytest.approx([2.5], rel=1e-12)
    assert second_s.tolist() == pytest.approx([3.0], rel=1e-12)


@pytest.mark.parametrize("make", [fluid(None), fluid(0.01), BoundNetwork])
def test_a_transmission_that_starts_late_takes_as_long(make: Callable[..., Network]) -> None:
    """Practitioners' case 14: who waits, waits; the transfer is unchanged."""
    topology = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=4e9, nic_bytes_per_s=1e9)
    flows = even(topology, 10**6)
    on_time, late = (send_at(topology, [(start_s, flows)], make)[0] for start_s in (0.0, 0.005))
    assert (late - 0.005).tolist() == pytest.approx(on_time.tolist(), rel=1e-9)


def test_a_rank_that_joins_late_finds_less_room() -> None:
    """0->1 1 GB at 0 s; 2->1 1 GB at 0.5 s: ingress 1 is shared from then on; 1.5 s and 2 s."""
    flows = Flows(np.array([0, 2], np.int32), np.array([1, 1], np.int32), np.array([GB, GB]))
    result = simulate_flows(four_ranks(), flows, tolerance=None, start_s=np.array([0.0, 0.5]))
    assert result.finish_s.tolist() == pytest.approx([1.5, 2.0], rel=1e-12)


@pytest.mark.parametrize("make", [fluid(None), fluid(0.01), BoundNetwork])
@pytest.mark.parametrize("start_s", [0.0, 0.3, 0.7])
def test_a_link_that_never_returns_is_an_error_that_names_it(
    make: Callable[..., Network], start_s: float
) -> None:
    topology = four_ranks([{"target": "nic/1/ingress", "from": "500 ms", "factor": 0}])
    with pytest.raises(StalledError) as caught:
        send_at(topology, [(start_s, flow(0, 1, GB))], make)
    assert str(caught.value) == "nic/1/ingress failed at 0.5 s and never returns: ranks 0, 1 wait for it"


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_nobody_waits_for_a_failed_link_that_nothing_crosses(tolerance: float | None) -> None:
    topology = four_ranks([{"target": "nic/3", "from": "0 s", "factor": 0}])
    assert simulate_flows(topology, flow(0, 1, GB), tolerance=tolerance).time_s == pytest.approx(1.0)
    with pytest.raises(StalledError, match=r"nic/3/ingress failed at 0 s .* ranks 0, 3 wait"):
        simulate_flows(topology, flow(0, 3, GB), tolerance=tolerance)


def test_latency_comes_after_the_last_byte_and_takes_no_port() -> None:
    topology = uniform_topology(
        islands=2, gpus_per_island=1, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9, latency_s=0.25
    )
    flows = Flows(np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([GB, 2 * GB]))
    result = simulate_flows(topology, flows, tolerance=None)
    assert result.finish_s.tolist() == pytest.approx([1.25, 2.25], rel=1e-12)
    assert port_bound(topology, flows).time_s == pytest.approx(2.0, rel=1e-12)


def test_a_message_gap_keeps_the_port_busy_once_for_each_message() -> None:
    """100 messages of a byte with a gap of 1 ms: 100 ms whatever the bandwidth; a ring of 5 steps five times."""
    spec = {
        "name": "gap",
        "islands": [1] * 101,
        "scale_out": {"nic_bandwidth": "1 GB/s", "message_gap": "1 ms"},
    }
    topology = build_topology(TopologySpec.model_validate(spec))
    flows = Flows(np.zeros(100, np.int32), np.arange(1, 101, dtype=np.int32), np.ones(100, np.int64))
    assert simulate_flows(topology, flows, tolerance=None).time_s == pytest.approx(0.1, rel=1e-6)
    assert port_bound(topology, flows).time_s == pytest.approx(0.1, rel=1e-6)
    assert port_bound(topology, flows, latency_steps=5).time_s == pytest.approx(0.5, rel=1e-6)
    assert port_bound(topology, flows).resource_bytes.max() == 100
