"""Random programs: the SimPy replay against a clockless reference, and what holds of every timeline.

The reference follows the definition instead of a clock: a rank comes to an operation when it has ended the one
before on its stream and all those in `after`; a collective starts when the last of its ranks has come. Programs
for it carry no bytes, so that times are sums of whole durations and must agree to the bit.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.arrays import FloatArray
from simulator.collectives.all_to_all import all_to_all
from simulator.engine.deadlock import DeadlockError
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.network.bound import port_bound
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology

STREAMS = ("a", "b", "c")


def cluster(world_size: int) -> Topology:
    return uniform_topology(
        islands=1 if world_size % 2 else world_size // 2,
        gpus_per_island=world_size if world_size % 2 else 2,
        scale_up_bytes_per_s=10.0,
        nic_bytes_per_s=2.0,
    )


class StuckError(Exception):
    """The reference came back to where it started, or to a rank that never comes."""


class Reference:
    """Times by recursion on the definition; a wait in a circle or for nobody raises StuckError."""

    def __init__(self, program: Program) -> None:
        self.operations = program.operations
        self.queues = program.all_queues()
        self.known: dict[tuple[str, int, int], float] = {}
        self.asking: set[tuple[str, int, int]] = set()

    def ask(self, what: str, index: int, rank: int) -> float:
        key = (what, index, rank)
        if key in self.asking:
            raise StuckError
        if key not in self.known:
            self.asking.add(key)
            self.known[key] = getattr(self, what)(index, rank)
            self.asking.remove(key)
        return self.known[key]

    def enter(self, index: int, rank: int) -> float:
        operation = self.operations[index]
        queue = self.queues.get((rank, operation.stream), ())
        if index not in queue:
            raise StuckError
        place = queue.index(index)
        before = [queue[place - 1]] if place else []
        before += [earlier for earlier in operation.after if rank in self.operations[earlier].ranks]
        return max((self.ask("end", earlier, rank) for earlier in before), default=0.0)

    def start(self, index: int, rank: int) -> float:
        operation = self.operations[index]
        ranks = (rank,) if isinstance(operation, Compute) else operation.ranks
        return max(self.ask("enter", index, each) for each in ranks)

    def end(self, index: int, rank: int) -> float:
        operation = self.operations[index]
        duration_s = 0.0
        if isinstance(operation, Compute):
            duration_s = float(operation.duration_s[operation.ranks.index(rank)])
        elif isinstance(operation, Collective):
            duration_s = operation.startup_s
        return self.ask("start", index, rank) + duration_s

    def times_s(self, what: str, world_size: int) -> FloatArray:
        """[operations, world_size]; raises StuckError when any queue can't be finished."""
        times_s = np.full((len(self.operations), world_size), np.nan)
        for (rank, _), queue in self.queues.items():
            for index in queue:
                times_s[index, rank] = self.ask(what, index, rank)
        return times_s


