"""Programs: their queues, and what `check_program` refuses."""

import numpy as np
import pytest

from simulator.collectives.stage import Stage
from simulator.engine.check import ProgramError, check_program
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.errors import UserError
from simulator.network.flows import Flows


def work(*ranks: int, seconds: float = 1.0, after: tuple[int, ...] = (), name: str = "work") -> Compute:
    return Compute(name, ranks, np.full(len(ranks), seconds), after=after)


def stage(pairs: list[tuple[int, int]], latency_steps: int = 1) -> Stage:
    sources, destinations = np.array(pairs, dtype=np.int32).T
    return Stage(Flows(sources, destinations, np.ones(len(pairs), dtype=np.int64)), latency_steps)


def program(*operations: Operation, world_size: int = 3) -> Program:
    return Program(world_size, operations)


def problems_of(checked: Program) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        check_program(checked)
    assert isinstance(caught.value, UserError)
    return str(caught.value).split("\n")


class TestQueues:
    operations = (
        work(0, 1),
        Collective("exchange", (0, 1, 2), ()),
        work(1, 2),
        Transfer("send", 2, 0, 8),
    )

    def test_a_rank_meets_its_operations_in_index_order(self) -> None:
        made = program(*self.operations)
        assert made.queue_of(1, "compute") == (0, 2)
        assert made.queue_of(0, "communication") == (1, 3)
        assert made.queue_of(1, "communication") == (1,)

    def test_a_stream_or_rank_without_operations_has_an_empty_queue(self) -> None:
        assert program(*self.operations).queue_of(0, "elsewhere") == ()
        assert program(work(0)).queue_of(2, "compute") == ()

    def test_a_given_queue_replaces_its_own_only(self) -> None:
        made = Program(3, self.operations, queues={(1, "compute"): (2, 0)})
        assert made.queue_of(1, "compute") == (2, 0)
        assert made.queue_of(0, "compute") == (0,)

    def test_an_empty_given_queue_skips_everything(self) -> None:
        made = Program(3, self.operations, queues={(1, "communication"): ()})
        assert made.queue_of(1, "communication") == ()

    def test_all_queues_come_by_rank_and_then_by_first_use_of_the_stream(self) -> None:
        made = program(Transfer("send", 2, 0, 8, stream="z"), work(0, 2), Transfer("b", 0, 1, 1, stream="a"))
        assert list(made.all_queues().items()) == [
            ((0, "z"), (0,)),
            ((0, "compute"), (1,)),
            ((0, "a"), (2,)),
            ((1, "a"), (2,)),
            ((2, "z"), (0,)),
            ((2, "compute"), (1,)),
        ]

    def test_both_ends_are_the_ranks_of_a_transfer(self) -> None:
        assert Transfer("send", 2, 0, 8).ranks == (2, 0)

    def test_an_empty_program_has_no_queue(self) -> None:
        assert program().all_queues() == {}


