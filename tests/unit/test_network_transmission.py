"""What `send` promises: who is done when, latency steps, names, strangers; on the fluid and the bound network."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from simpy import Environment

from simulator.network.errors import StalledError
from simulator.network.flows import Flows
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology

MAKERS: list[Any] = [
    pytest.param(lambda env, topology: FluidNetwork(env, topology, tolerance=None), id="exact"),
    pytest.param(lambda env, topology: FluidNetwork(env, topology, tolerance=0.01), id="fluid"),
    pytest.param(BoundNetwork, id="bound"),
]
Make = Callable[[Environment, Topology], Network]
GB = 10**9


def four_ranks(**scale_out: str) -> Topology:
    spec = {"name": "t", "islands": [1, 1, 1, 1], "scale_out": {"nic_bandwidth": "1 GB/s", **scale_out}}
    return build_topology(TopologySpec.model_validate(spec))


def flows(*entries: tuple[int, int, int]) -> Flows:
    sources, destinations, sizes = (np.array(column) for column in zip(*entries, strict=True))
    return Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64))


def nothing() -> Flows:
    return Flows.from_matrix(np.zeros((4, 4), np.int64))


def done_s(env: Environment, events: dict[int, Any]) -> dict[int, float]:
    """When each rank was done, once `env` has run out."""
    times: dict[int, float] = {}
    for rank, event in events.items():
        event.callbacks.append(lambda _, rank=rank: times.setdefault(rank, env.now))
    env.run()
    return times


@pytest.mark.parametrize("make", MAKERS)
def test_ranks_without_flows_are_done_at_once(make: Make) -> None:
    env = Environment()
    sent = make(env, four_ranks()).send(flows((0, 2, GB)), ranks=(0, 1, 2, 3))
    assert done_s(env, sent.rank_done) == pytest.approx({0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0})


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_to_send_is_done_at_once_and_costs_nothing(make: Make) -> None:
    env = Environment()
    network = make(env, four_ranks())
    sent = network.send(nothing(), ranks=(0, 1, 2, 3))
    assert done_s(env, sent.rank_done) == {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0}
    assert (network.solves, network.resource_bytes.sum(), len(sent.finish_s)) == (0, 0, 0)


@pytest.mark.parametrize("tolerance", [None, 0.01])
def test_a_rank_is_done_with_its_own_last_flow(tolerance: float | None) -> None:
    env = Environment()
    network = FluidNetwork(env, four_ranks(latency="250 ms"), tolerance=tolerance)
    sent = network.send(flows((0, 1, GB), (2, 3, 2 * GB)), ranks=(0, 1, 2, 3))
    assert done_s(env, sent.rank_done) == pytest.approx({0: 1.25, 1: 1.25, 2: 2.25, 3: 2.25})
    assert sent.finish_s.tolist() == pytest.approx([1.25, 2.25])


def test_with_the_bound_all_ranks_with_flows_leave_together() -> None:
    env = Environment()
    sent = BoundNetwork(env, four_ranks(latency="250 ms")).send(
        flows((0, 1, GB), (2, 3, 2 * GB)), ranks=(0, 1, 2, 3)
    )
    assert done_s(env, sent.rank_done) == pytest.approx(dict.fromkeys(range(4), 2.25))
    assert sent.finish_s.tolist() == pytest.approx([2.25, 2.25])


@pytest.mark.parametrize("make", MAKERS)
def test_each_of_several_steps_costs_a_latency_and_a_gap(make: Make) -> None:
    env = Environment()
    network = make(env, four_ranks(latency="250 ms", message_gap="10 ms"))
    sent = network.send(flows((0, 1, GB)), ranks=(0, 1), latency_steps=3)
    assert done_s(env, sent.rank_done) == pytest.approx({0: 1.78, 1: 1.78})
    assert network.resource_bytes.max() == GB


@pytest.mark.parametrize("make", MAKERS)
def test_finishes_are_not_known_before_they_are(make: Make) -> None:
    env = Environment()
    sent = make(env, four_ranks()).send(flows((0, 1, GB)), ranks=(0, 1), name="ids")
    env.run(until=0.5)
    assert np.isnan(sent.finish_s).all()
    assert not sent.rank_done[0].triggered
    assert sent.name == "ids"
    env.run()
    assert sent.finish_s.tolist() == pytest.approx([1.0])


@pytest.mark.parametrize("make", MAKERS)
def test_a_flow_of_a_rank_that_has_no_part_is_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="rank 2 has flows but is not among the ranks"):
        make(Environment(), four_ranks()).send(flows((0, 1, 1), (1, 2, 1)), ranks=(0, 1))


@pytest.mark.parametrize("make", MAKERS)
def test_the_error_of_a_failed_link_names_the_transmission(make: Make) -> None:
    spec = {
        "name": "t",
        "islands": [1, 1, 1],
        "scale_out": {"nic_bandwidth": "1 GB/s"},
        "perturb": [{"target": "nic/2/ingress", "from": "0 s", "factor": 0}],
    }

    def replay() -> None:
        env = Environment()
        network = make(env, build_topology(TopologySpec.model_validate(spec)))
        network.send(flows((0, 1, GB), (1, 2, GB)), ranks=(0, 1, 2), name="embeddings_global")
        env.run()

    with pytest.raises(StalledError) as caught:
        replay()
    expected = "nic/2/ingress failed at 0 s and never returns: ranks 1, 2 wait for it in embeddings_global"
    assert str(caught.value) == expected


@pytest.mark.parametrize("make", MAKERS)
def test_a_rank_that_is_done_can_send_at_that_instant(make: Make) -> None:
    """A chain 0->1->2->3: each hop starts when the one before has arrived."""
    env = Environment()
    network = make(env, four_ranks(latency="500 ms"))
    last: list[Any] = []

    def hop(rank: int) -> None:
        sent = network.send(flows((rank, rank + 1, GB)), ranks=(rank, rank + 1))
        last.append(sent)
        if rank < 2:
            sent.rank_done[rank + 1].callbacks.append(lambda _: hop(rank + 1))

    hop(0)
    env.run()
    assert [float(sent.finish_s[0]) for sent in last] == pytest.approx([1.5, 3.0, 4.5])


def test_what_is_sent_at_one_instant_is_solved_for_once() -> None:
    env = Environment()
    network = FluidNetwork(env, four_ranks(), tolerance=None)
    for destination in (1, 2, 3):
        network.send(flows((0, destination, GB)), ranks=(0, 1, 2, 3))
    env.run()
    assert (network.solves, env.now) == (1, pytest.approx(3.0))


@pytest.mark.parametrize(("tolerance", "solves"), [(None, 6), (0.01, 5)])
def test_what_shares_no_port_is_left_alone(tolerance: float | None, solves: int) -> None:
    """Flows in one direction each: 0->1 from 0 s, 2->3 from 0.25 s and 3->2 from 0.5 s. 0->1 again at 0.75 s
    cuts the first only: two solutions from then on, and in exact mode one to tell how far it had come."""
    env = Environment()
    network = FluidNetwork(env, four_ranks(), tolerance=tolerance)
    sent = []
    for start_s, source, destination in ((0.0, 0, 1), (0.25, 2, 3), (0.5, 3, 2), (0.75, 0, 1)):
        env.run(until=start_s) if start_s else None
        sent.append(network.send(flows((source, destination, GB)), ranks=(0, 1, 2, 3)))
    env.run()
    assert [float(each.finish_s[0]) for each in sent] == pytest.approx([1.25, 1.25, 1.5, 2.0])
    assert network.solves == solves


def test_transmissions_that_come_in_the_middle_of_a_step_do_not_move_what_has_finished() -> None:
    """Steps of a tenth of the bound, cut at odd times: every finish stays, and time never goes back."""
    env = Environment()
    network = FluidNetwork(env, four_ranks(), tolerance=0.1)
    rng = np.random.default_rng(11)
    matrix = (1e8 * rng.lognormal(0, 1, (4, 4))).astype(np.int64)
    sent = [network.send(Flows.from_matrix(matrix), ranks=(0, 1, 2, 3))]
    seen: list[tuple[float, int]] = []
    sent[0].rank_done[0].callbacks.append(lambda _: seen.append((env.now, 0)))
    for number in range(40):
        env.run(until=0.01 * (number + 1) + 0.003)
        known = ~np.isnan(sent[0].finish_s)
        before = sent[0].finish_s[known].copy()
        assert (before <= env.now).all()
        sent.append(network.send(flows((number % 4, (number + 1) % 4, 10**6)), ranks=(0, 1, 2, 3)))
        assert sent[0].finish_s[known].tolist() == before.tolist()
    env.run()
    assert not any(np.isnan(each.finish_s).any() for each in sent)
    assert seen == [(pytest.approx(sent[0].finish_s[_touching(sent[0].flows, 0)].max()), 0)]


def _touching(of: Flows, rank: int) -> Any:
    return (of.sources == rank) | (of.destinations == rank)


def test_events_of_the_network_are_counted() -> None:
    env = Environment()
    network = FluidNetwork(env, four_ranks(), tolerance=None)
    network.send(flows((0, 1, GB), (0, 2, 2 * GB)), ranks=(0, 1, 2, 3))
    env.run()
    assert network.solves == 2
    assert 3 <= network.events <= 6
