"""The compiled loops around the sharing, on cases small enough to see through."""

import numpy as np
import pytest

from simulator.network import solver, steps
from simulator.network.solver import Levels, Members

INF = np.inf


def members(routes: list[list[int]], resources: int) -> Members:
    array = np.array(routes, np.int32)
    return Members(array, *solver.index_members(array, resources))


def test_members_are_listed_by_resource_in_order_without_the_padding() -> None:
    crossed = members([[0, 2], [1, -1], [2, 0]], 4)
    assert crossed.offsets.tolist() == [0, 2, 3, 5, 5]
    assert crossed.slots.tolist() == [0, 2, 1, 0, 2]


@pytest.mark.parametrize(
    ("remaining", "amounts", "first", "through"),
    [
        ([4.0, 6.0], [2.0, 2.0], 2.0, [0]),
        ([4.0, 4.0 + 1e-12], [2.0, 2.0], 2.0, [0, 1]),  # a tie
        ([4.0, INF], [2.0, 0.0], 2.0, [0]),  # the second is through already
        ([4.0, 1.0], [2.0, 0.0], 2.0, [0]),  # the second can't move
        ([4.0, 0.0], [2.0, 0.0], 0.0, [1]),  # nothing is left of the second
    ],
)
def test_who_finishes_first(
    remaining: list[float], amounts: list[float], first: float, through: list[int]
) -> None:
    left, given = np.array(remaining), np.array(amounts)
    assert solver.first_finish(left, given) == first
    assert solver.finished(left, given, first).tolist() == through


def test_nobody_finishes_when_nobody_moves() -> None:
    assert solver.first_finish(np.array([1.0, INF]), np.zeros(2)) == INF


def test_moving_stops_at_nothing_left() -> None:
    remaining = np.array([4.0, 6.0, INF])
    solver.move(remaining, np.array([2.0, 1.0, 0.0]), 3.0)
    assert remaining.tolist() == [0.0, 3.0, INF]


def test_retiring_takes_a_flow_off_its_resources() -> None:
    remaining, amounts, live = np.array([0.0, 5.0]), np.array([1.0, 1.0]), np.array([2, 1])
    solver.retire(np.array([0], np.int32), remaining, amounts, np.array([[0, -1], [0, 1]], np.int32), live)
    assert (remaining.tolist(), amounts.tolist(), live.tolist()) == ([INF, 5.0], [0.0, 1.0], [1, 1])


class TestRun:
    """Two flows of 1 and 3 over one resource of rate 2: through after 1 and 2."""

    @staticmethod
    def run(until_s: float, most_solves: int) -> tuple[list[int], list[float], float, int, list[float]]:
        crossed = members([[0], [0]], 1)
        remaining = np.array([1.0, 3.0])
        slots, finish_s, now_s, solves = solver.run(
            crossed,
            np.array([2]),
            np.array([2.0]),
            np.empty(0),
            remaining,
            np.zeros(2),
            0.0,
            until_s,
            most_solves,
        )
        return slots.tolist(), finish_s.tolist(), now_s, solves, remaining.tolist()

    def test_to_the_end(self) -> None:
        assert self.run(INF, 9) == ([0, 1], [1.0, 2.0], 2.0, 2, [INF, INF])

    def test_no_more_solutions_than_allowed(self) -> None:
        assert self.run(INF, 1) == ([0], [1.0], 1.0, 1, [INF, 2.0])

    def test_no_further_than_a_time_between_finishes(self) -> None:
        assert self.run(1.5, 9) == ([0], [1.0], 1.5, 2, [INF, 1.0])

    def test_a_finish_at_the_limit_counts(self) -> None:
        assert self.run(1.0, 9) == ([0], [1.0], 1.0, 1, [INF, 2.0])

    def test_no_time_at_all(self) -> None:
        assert self.run(0.0, 9) == ([], [], 0.0, 0, [1.0, 3.0])


class TestFinishWithin:
    """A resource of 8 in a step of 2 s, and flows that share it."""

    @staticmethod
    def within(
        remaining: list[float], finishing: list[int], levels: Levels, routes: list[list[int]]
    ) -> list[float]:
        crossed = members(routes, len(levels.level))
        return steps.finish_within(
            np.array(finishing, np.int32),
            np.array(remaining),
            np.full(len(remaining), INF),
            crossed.routes,
            np.diff(crossed.offsets),
            np.full(len(levels.level), 4.0),
            levels,
            2.0,
        ).tolist()

    def test_one_alone_has_it_all(self) -> None:
        levels = Levels(np.array([INF]), np.array([0]), np.array([7.0]))
        assert self.within([1.0], [0], levels, [[0]]) == [0.25]

    def test_shared_equally_as_long_as_each_has_some(self) -> None:
        """1 and 3 finish, a third gets the other 4: all at 4/3 until 0.75 s, then two at 2 until 1.75 s."""
        levels = Levels(np.array([4.0]), np.array([1]), np.array([0.0]))
        assert self.within([1.0, 3.0, 9.0], [0, 1], levels, [[0]] * 3) == pytest.approx([0.75, 1.75])

    def test_who_is_held_elsewhere_takes_no_more_than_an_even_pace(self) -> None:
        """1 finishes next to two that another resource holds to 0.5 in the step: 7 are left for it, 2/7 s; not
        3 x 1 of 8, as if they took as much as it does."""
        levels = Levels(np.array([INF, 0.5]), np.array([0, 2]), np.array([6.0, 7.0]))
        routes = [[0, -1], [0, 1], [0, 1]]
        assert self.within([1.0, 9.0, 9.0], [0], levels, routes) == pytest.approx([2 / 7])

    def test_nor_more_than_an_equal_share(self) -> None:
        """1 finishes next to one that another resource holds to 7: 0.5 s as if shared, not 2 s at an even pace."""
        levels = Levels(np.array([INF, 7.0]), np.array([0, 1]), np.array([0.0, 1.0]))
        assert self.within([1.0, 9.0], [0], levels, [[0, -1], [0, 1]]) == pytest.approx([0.5])

    def test_nothing_left_is_through_at_once_even_where_nothing_moves(self) -> None:
        levels = Levels(np.array([0.0]), np.array([1]), np.array([0.0]))
        assert self.within([0.0, 9.0], [0], levels, [[0], [0]]) == [0.0]


def test_resources_joined_by_flows_have_one_number() -> None:
    routes = np.array([[5, 3, -1], [3, 1, -1], [0, 2, -1], [4, -1, -1]], np.int32)
    assert steps.components(routes, 7).tolist() == [0, 1, 0, 1, 4, 1, 6]


def test_backlog_sums_what_is_left_by_resource() -> None:
    routes = np.array([[0, 1], [1, -1], [0, 2]], np.int32)
    left = steps.backlog(np.array([0, 1], np.int32), np.array([1.0, 2.0, 4.0]), routes, 3)
    assert left.tolist() == [1.0, 3.0, 0.0]
