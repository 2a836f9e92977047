"""Figures read off a timeline that was written by hand."""

import numpy as np
import pytest

from simulator.arrays import FloatArray
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.timeline import Slice, Timeline, union_s

NO = np.nan


def timeline(
    operations: tuple[Operation, ...], enter_s: FloatArray, start_s: FloatArray, end_s: FloatArray
) -> Timeline:
    world_size = np.array(enter_s).shape[1]
    return Timeline(
        Program(world_size, operations),
        np.array(enter_s),
        np.array(start_s),
        np.array(end_s),
        resource_bytes=np.zeros(0, dtype=np.int64),
        events=0,
        solves=0,
    )


@pytest.fixture
def two_ranks() -> Timeline:
    """Rank 1 computes longer, so that rank 0 waits; then a transfer that rank 1 has long been posted for."""
    operations = (
        Compute("work", (0, 1), np.array([1.0, 3.0])),
        Collective("exchange", (0, 1), ()),
        Compute("more", (0,), np.array([2.0])),
        Transfer("send", 0, 1, 8),
    )
    return timeline(
        operations,
        enter_s=[[0, 0], [1, 3], [5, NO], [7, 5]],
        start_s=[[0, 0], [3, 3], [5, NO], [7, 7]],
        end_s=[[1, 3], [5, 4], [7, NO], [8, 9]],
    )


class TestTimeline:
    def test_waiting_is_told_apart_from_moving(self, two_ranks: Timeline) -> None:
        np.testing.assert_array_equal(two_ranks.wait_s, [[0, 0], [2, 0], [0, NO], [0, 2]])
        np.testing.assert_array_equal(two_ranks.transfer_s, [[1, 3], [2, 1], [2, NO], [1, 2]])

    def test_the_iteration_lasts_until_the_last_end(self, two_ranks: Timeline) -> None:
        assert two_ranks.iteration_s == 9.0

    def test_communication_is_the_slowest_ranks(self, two_ranks: Timeline) -> None:
        # Rank 0: exchange 1 to 5, send 7 to 8. Rank 1: exchange 3 to 4, send 7 to 9 (posted at 5).
        np.testing.assert_array_equal(two_ranks.busy_s([1, 3]), [5.0, 3.0])
        assert two_ranks.communication_s() == 5.0

    def test_communication_of_some_operations(self, two_ranks: Timeline) -> None:
        assert two_ranks.communication_s([1]) == 4.0
        assert two_ranks.communication_s([3]) == 2.0
        assert two_ranks.communication_s([]) == 0.0

    def test_operations_are_found_by_name(self, two_ranks: Timeline) -> None:
        assert two_ranks.operations_named("exchange") == (1,)
        assert two_ranks.operations_named("nothing") == ()

    def test_slices_leave_out_who_has_no_part(self, two_ranks: Timeline) -> None:
        slices = list(two_ranks.slices())
        assert [(s.operation, s.rank) for s in slices] == [
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 1),
            (2, 0),
            (3, 0),
            (3, 1),
        ]
        assert slices[2] == Slice(1, "exchange", "collective", 0, "communication", 1.0, 3.0, 5.0)
        assert {s.kind for s in slices} == {"compute", "collective", "transfer"}

    def test_slices_leave_out_what_was_skipped(self) -> None:
        skipped = timeline((Compute("work", (0, 1), np.ones(2)),), [[0, NO]], [[0, NO]], [[1, NO]])
        assert [s.rank for s in skipped.slices()] == [0]

    def test_overlapped_collectives_count_once(self) -> None:
        both = (Collective("a", (0,), (), stream="a"), Collective("b", (0,), (), stream="b"))
        made = timeline(both, [[0.0], [1.0]], [[0.0], [1.0]], [[2.0], [4.0]])
        assert made.communication_s() == 4.0

    def test_an_empty_program_takes_no_time(self) -> None:
        empty = timeline((), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)))
        assert empty.iteration_s == 0.0
        assert empty.communication_s() == 0.0
        assert list(empty.slices()) == []

    def test_compute_alone_is_no_communication(self) -> None:
        made = timeline((Compute("work", (0,), np.ones(1)),), [[0.0]], [[0.0]], [[1.0]])
        assert made.communication_s() == 0.0
        assert made.iteration_s == 1.0


class TestUnion:
    @pytest.mark.parametrize(
        ("intervals", "length_s"),
        [
            ([(0, 1)], 1),
            ([(0, 1), (2, 4)], 3),  # apart
            ([(0, 1), (1, 4)], 4),  # touching
            ([(0, 3), (1, 4)], 4),  # overlapping
            ([(0, 9), (1, 4), (5, 6)], 9),  # inside
            ([(5, 6), (0, 9), (1, 4)], 9),  # in another order
            ([(2, 4), (0, 1)], 3),
            ([(3, 3), (5, 5)], 0),  # empty
            ([(0, 2), (NO, NO), (1, 3)], 3),
            ([(NO, NO)], 0),
        ],
    )
    def test_worked_by_hand(self, intervals: list[tuple[float, float]], length_s: float) -> None:
        begin_s, end_s = np.array(intervals, dtype=float).T
        np.testing.assert_array_equal(union_s(begin_s[:, None], end_s[:, None]), [length_s])

    def test_columns_are_independent(self) -> None:
        begin_s = np.array([[0.0, NO, 4.0], [1.0, 2.0, 0.0]])
        end_s = np.array([[2.0, NO, 5.0], [3.0, 3.0, 1.0]])
        np.testing.assert_array_equal(union_s(begin_s, end_s), [3.0, 1.0, 2.0])

    def test_no_interval_at_all(self) -> None:
        np.testing.assert_array_equal(union_s(np.zeros((0, 4)), np.zeros((0, 4))), np.zeros(4))
