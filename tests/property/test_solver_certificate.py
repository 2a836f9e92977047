"""Every sharing carries its proof: each flow has its limit, or crosses a full resource where none is faster."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.arrays import FloatArray, IndexArray
from simulator.network.reference import max_min_rates
from simulator.network.solver import Levels, Members, fill, index_members

CLOSE = 1e-9


def share(routes: IndexArray, budget: FloatArray, limits: FloatArray) -> tuple[FloatArray, Levels]:
    """Amounts [slots] and levels of all flows together."""
    offsets, slots = index_members(routes, len(budget))
    amounts, rises = np.zeros(len(routes)), np.ones(len(routes), np.uint8)
    levels = fill(Members(routes, offsets, slots), np.diff(offsets), budget, limits, amounts, rises)
    assert not rises.any()
    return amounts, levels


def crossings(routes: IndexArray, resources: int) -> FloatArray:
    """1 where a flow crosses a resource [slots, resources]."""
    crosses = np.zeros((len(routes), resources + 1))
    crosses[np.arange(len(routes))[:, None], routes] = 1  # -1 is the extra column
    return crosses[:, :-1]


@st.composite
def problems(draw: st.DrawFn) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Routes of 1 to 4 different resources, budgets (some 0, many equal), limits (none, some, all)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    resources, flows = draw(st.integers(1, 12)), draw(st.integers(1, 80))
    hops = draw(st.integers(1, min(4, resources)))
    routes = np.array([rng.permutation(resources)[:hops] for _ in range(flows)], np.int32)
    lengths = rng.integers(1, hops + 1, flows)
    routes[np.arange(hops) >= lengths[:, None]] = -1
    budget = rng.choice([0.0, 1.0, 1.0, 2.0, 5.0], resources) * draw(st.sampled_from([1.0, 1e9]))
    limits = np.where(rng.random(flows) < draw(st.sampled_from([0.0, 0.3, 1.0])), np.inf, rng.random(flows))
    limits *= budget.max() if budget.any() else 1.0
    return routes, budget, limits if draw(st.booleans()) else np.empty(0)


@settings(deadline=None, max_examples=300)
@given(problems())
def test_each_flow_has_its_limit_or_a_full_resource_on_which_none_is_faster(
    problem: tuple[IndexArray, FloatArray, FloatArray],
) -> None:
    routes, budget, limits = problem
    amounts, levels = share(routes, budget, limits)
    crosses = crossings(routes, len(budget))
    used = amounts @ crosses
    slack = CLOSE * budget.max() + 1e-300

    assert (used <= budget + slack).all()
    np.testing.assert_allclose(levels.spare, budget - used, atol=slack)
    fastest = np.max(crosses * amounts[:, None], axis=0, initial=0.0)
    held_here = (used >= budget - slack) & (amounts[:, None] >= fastest - slack) & (crosses > 0)
    at_limit = amounts >= limits - slack if len(limits) else np.zeros(len(amounts), np.bool_)
    assert (held_here.any(axis=1) | at_limit).all()


@settings(deadline=None, max_examples=100)
@given(problems())
def test_it_is_what_filling_by_definition_gives(problem: tuple[IndexArray, FloatArray, FloatArray]) -> None:
    routes, budget, limits = problem
    caps = limits.tolist() if len(limits) else [np.inf] * len(routes)
    expected = max_min_rates([[r for r in hops if r >= 0] for hops in routes.tolist()], budget.tolist(), caps)

    amounts, _ = share(routes, budget, limits)

    np.testing.assert_allclose(amounts, expected, rtol=CLOSE, atol=CLOSE * budget.max() + 1e-300)


@settings(deadline=None, max_examples=100)
@given(problems())
def test_levels_say_what_each_resource_gave_those_that_it_held(
    problem: tuple[IndexArray, FloatArray, FloatArray],
) -> None:
    routes, budget, limits = problem
    amounts, levels = share(routes, budget, limits)
    crosses = crossings(routes, len(budget)) > 0

    for resource in range(len(budget)):
        if levels.held[resource]:
            at_level = amounts[crosses[:, resource]] == levels.level[resource]
            assert at_level.sum() >= levels.held[resource]
        else:
            assert levels.level[resource] == np.inf


@settings(deadline=None, max_examples=50)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_flows_does_not_matter(
    problem: tuple[IndexArray, FloatArray, FloatArray], seed: int
) -> None:
    routes, budget, limits = problem
    order = np.random.default_rng(seed).permutation(len(routes))
    amounts, _ = share(routes, budget, limits)

    shuffled, _ = share(routes[order], budget, limits[order] if len(limits) else limits)

    np.testing.assert_allclose(shuffled, amounts[order], rtol=CLOSE, atol=CLOSE * budget.max())