class TestCheck:
    def test_a_sound_program_passes(self) -> None:
        check_program(
            Program(
                3,
                (work(0, 1, 2), Collective("c", (0, 2), (stage([(0, 2), (2, 0)]),), after=(0,))),
                queues={(0, "communication"): ()},
            )
        )

    def test_an_empty_program_passes(self) -> None:
        check_program(program())

    def test_a_world_without_ranks(self) -> None:
        assert problems_of(program(world_size=0)) == ["world_size: 0, at least 1 is needed"]

    def test_a_rank_that_does_not_exist(self) -> None:
        assert problems_of(program(work(0, 3), work(-1))) == [
            "operation 0 'work': rank 3 does not exist, allowed: 0 to 2",
            "operation 1 'work': rank -1 does not exist, allowed: 0 to 2",
        ]

    def test_a_rank_named_twice(self) -> None:
        assert problems_of(program(Collective("c", (1, 0, 1), ()))) == [
            "operation 0 'c': rank 1 is named 2 times"
        ]

    def test_an_operation_without_ranks(self) -> None:
        assert problems_of(program(Collective("c", (), ()))) == ["operation 0 'c': has no ranks"]

    def test_a_transfer_to_itself(self) -> None:
        assert problems_of(program(Transfer("t", 1, 1, 8))) == [
            "operation 0 't': source and destination are both rank 1"
        ]

    def test_negative_bytes(self) -> None:
        assert problems_of(program(Transfer("t", 1, 2, -8))) == [
            "operation 0 't': bytes: -8, at least 0 is needed"
        ]

    @pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-1.0, "-1.0")])
    def test_a_duration_that_makes_no_sense(self, value: float, shown: str) -> None:
        bad = Compute("work", (0, 2), np.array([1.0, value]))
        assert problems_of(program(bad)) == [
            f"operation 0 'work': duration_s of rank 2 is {shown}, allowed: finite and not negative"
        ]

    def test_durations_that_do_not_match_the_ranks(self) -> None:
        bad = Compute("work", (0, 2), np.array([1.0]))
        assert problems_of(program(bad)) == ["operation 0 'work': duration_s has shape (1,) for 2 ranks"]

    @pytest.mark.parametrize("value", [np.nan, np.inf, -1e-9])
    def test_a_startup_that_makes_no_sense(self, value: float) -> None:
        assert problems_of(program(Collective("c", (0, 1), (), startup_s=value))) == [
            f"operation 0 'c': startup_s is {value}, allowed: finite and not negative"
        ]

    def test_negative_latency_steps(self) -> None:
        assert problems_of(program(Collective("c", (0, 1), (stage([(0, 1)], -1),)))) == [
            "operation 0 'c': stage 0: latency_steps is -1, at least 0 is needed"
        ]

    @pytest.mark.parametrize(("pair", "outsider"), [((0, 2), 2), ((2, 1), 2), ((0, 7), 7), ((-1, 0), -1)])
    def test_a_flow_that_leaves_its_collective(self, pair: tuple[int, int], outsider: int) -> None:
        inside = stage([(0, 1)])
        assert problems_of(program(Collective("c", (0, 1), (inside, stage([(1, 0), pair]))))) == [
            f"operation 0 'c': stage 1: a flow touches rank {outsider}, which is not in the collective"
        ]

    @pytest.mark.parametrize("earlier", [1, 2, -1, 99])
    def test_after_names_earlier_operations_only(self, earlier: int) -> None:
        made = program(work(0), work(0, after=(earlier,)), work(0))
        assert problems_of(made) == [
            f"operation 1 'work': after: {earlier} is no earlier operation, allowed: indices below 1"
        ]

    def test_a_circle_of_dependencies(self) -> None:
        made = program(work(0, after=(1,)), work(0, after=(0,)))
        assert problems_of(made) == [
            "operation 0 'work': after: 1 is no earlier operation, allowed: indices below 0"
        ]

    def test_after_an_operation_of_other_ranks(self) -> None:
        assert problems_of(program(work(0), work(1, after=(0,)))) == [
            "operation 1 'work': after: operation 0 shares no rank with it and would hold nothing up"
        ]

    def test_every_problem_is_told_at_once(self) -> None:
        made = Program(2, (work(5), Transfer("t", 0, 1, -1)), queues={(4, "compute"): ()})
        assert len(problems_of(made)) == 3


class TestCheckQueues:
    def problem(self, rank: int, stream: str, *queue: int) -> list[str]:
        operations = (work(0, 1), Transfer("send", 0, 1, 1))
        return problems_of(Program(2, operations, queues={(rank, stream): queue}))

    def test_a_queue_of_an_unknown_rank(self) -> None:
        assert self.problem(2, "compute", 0) == [
            "queue of rank 2, stream 'compute': the rank does not exist, allowed: 0 to 1"
        ]

    def test_an_unknown_operation(self) -> None:
        assert self.problem(0, "compute", 0, 2) == [
            "queue of rank 0, stream 'compute': operation 2 does not exist"
        ]

    def test_an_operation_of_another_stream(self) -> None:
        assert self.problem(0, "compute", 0, 1) == [
            "queue of rank 0, stream 'compute': operation 1 'send' is not of this rank and stream"
        ]

    def test_an_operation_of_another_rank(self) -> None:
        made = Program(2, (work(0),), queues={(1, "compute"): (0,)})
        assert problems_of(made) == [
            "queue of rank 1, stream 'compute': operation 0 'work' is not of this rank and stream"
        ]

    def test_an_operation_twice(self) -> None:
        assert self.problem(1, "communication", 1, 1) == [
            "queue of rank 1, stream 'communication': operation 1 'send' stands 2 times"
        ]
