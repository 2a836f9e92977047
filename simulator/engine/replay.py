"""The replay: SimPy carries a `Program` through time and writes a `Timeline`.

Theory of operation. Each queue, that is a rank's stream, takes its operations in order: waits until those in
`after` have ended on its rank, comes to the operation, and stays until it has ended for its rank. A Compute
takes its duration divided by the rank's compute factor. Transfers and collectives are `Meeting`s over one
network that all of them share. A late rank comes to nothing before its `late_s`. The clock stops when no event
is left; SimPy calls that a success even while queues still wait, so what has not ended by then is reported as a
`DeadlockError`.

A queue is no SimPy process. Queues that go on at the same moment for the same reason are called by one event, in
the order in which they came to wait: ranks that end a collective together, or whose computes began and end
together. Events are ordered by time and then by when they were scheduled, and queues begin in the order of ranks:
the same program gives the same timeline to the byte. Cost: at most three events for each rank in each operation,
besides the network's own, and as few for all ranks where none is ahead of the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from simpy import Environment
from simpy.core import EmptySchedule

from simulator.engine.check import ProgramError, check_program
from simulator.engine.deadlock import check_all_ended
from simulator.engine.journal import Journal
from simulator.engine.meeting import Meeting
from simulator.engine.program import Compute, Program
from simulator.engine.timeline import Timeline
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.topology.topology import Topology


def replay(
    program: Program,
    topology: Topology,
    *,
    engine: Literal["fluid", "bound"] = "fluid",
    tolerance: float | None = 0.01,
) -> Timeline:
    """Run `program` on `topology`, all ranks from t = 0.

    `tolerance` is the fluid network's step as a share of the port bound; None is exact. Raises ProgramError
    for a program that can't be run and DeadlockError for one that gets stuck.
    """
    env = Environment()
    network: Network = (
        FluidNetwork(env, topology, tolerance=tolerance) if engine == "fluid" else BoundNetwork(env, topology)
    )
    return replay_on(network, env, program, topology)


def replay_on(network: Network, env: Environment, program: Program, topology: Topology) -> Timeline:
    """Like `replay`, over a network of the caller's that lives in `env`."""
    check_program(program)
    if program.world_size != topology.world_size:
        raise ProgramError(f"the program has {program.world_size} ranks, the topology {topology.world_size}")
    run = Replay(network, env, program, topology)
    events = run_to_the_end(env)
    check_all_ended(program, run.queues, run.journal)
    return Timeline(
        program=program,
        enter_s=run.journal.enter_s,
        start_s=run.journal.start_s,
        end_s=run.journal.end_s,
        resource_bytes=network.resource_bytes,
        events=events,
        solves=network.solves,
    )


def run_to_the_end(env: Environment) -> int:
    """Step until nothing is scheduled; the number of events."""
    events = 0
    try:
        while True:
            env.step()
            events += 1
    except EmptySchedule:
        return events


@dataclass(eq=False)
class Queue:
    """How far one rank is on one of its streams."""

    rank: int
    operations: tuple[int, ...]
    place: int = 0  # of the operation that it waits for, or is in
    has_come: bool = False  # to that operation, a meeting

    def leave(self) -> None:
        """The operation has ended: on to the next."""
        self.place += 1
        self.has_come = False


class Replay:
    """A program under way: its queues and what they write down."""

    def __init__(self, network: Network, env: Environment, program: Program, topology: Topology) -> None:
        self.env = env
        self.queues = program.all_queues()
        self.journal: Journal[Queue] = Journal(env, program, self._go_on)
        self.needs = needs_of(program)
        self.meetings = {
            index: Meeting(index, operation, self.journal, network)
            for index, operation in enumerate(program.operations)
            if not isinstance(operation, Compute)
        }
        self.durations_s: dict[int, dict[int, float]] = {
            index: dict(
                zip(op.ranks, (op.duration_s / topology.compute_factor[list(op.ranks)]).tolist(), strict=True)
            )
            for index, op in enumerate(program.operations)
            if isinstance(op, Compute)
        }
        begin: dict[float, list[Queue]] = {}
        for (rank, _), operations in self.queues.items():
            begin.setdefault(float(topology.late_s[rank]), []).append(Queue(rank, operations))
        for late_s, queues in begin.items():
            self._later(late_s, queues, self._go_on)

    def _later(self, delay_s: float, queues: list[Queue], call: Callable[[list[Queue]], None]) -> None:
        """Call with `queues` after a while."""
        self.env.timeout(delay_s).callbacks.append(lambda _: call(queues))

    def _go_on(self, queues: list[Queue]) -> None:
        """Let each run until it waits; computes that take equally long end together."""
        computing: dict[float, list[Queue]] = {}
        for queue in queues:
            duration_s = self._next_compute_s(queue)
            if duration_s is not None:
                computing.setdefault(duration_s, []).append(queue)
        for duration_s, own in computing.items():
            self._later(duration_s, own, self._end_computes)

    def _next_compute_s(self, queue: Queue) -> float | None:
        """Run a queue up to its next compute, and how long that takes; None if it waits before, or is through."""
        while queue.place < len(queue.operations):
            index, rank = queue.operations[queue.place], queue.rank
            for earlier in self.needs.get((index, rank), ()):
                if not self.journal.has_ended(earlier, rank):
                    self.journal.wait(earlier, rank, queue)
                    return None
            if index not in self.meetings:
                self.journal.enter(index, rank)
                self.journal.start(index, rank)
                return self.durations_s[index][rank]
            if not queue.has_come:
                queue.has_come = True
                self.meetings[index].come(rank)
            if not self.journal.has_ended(index, rank):
                self.journal.wait(index, rank, queue)
                return None
            queue.leave()
        return None

    def _end_computes(self, queues: list[Queue]) -> None:
        ended: dict[int, list[int]] = {}
        for queue in queues:
            ended.setdefault(queue.operations[queue.place], []).append(queue.rank)
            queue.leave()
        for index, ranks in ended.items():
            self.journal.end(index, ranks)
        self._go_on(queues)


def needs_of(program: Program) -> dict[tuple[int, int], list[int]]:
    """For (operation, rank): the operations in its `after` in which that rank has a part."""
    needs: dict[tuple[int, int], list[int]] = {}
    for index, operation in enumerate(program.operations):
        members = frozenset(operation.ranks)
        for earlier in operation.after:
            for rank in program.operations[earlier].ranks:
                if rank in members:
                    needs.setdefault((index, rank), []).append(earlier)
    return needs