@st.composite
def programs(draw: st.DrawFn, *, with_bytes: bool = False, reordered: bool = False) -> Program:
    world_size = draw(st.integers(1, 5))
    topology = cluster(world_size)
    operations: list[Operation] = []
    for _ in range(draw(st.integers(0, 8))):
        ranks = tuple(draw(st.sets(st.integers(0, world_size - 1), min_size=1)))
        stream = draw(st.sampled_from(STREAMS))
        kinds = ["compute", "collective"] + (["transfer"] if world_size > 1 else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "transfer":
            ranks = tuple(draw(st.permutations(range(world_size)))[:2])
        sharing = [k for k, earlier in enumerate(operations) if set(earlier.ranks) & set(ranks)]
        after = tuple(sorted(draw(st.sets(st.sampled_from(sharing), max_size=2)))) if sharing else ()
        if kind == "compute":
            durations_s = np.array([draw(st.integers(0, 9)) for _ in ranks], dtype=float)
            operations.append(Compute("compute", ranks, durations_s, stream, after))
        elif kind == "transfer":
            sent = draw(st.integers(0, 20)) if with_bytes else 0
            operations.append(Transfer("transfer", ranks[0], ranks[1], sent, stream, after))
        else:
            seed = draw(st.integers(0, 99))
            matrix = np.random.default_rng(seed).integers(0, 20, (world_size, world_size))
            stages = all_to_all(topology, matrix, ranks=ranks) if with_bytes else ()
            operations.append(
                Collective("collective", ranks, stages, float(draw(st.integers(0, 3))), stream, after)
            )
    program = Program(world_size, tuple(operations))
    if not reordered:
        return program
    queues = {}
    for key, queue in program.all_queues().items():
        changed = draw(st.permutations(queue)) if draw(st.booleans()) else list(queue)
        queues[key] = tuple(changed[: len(changed) - draw(st.integers(0, 5)) // 5])
    return Program(world_size, tuple(operations), queues)


class TestAgainstTheReference:
    @settings(max_examples=150, deadline=None)
    @given(program=programs())
    def test_programs_in_index_order_never_get_stuck_and_agree(self, program: Program) -> None:
        made = replay(program, cluster(program.world_size))
        reference = Reference(program)
        for what, times_s in (("enter", made.enter_s), ("start", made.start_s), ("end", made.end_s)):
            np.testing.assert_array_equal(times_s, reference.times_s(what, program.world_size))

    @settings(max_examples=200, deadline=None)
    @given(program=programs(reordered=True))
    def test_reordered_programs_agree_or_are_stuck_in_both(self, program: Program) -> None:
        try:
            expected = Reference(program).times_s("end", program.world_size)
        except StuckError:
            with pytest.raises(DeadlockError, match="would wait for ever"):
                replay(program, cluster(program.world_size))
        else:
            made = replay(program, cluster(program.world_size))
            np.testing.assert_array_equal(made.end_s, expected)


def check_timeline(made: Timeline) -> None:
    """What must hold of any timeline: parts are whole, in order, and no effect comes before its cause."""
    program = made.program
    for index, operation in enumerate(program.operations):
        member = np.isin(np.arange(program.world_size), operation.ranks)
        for times_s in (made.enter_s, made.start_s, made.end_s):
            np.testing.assert_array_equal(~np.isnan(times_s[index]), member)
        assert (made.wait_s[index, member] >= 0).all()
        assert (made.transfer_s[index, member] >= 0).all()
        if not isinstance(operation, Compute):
            assert (made.start_s[index, member] == made.enter_s[index, member].max()).all()
        for earlier in operation.after:
            both = member & ~np.isnan(made.end_s[earlier])
            assert (made.enter_s[index, both] >= made.end_s[earlier, both]).all()
    for (rank, _), queue in program.all_queues().items():
        for before, behind in pairwise(queue):
            assert made.enter_s[behind, rank] >= made.end_s[before, rank]


class TestEveryTimeline:
    @settings(max_examples=60, deadline=None)
    @given(program=programs(with_bytes=True), tolerance=st.sampled_from([None, 0.01]))
    def test_fluid(self, program: Program, tolerance: float | None) -> None:
        made = replay(program, cluster(program.world_size), tolerance=tolerance)
        check_timeline(made)
        assert made.communication_s() <= made.iteration_s * (1 + 1e-12)

    @settings(max_examples=60, deadline=None)
    @given(program=programs(with_bytes=True), tolerance=st.sampled_from([None, 0.01]))
    def test_no_collective_is_faster_than_its_port_bound(
        self, program: Program, tolerance: float | None
    ) -> None:
        topology = cluster(program.world_size)
        made = replay(program, topology, tolerance=tolerance)
        for index, operation in enumerate(program.operations):
            if isinstance(operation, Collective):
                bound_s = sum(port_bound(topology, stage.flows).time_s for stage in operation.stages)
                longest_s = np.nanmax(made.transfer_s[index])
                assert longest_s >= (operation.startup_s + bound_s) * (1 - 1e-9)

    @settings(max_examples=30, deadline=None)
    @given(program=programs(with_bytes=True))
    def test_bound(self, program: Program) -> None:
        check_timeline(replay(program, cluster(program.world_size), engine="bound"))

    @settings(max_examples=30, deadline=None)
    @given(program=programs(with_bytes=True))
    def test_the_same_program_gives_the_same_bytes(self, program: Program) -> None:
        first, second = (replay(program, cluster(program.world_size)) for _ in range(2))
        for name in ("enter_s", "start_s", "end_s", "resource_bytes"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert (first.events, first.solves) == (second.events, second.solves)

    @settings(max_examples=30, deadline=None)
    @given(program=programs(with_bytes=True))
    def test_what_is_sent_passes_the_ports(self, program: Program) -> None:
        topology = cluster(program.world_size)
        made = replay(program, topology)
        sent = sum(op.bytes for op in program.operations if isinstance(op, Transfer))
        sent += sum(
            int(stage.flows.bytes.sum())
            for op in program.operations
            if isinstance(op, Collective)
            for stage in op.stages
        )
        egress = [name.endswith("/egress") for name in topology.resources.names]
        assert made.resource_bytes[np.array(egress, dtype=bool)].sum() == sent
