"""Parts of what is in flight: what is split off, what is joined, and who is left alone."""

import numpy as np
import pytest

from simulator.arrays import FloatArray
from simulator.network.in_flight import InFlight
from simulator.network.plan import Finished
from simulator.topology.topology import Routes

GB = 1e9


def routes(*hops: tuple[int, ...], cap: float = np.inf) -> Routes:
    width = max(map(len, hops))
    padded = [[*route, *[-1] * (width - len(route))] for route in hops]
    count = len(hops)
    return Routes(np.array(padded, np.int32), np.full(count, cap), np.zeros(count), np.zeros(count))


def sizes(*gigabytes: float) -> FloatArray:
    return np.array(gigabytes) * GB


def to_the_end(flying: InFlight, already: list[Finished] | None = None) -> dict[int, float]:
    """Finish by flow number."""
    finish: dict[int, float] = {}
    found = list(already or [])
    while flying.parts:
        found += flying.complete(flying.plan(np.inf))
    for some in found:
        finish.update(zip(some.flows.tolist(), some.finish_s.tolist(), strict=True))
    return finish


@pytest.mark.parametrize(("tolerance", "parts"), [(0.0, 2), (0.01, 1)])
def test_exact_parts_are_as_small_as_can_be_others_stay_whole(tolerance: float, parts: int) -> None:
    """Flows over resources 0-1, 1-2 and 3-4: the first two share one."""
    flying = InFlight(np.full(5, GB), tolerance=tolerance)
    first, finished = flying.add(routes((0, 1), (1, 2), (3, 4)), sizes(1, 1, 1), 0.0)
    assert (first, finished, len(flying.parts)) == (0, [], parts)
    assert to_the_end(flying) == pytest.approx({0: 2.0, 1: 2.0, 2: 1.0})


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_what_comes_is_joined_with_what_it_touches_and_leaves_the_rest_its_plan(tolerance: float) -> None:
    flying = InFlight(np.full(4, GB), tolerance=tolerance)
    flying.add(routes((0, 1), (2, 3)), sizes(1, 2), 0.0)
    flying.plan(np.inf)
    first, finished = flying.add(routes((0, 1)), sizes(1), 0.5)
    assert (first, [len(some.flows) for some in finished], len(flying.parts)) == (2, [0], 2)
    left_alone = flying.parts[0].made_plan
    assert left_alone is not None
    flying.plan(np.inf)
    assert flying.parts[0].made_plan is left_alone
    assert to_the_end(flying, finished) == pytest.approx({0: 1.5, 1: 2.0, 2: 2.0})


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_a_flow_between_two_parts_makes_them_one(tolerance: float) -> None:
    """0-1 and 2-3 carry a flow each, and from 0.5 s on a third crosses 1 and 2 at half rate: it is through at
    2.5 s, after the others at 1.5 s, when 0.5 GB are left of it at full rate."""
    flying = InFlight(np.full(4, GB), tolerance=tolerance)
    flying.add(routes((0, 1)), sizes(1), 0.0)
    flying.add(routes((2, 3)), sizes(1), 0.0)
    flying.plan(np.inf)
    assert len(flying.parts) == 2
    _, finished = flying.add(routes((1, 2)), sizes(1), 0.5)
    assert len(flying.parts) == 1
    assert to_the_end(flying, finished) == pytest.approx({0: 1.5, 1: 1.5, 2: 2.0})


def test_who_finished_before_a_cut_stays_so_and_steps_are_shared_out_by_part() -> None:
    """Two alike parts planned as one step of 0.4 s; a newcomer touches one of them in the middle of it."""
    flying = InFlight(np.full(4, GB), tolerance=0.2)
    flying.add(routes((0, 1), (0, 1), (2, 3), (2, 3)), sizes(0.1, 1.9, 0.1, 1.9), 0.0)
    assert flying.plan(np.inf) == pytest.approx(0.4)
    (plan,) = flying.early_plans()
    assert plan.finishing.finish_s.tolist() == pytest.approx([0.2, 0.2])
    _, finished = flying.add(routes((0, 1)), sizes(1), 0.3)
    assert [some.flows.tolist() for some in finished] == [[0]]
    assert [plan.finishing.flows.tolist() for plan in flying.early_plans()] == [[2]]
    assert to_the_end(flying, finished) == pytest.approx({0: 0.2, 1: 3.0, 2: 0.2, 3: 2.0, 4: 2.3})


def test_a_cut_at_the_start_of_a_plan_moves_nothing() -> None:
    flying = InFlight(np.full(2, GB), tolerance=0.01)
    flying.add(routes((0,)), sizes(1), 0.0)
    flying.plan(np.inf)
    flying.add(routes((0,)), sizes(1), 0.0)
    assert to_the_end(flying) == pytest.approx({0: 2.0, 1: 2.0})


def test_a_cap_and_a_resource_that_fails_and_returns() -> None:
    """1 GB at most at 0.25 GB/s: 4 s; nothing moves from 1 s to 3 s."""
    flying = InFlight(np.full(1, GB), tolerance=0.0)
    flying.add(routes((0,), cap=0.25 * GB), sizes(1), 0.0)
    for time_s, rate in ((1.0, 0.0), (3.0, GB)):
        assert flying.plan(time_s) == time_s
        assert [len(some.flows) for some in flying.complete(time_s)] == [0]
        flying.set_capacity(0, rate)
    assert to_the_end(flying) == pytest.approx({0: 6.0})


def test_the_flows_across_a_resource() -> None:
    flying = InFlight(np.full(3, GB), tolerance=0.01)
    flying.add(routes((0, 1), (1, 2), (2,)), sizes(1, 2, 0.1), 0.0)
    assert sorted(flying.crossing(1).tolist()) == [0, 1]
    assert sorted(flying.crossing(2).tolist()) == [1, 2]
    flying.complete(flying.plan(np.inf))
    assert flying.crossing(2).tolist() == [1]
