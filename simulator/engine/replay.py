"""The replay: SimPy carries a `Program` through time and writes a `Timeline`.

Theory of operation. Each queue, that is a rank's stream, is one SimPy process. It takes the queue's
operations in order: waits until those in `after` have ended on its rank, comes to the operation, and stays
until it has ended for its rank. A Compute is a timeout of its duration divided by the rank's compute factor.
Transfers and collectives are `Meeting`s over one network that all of them share. A late rank comes to
nothing before its `late_s`. The clock stops when no event is left; SimPy calls that a success even while
processes still wait, so what has not ended by then is reported as a `DeadlockError`.

Events are ordered by time and then by when they were scheduled, and processes begin in the order of ranks:
the same program gives the same timeline to the byte. Cost: at most three events for each rank in each
operation, besides the network's own.
"""

from collections.abc import Generator
from typing import Literal

from simpy import Environment, Event
from simpy.core import EmptySchedule

from simulator.engine.check import ProgramError, check_program
from simulator.engine.deadlock import check_all_ended
from simulator.engine.journal import Journal
from simulator.engine.meeting import Meeting
from simulator.engine.program import Compute, Program
from simulator.engine.timeline import Timeline
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.topology.topology import Topology

Queue = tuple[int, ...]


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


class Replay:
    """A program under way: its queues' processes and what they write down."""

    def __init__(self, network: Network, env: Environment, program: Program, topology: Topology) -> None:
        self.env = env
        self.operations = program.operations
        self.queues = program.all_queues()
        self.journal = Journal(env, program)
        self.needs = needs_of(program)
        self.meetings = {
            index: Meeting(index, operation, self.journal, network)
            for index, operation in enumerate(program.operations)
            if not isinstance(operation, Compute)
        }
        self.durations_s = {
            index: dict(zip(op.ranks, op.duration_s / topology.compute_factor[list(op.ranks)], strict=True))
            for index, op in enumerate(program.operations)
            if isinstance(op, Compute)
        }
        for (rank, _), queue in self.queues.items():
            env.process(self._serve(rank, queue, float(topology.late_s[rank])))

    def _serve(self, rank: int, queue: Queue, late_s: float) -> Generator[Event, None, None]:
        """The process of one queue."""
        if late_s > 0:
            yield self.env.timeout(late_s)
        for index in queue:
            for earlier in self.needs.get((index, rank), ()):
                if not self.journal.has_ended(earlier, rank):
                    yield self.journal.end_of(earlier, rank)
            if index in self.meetings:
                self.meetings[index].come(rank)
                if not self.journal.has_ended(index, rank):
                    yield self.journal.end_of(index, rank)
            else:
                yield from self._compute(index, rank)

    def _compute(self, index: int, rank: int) -> Generator[Event, None, None]:
        self.journal.enter(index, rank)
        self.journal.start(index, rank)
        yield self.env.timeout(self.durations_s[index][rank])
        self.journal.end(index, rank)


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
