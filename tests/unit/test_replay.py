"""The replay's rules, over a network without contention in which a byte takes a second."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from simpy import Environment, Event

from simulator.collectives.stage import Stage
from simulator.engine.check import ProgramError
from simulator.engine.deadlock import DeadlockError, named
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.replay import replay, replay_on
from simulator.engine.timeline import Timeline
from simulator.errors import UserError
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology


class PatientNetwork:
    """Every flow takes as many seconds as it has bytes, whatever else goes on. A dead one never ends."""

    solves = 0

    def __init__(self, env: Environment, *, dead: bool = False) -> None:
        self.env = env
        self.dead = dead
        self.resource_bytes = np.zeros(0, dtype=np.int64)
        self.sent: list[tuple[float, str]] = []

    def send(self, flows: Flows, *, ranks: Sequence[int], latency_steps: int = 1, name: str = "") -> Any:
        self.sent.append((self.env.now, name))
        last_s = dict.fromkeys(ranks, 0)
        for source, destination, size in zip(flows.sources, flows.destinations, flows.bytes, strict=True):
            for rank in (int(source), int(destination)):
                last_s[rank] = max(last_s[rank], int(size))
        return SimpleNamespace(rank_done={rank: self._done(seconds) for rank, seconds in last_s.items()})

    def _done(self, seconds: int) -> Event:
        return self.env.event() if self.dead else self.env.timeout(seconds)


def run(
    *operations: Operation,
    world_size: int = 3,
    queues: dict[tuple[int, str], tuple[int, ...]] | None = None,
    late_s: Sequence[float] | None = None,
    compute_factor: Sequence[float] | None = None,
    dead: bool = False,
) -> Timeline:
    env = Environment()
    topology: Any = SimpleNamespace(
        world_size=world_size,
        late_s=np.zeros(world_size) if late_s is None else np.array(late_s),
        compute_factor=np.ones(world_size) if compute_factor is None else np.array(compute_factor),
    )
    return replay_on(PatientNetwork(env, dead=dead), env, Program(world_size, operations, queues), topology)


def work(
    ranks: Sequence[int], *seconds: float, after: tuple[int, ...] = (), stream: str = "compute"
) -> Compute:
    return Compute("work", tuple(ranks), np.array(seconds, dtype=float), stream=stream, after=after)


def stage(*flows: tuple[int, int, int]) -> Stage:
    sources, destinations, sizes = np.array(flows).T
    return Stage(Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64)))


def exchange(ranks: Sequence[int], *stages: Stage, **others: Any) -> Collective:
    return Collective("exchange", tuple(ranks), stages, **others)


class TestOrder:
    def test_a_stream_runs_one_operation_after_another(self) -> None:
        made = run(work([0, 1], 1, 2), work([0, 1], 3, 3), world_size=2)
        np.testing.assert_array_equal(made.start_s, [[0, 0], [1, 2]])
        np.testing.assert_array_equal(made.end_s, [[1, 2], [4, 5]])

    def test_streams_of_a_rank_run_side_by_side(self) -> None:
        made = run(work([0], 5), work([0], 3, stream="copy"), world_size=1)
        np.testing.assert_array_equal(made.end_s[:, 0], [5, 3])
        assert made.iteration_s == 5

    def test_after_holds_an_operation_back_across_streams(self) -> None:
        made = run(work([0, 1], 5, 1), work([0, 1], 1, 1, after=(0,), stream="copy"), world_size=2)
        np.testing.assert_array_equal(made.enter_s[1], [5, 1])

    def test_after_an_operation_in_which_a_rank_has_no_part_does_not_hold_that_rank(self) -> None:
        made = run(work([0], 5), work([0, 1], 1, 1, after=(0,), stream="copy"), world_size=2)
        np.testing.assert_array_equal(made.enter_s[1], [5, 0])

    def test_after_several_waits_for_the_last(self) -> None:
        made = run(
            work([0], 2, stream="a"), work([0], 7, stream="b"), work([0], 1, after=(0, 1)), world_size=1
        )
        assert made.enter_s[2, 0] == 7

    def test_two_streams_may_wait_for_one_end(self) -> None:
        made = run(
            work([0], 2),
            work([0], 1, after=(0,), stream="a"),
            work([0], 1, after=(0,), stream="b"),
            world_size=1,
        )
        np.testing.assert_array_equal(made.enter_s[:, 0], [0, 2, 2])

    def test_given_queues_change_the_order(self) -> None:
        made = run(work([0], 1), work([0], 5), world_size=1, queues={(0, "compute"): (1, 0)})
        np.testing.assert_array_equal(made.start_s[:, 0], [5, 0])

    def test_a_compute_left_out_of_a_queue_is_skipped(self) -> None:
        made = run(work([0, 1], 1, 1), world_size=2, queues={(1, "compute"): ()})
        np.testing.assert_array_equal(made.end_s, [[1, np.nan]])

    def test_who_has_no_part_is_nan(self) -> None:
        made = run(work([1], 1))
        for times_s in (made.enter_s, made.start_s, made.end_s):
            np.testing.assert_array_equal(np.isnan(times_s), [[True, False, True]])

    def test_an_empty_program_is_over_at_once(self) -> None:
        made = run()
        assert made.end_s.shape == (0, 3)
        assert made.iteration_s == 0
        assert made.events == 0


class TestCompute:
    def test_no_time_at_all(self) -> None:
        made = run(work([0], 0), work([0], 1), world_size=1)
        np.testing.assert_array_equal(made.end_s[:, 0], [0, 1])

    def test_durations_are_divided_by_the_compute_factor(self) -> None:
        made = run(work([0, 1], 4, 4), world_size=2, compute_factor=[1.0, 0.5])
        np.testing.assert_array_equal(made.end_s, [[4, 8]])

    def test_ranks_of_one_compute_do_not_wait_for_each_other(self) -> None:
        made = run(work([0, 1], 1, 9), world_size=2)
        np.testing.assert_array_equal(made.wait_s, [[0, 0]])


class TestRendezvous:
    def test_it_starts_when_the_last_rank_has_come(self) -> None:
        made = run(work([0, 1, 2], 1, 4, 2), exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1)), after=(0,)))
        np.testing.assert_array_equal(made.enter_s[1], [1, 4, 2])
        np.testing.assert_array_equal(made.start_s[1], [4, 4, 4])
        np.testing.assert_array_equal(made.wait_s[1], [3, 0, 2])

    def test_a_rank_leaves_when_its_own_flows_have_arrived(self) -> None:
        made = run(exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1))), work([2], 1, after=(0,)))
        np.testing.assert_array_equal(made.end_s[0], [3, 3, 1])
        assert made.enter_s[1, 2] == 1

    def test_startup_comes_after_the_rendezvous(self) -> None:
        made = run(exchange([0, 1, 2], stage((0, 1, 3)), startup_s=0.5), late_s=[0, 0, 2])
        np.testing.assert_array_equal(made.start_s[0], [2, 2, 2])
        np.testing.assert_array_equal(made.end_s[0], [5.5, 5.5, 2.5])

    def test_a_stage_begins_when_the_one_before_has_ended_for_all(self) -> None:
        made = run(exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1)), stage((2, 0, 2)), startup_s=1))
        # The first stage takes until 1 + 3, also for rank 2, which is busy in it until 2 only.
        np.testing.assert_array_equal(made.end_s[0], [6, 4, 6])

    def test_startup_is_paid_once(self) -> None:
        three = exchange([0, 1], stage((0, 1, 1)), stage((1, 0, 1)), stage((0, 1, 1)), startup_s=10)
        np.testing.assert_array_equal(run(three, world_size=2).end_s, [[13, 13]])

    def test_without_stages_all_leave_after_the_startup(self) -> None:
        made = run(exchange([0, 1], startup_s=0.25), late_s=[0, 1], world_size=2)
        np.testing.assert_array_equal(made.end_s, [[1.25, 1.25]])

    def test_groups_meet_apart(self) -> None:
        made = run(
            work([0, 1, 2, 3], 1, 1, 8, 8),
            exchange([0, 1], stage((0, 1, 1)), after=(0,)),
            exchange([2, 3], stage((2, 3, 1)), after=(0,)),
            world_size=4,
        )
        np.testing.assert_array_equal(np.nanmax(made.end_s, axis=1), [8, 2, 9])

    def test_one_rank_alone_meets_itself(self) -> None:
        made = run(exchange([0], startup_s=1), world_size=1)
        np.testing.assert_array_equal(made.end_s, [[1]])

    def test_a_transfer_starts_when_both_ends_have_come(self) -> None:
        made = run(work([0], 4), Transfer("send", 0, 2, 6, after=(0,)))
        np.testing.assert_array_equal(made.enter_s[1], [4, np.nan, 0])
        np.testing.assert_array_equal(made.start_s[1], [4, np.nan, 4])
        np.testing.assert_array_equal(made.end_s[1], [10, np.nan, 10])

    def test_a_transfer_of_nothing_only_meets(self) -> None:
        made = run(work([0], 4), Transfer("send", 0, 2, 0, after=(0,)))
        np.testing.assert_array_equal(made.end_s[1], [4, np.nan, 4])

    def test_names_reach_the_network(self) -> None:
        env = Environment()
        network = PatientNetwork(env)
        topology: Any = SimpleNamespace(world_size=2, late_s=np.zeros(2), compute_factor=np.ones(2))
        program = Program(
            2, (exchange([0, 1], stage((0, 1, 2)), stage((1, 0, 2))), Transfer("send", 0, 1, 1))
        )
        replay_on(network, env, program, topology)
        assert network.sent == [(0, "exchange"), (2, "exchange"), (4, "send")]


class TestLateRanks:
    def test_the_others_wait_and_transfer_as_before(self) -> None:
        punctual = run(exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1))))
        late = run(exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1))), late_s=[0, 0.005, 0])
        np.testing.assert_array_equal(late.wait_s, [[0.005, 0, 0.005]])
        np.testing.assert_allclose(late.transfer_s, punctual.transfer_s, rtol=1e-12)

    def test_every_stream_of_a_late_rank_is_late(self) -> None:
        made = run(work([0], 1), work([0], 1, stream="copy"), world_size=1, late_s=[3])
        np.testing.assert_array_equal(made.enter_s, [[3], [3]])


class TestEvents:
    def test_at_most_three_for_each_rank_and_operation(self) -> None:
        ranks = range(16)
        everyone = stage(*((rank, (rank + 1) % 16, 1) for rank in ranks))
        operations = [op for _ in range(5) for op in (exchange(ranks, everyone), work(ranks, *[1.0] * 16))]
        made = run(*operations, world_size=16)
        assert made.events <= 3 * 16 * len(operations) + 1

    @pytest.mark.parametrize("ranks", [2, 16, 64])
    def test_ranks_that_are_never_apart_cost_no_more_than_one(self, ranks: int) -> None:
        """Under the port bound: an event to begin, and for each operation its ends, and who waits for them."""
        everyone = stage(*((rank, (rank + 1) % ranks, 10**6) for rank in range(ranks)))
        operations: list[Operation] = []
        for _ in range(5):
            last = len(operations)
            operations.append(exchange(range(ranks), everyone, after=(last - 1,) if last else ()))
            operations.append(work(range(ranks), *[1.0] * ranks, after=(last,)))
        topology = uniform_topology(
            islands=1, gpus_per_island=ranks, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e9
        )
        made = replay(Program(ranks, tuple(operations)), topology, engine="bound")
        assert made.iteration_s == pytest.approx(5 * 1.001)
        assert made.events <= 2 + 4 * len(operations)

    def test_computes_of_their_own_length_end_one_by_one(self) -> None:
        made = run(work([0, 1, 2], 1.0, 2.0, 1.0), world_size=3)
        np.testing.assert_array_equal(made.end_s, [[1.0, 2.0, 1.0]])
        assert made.events == 1 + 2


class TestRefusals:
    def test_a_program_that_does_not_check(self) -> None:
        with pytest.raises(ProgramError, match="duration_s of rank 0 is nan"):
            run(work([0], np.nan))

    def test_another_world_size(self) -> None:
        env = Environment()
        topology: Any = SimpleNamespace(world_size=2, late_s=np.zeros(2), compute_factor=np.ones(2))
        with pytest.raises(ProgramError, match="the program has 3 ranks, the topology 2"):
            replay_on(PatientNetwork(env), env, Program(3, ()), topology)


class TestDeadlock:
    def lines(self, *operations: Operation, **settings: Any) -> list[str]:
        with pytest.raises(DeadlockError) as caught:
            run(*operations, **settings)
        assert isinstance(caught.value, UserError)
        return str(caught.value).split("\n")

    def test_a_rank_that_skips_a_collective(self) -> None:
        assert self.lines(
            exchange(range(6), stage((0, 1, 1))), world_size=6, queues={(3, "communication"): ()}
        ) == [
            "deadlock: 5 of 6 ranks would wait for ever",
            "operation 0 'exchange' on stream 'communication': waiting ranks 0-2, 4-5; "
            "missing rank 3 (its queue leaves it out)",
        ]

    def test_two_collectives_in_opposite_order(self) -> None:
        first, second = exchange([0, 1], stage((0, 1, 1))), Collective("other", (0, 1), ())
        assert self.lines(first, second, world_size=2, queues={(1, "communication"): (1, 0)}) == [
            "deadlock: 2 of 2 ranks would wait for ever",
            "operation 0 'exchange' on stream 'communication': waiting rank 0; "
            "missing rank 1 (stands at operation 1 'other')",
            "operation 1 'other' on stream 'communication': waiting rank 1; "
            "missing rank 0 (stands at operation 0 'exchange')",
        ]

    def test_those_who_wait_for_its_end_are_told_too(self) -> None:
        lines = self.lines(
            exchange([0, 1, 2], stage((0, 1, 1))),
            work([0, 1, 2], 1, 1, 1, after=(0,)),
            queues={(2, "communication"): ()},
        )
        assert lines[2] == (
            "operation 1 'work' on stream 'compute': "
            "missing ranks 0-2 (waits for the end of operation 0 'exchange')"
        )

    def test_a_dependency_that_was_skipped(self) -> None:
        lines = self.lines(
            work([0, 1], 1, 1),
            exchange([0, 1], stage((0, 1, 1)), after=(0,)),
            world_size=2,
            queues={(1, "compute"): ()},
        )
        assert lines == [
            "deadlock: 2 of 2 ranks would wait for ever",
            "operation 1 'exchange' on stream 'communication': waiting rank 0; "
            "missing rank 1 (waits for the end of operation 0 'work')",
        ]

    def test_bytes_that_never_arrive(self) -> None:
        lines = self.lines(exchange([0, 1], stage((0, 1, 1))), world_size=2, dead=True, late_s=[0, 0.5])
        assert lines == [
            "deadlock: 2 of 2 ranks would wait for ever",
            "operation 0 'exchange' on stream 'communication': under way since 0.5 s, "
            "bytes never arrive for ranks 0-1",
        ]

    def test_a_transfer_without_its_other_end(self) -> None:
        lines = self.lines(Transfer("send", 0, 1, 4), world_size=2, queues={(1, "communication"): ()})
        assert lines[1].endswith("waiting rank 0; missing rank 1 (its queue leaves it out)")

    def test_a_long_list_is_cut(self) -> None:
        pairs = [exchange([2 * k, 2 * k + 1], stage((2 * k, 2 * k + 1, 1))) for k in range(30)]
        skipping = {(2 * k, "communication"): () for k in range(30)}
        lines = self.lines(*pairs, world_size=60, queues=skipping)
        assert len(lines) == 22
        assert lines[-1] == "... and 10 more operations at which ranks wait"

    @pytest.mark.parametrize(
        ("ranks", "text"),
        [
            ([5], "rank 5"),
            ([0, 1, 2], "ranks 0-2"),
            ([0, 2, 4], "ranks 0, 2, 4"),
            ([0, 1, 5, 6, 7, 9], "ranks 0-1, 5-7, 9"),
        ],
    )
    def test_ranks_are_written_in_runs(self, ranks: list[int], text: str) -> None:
        assert named(ranks) == text


class TestDeterminism:
    def test_the_same_program_gives_the_same_bytes(self) -> None:
        def once() -> tuple[bytes, ...]:
            made = run(
                work([0, 1, 2], 1, 2, 1),
                exchange([0, 1, 2], stage((0, 1, 3), (1, 2, 1)), after=(0,)),
                Transfer("send", 0, 2, 6, stream="side"),
            )
            return made.enter_s.tobytes(), made.start_s.tobytes(), made.end_s.tobytes(), bytes(made.events)

        assert once() == once()
