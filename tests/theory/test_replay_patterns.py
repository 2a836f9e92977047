"""The four primitives express patterns of other parallelisms. Each test is an example and has a closed form.

Ranks are joined by ports of 1 GB/s, or as said; latencies are zero unless given.
"""

from collections.abc import Iterable

import numpy as np
import pytest

from simulator.collectives.all_reduce import all_gather, all_reduce, reduce_scatter
from simulator.collectives.stage import Stage
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology

GIGABYTE = 10**9


def cluster(
    islands: int, gpus_per_island: int, *, latency_s: float = 0.0, nic_bytes_per_s: float = 1e9
) -> Topology:
    return uniform_topology(
        islands=islands,
        gpus_per_island=gpus_per_island,
        scale_up_bytes_per_s=1e9,
        nic_bytes_per_s=nic_bytes_per_s,
        latency_s=latency_s,
    )


def run(topology: Topology, operations: Iterable[Operation], **others: object) -> Timeline:
    program = Program(topology.world_size, tuple(operations), **others)  # type: ignore[arg-type]
    return replay(program, topology, tolerance=None)


def work(name: str, ranks: Iterable[int], duration_s: float, *, after: tuple[int, ...] = ()) -> Compute:
    members = tuple(ranks)
    return Compute(name, members, np.full(len(members), duration_s), after=after)


def flows(*triples: tuple[int, int, int]) -> Flows:
    sources, destinations, sizes = np.array(triples, dtype=np.int64).T
    return Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes)


class TestTensorParallel:
    """Megatron: two all-reduces a layer and pass, inside an island."""

    @pytest.mark.parametrize("size", [2, 4, 8])
    @pytest.mark.parametrize("layers", [1, 3])
    def test_layers_add_up(self, size: int, layers: int) -> None:
        topology, ranks = cluster(1, size), tuple(range(size))
        activation_bytes, compute_s = 16 * 10**6, 0.010
        operations: list[Operation] = []
        for _ in range(2 * layers):
            before = (len(operations) - 1,) if operations else ()
            operations.append(work("layer", ranks, compute_s, after=before))
            stages = all_reduce(topology, ranks, activation_bytes)
            operations.append(Collective("all_reduce", ranks, stages, after=(len(operations) - 1,)))
        made = run(topology, operations)
        reduce_s = 2 * (size - 1) / size * activation_bytes / 1e9
        assert made.iteration_s == pytest.approx(2 * layers * (compute_s + reduce_s), rel=1e-9)
        assert made.communication_s() == pytest.approx(2 * layers * reduce_s, rel=1e-9)

    def test_subgroups_run_side_by_side(self) -> None:
        topology = cluster(4, 2)
        operations = [
            Collective("all_reduce", island, all_reduce(topology, island, GIGABYTE))
            for island in topology.islands
        ]
        assert run(topology, operations).iteration_s == pytest.approx(1.0, rel=1e-9)

    def test_one_slow_rank_holds_up_its_own_group_only(self) -> None:
        topology = cluster(2, 2)
        durations_s = np.array([0.1, 0.3, 0.1, 0.1])
        operations: list[Operation] = [Compute("layer", (0, 1, 2, 3), durations_s)]
        operations += [
            Collective("all_reduce", island, all_reduce(topology, island, GIGABYTE), after=(0,))
            for island in topology.islands
        ]
        made = run(topology, operations)
        np.testing.assert_allclose(np.nanmax(made.end_s, axis=0), [1.3, 1.3, 1.1, 1.1], rtol=1e-9)


class TestSequenceParallel:
    """Megatron's sequence parallelism: reduce-scatter and all-gather cost what the all-reduce did."""

    def test_the_halves_add_up_to_the_all_reduce(self) -> None:
        topology, ranks = cluster(1, 4), (0, 1, 2, 3)
        halves = run(
            topology,
            [
                Collective("reduce_scatter", ranks, reduce_scatter(topology, ranks, GIGABYTE)),
                Collective("all_gather", ranks, all_gather(topology, ranks, GIGABYTE)),
            ],
        )
        whole = run(topology, [Collective("all_reduce", ranks, all_reduce(topology, ranks, GIGABYTE))])
        assert (
            halves.iteration_s == pytest.approx(whole.iteration_s, rel=1e-9) == pytest.approx(1.5, rel=1e-9)
        )


class OneForwardOneBackward:
    """A 1F1B pipeline: `stages` ranks, `batches` micro-batches; each edge has a stream for either direction.

    Operations are listed pass by pass, so that `after` names earlier ones; the order in which a rank takes them
    is its own, given as a queue: P - s forwards to warm up, then one backward, one forward, ...
    """

    def __init__(
        self, stages: int, batches: int, forward_s: float, backward_s: float, sent_bytes: int
    ) -> None:
        self.stages, self.batches = stages, batches
        self.operations: list[Operation] = []
        self.forward: dict[tuple[int, int], int] = {}
        self.backward: dict[tuple[int, int], int] = {}
        self.add_pass("forward", range(stages), self.forward, forward_s, sent_bytes)
        self.add_pass("backward", range(stages)[::-1], self.backward, backward_s, sent_bytes)

    def add_pass(
        self,
        name: str,
        order: Iterable[int],
        index_of: dict[tuple[int, int], int],
        duration_s: float,
        sent: int,
    ) -> None:
        ranks = list(order)
        for batch in range(self.batches):
            received: tuple[int, ...] = ()
            for place, rank in enumerate(ranks):
                index_of[rank, batch] = len(self.operations)
                self.operations.append(work(name, [rank], duration_s, after=received))
                if place + 1 < len(ranks):
                    done = len(self.operations) - 1
                    self.operations.append(
                        Transfer("send", rank, ranks[place + 1], sent, stream=f"{name}_{rank}", after=(done,))
                    )
                    received = (done + 1,)

    def queue(self, rank: int) -> tuple[int, ...]:
        warm_up = min(self.stages - rank, self.batches)
        queue = [self.forward[rank, batch] for batch in range(warm_up)]
        for batch in range(self.batches):
            queue.append(self.backward[rank, batch])
            if batch + warm_up < self.batches:
                queue.append(self.forward[rank, batch + warm_up])
        return tuple(queue)

    def run(self, topology: Topology) -> Timeline:
        queues = {(rank, "compute"): self.queue(rank) for rank in range(self.stages)}
        return run(topology, self.operations, queues=queues)


class TestPipelineParallel:
    @pytest.mark.parametrize(("stages", "batches"), [(1, 3), (2, 2), (4, 4), (4, 8), (3, 7)])
    def test_free_transfers_leave_the_bubble(self, stages: int, batches: int) -> None:
        """Narayanan et al. 2021, section 2.2: (m + p - 1)(t_f + t_b)."""
        made = OneForwardOneBackward(stages, batches, 0.010, 0.020, sent_bytes=0).run(cluster(stages, 1))
        assert made.iteration_s == pytest.approx((batches + stages - 1) * 0.030, rel=1e-9)

    def test_one_micro_batch_pays_every_hop(self) -> None:
        stages, hop_s = 4, 0.005
        made = OneForwardOneBackward(stages, 1, 0.010, 0.020, sent_bytes=5 * 10**6).run(cluster(stages, 1))
        assert made.iteration_s == pytest.approx(stages * 0.030 + 2 * (stages - 1) * hop_s, rel=1e-9)

    def test_no_stage_holds_more_activations_than_its_depth(self) -> None:
        """The point of 1F1B against GPipe: at most p - s micro-batches are under way on stage s."""
        pipeline = OneForwardOneBackward(4, 8, 0.010, 0.020, sent_bytes=1000)
        made = pipeline.run(cluster(4, 1))
        for rank in range(4):
            begun_s = np.sort([made.start_s[pipeline.forward[rank, batch], rank] for batch in range(8)])
            done_s = np.sort([made.end_s[pipeline.backward[rank, batch], rank] for batch in range(8)])
            held = [k + 1 - np.searchsorted(done_s, at_s, side="right") for k, at_s in enumerate(begun_s)]
            assert max(held) == 4 - rank

    def test_a_receiver_posted_early_waits_but_does_not_communicate(self) -> None:
        made = run(cluster(2, 1), [work("forward", [0], 0.5), Transfer("send", 0, 1, GIGABYTE, after=(0,))])
        assert made.wait_s[1, 1] == pytest.approx(0.5)
        assert made.communication_s() == pytest.approx(1.0)


class TestContextParallel:
    """Ring attention: keys and values travel round while each block is worked on."""

    @pytest.mark.parametrize(("compute_s", "step_s"), [(0.3, 0.3), (0.1, 0.2)])
    def test_the_longer_of_compute_and_transfer_sets_the_pace(self, compute_s: float, step_s: float) -> None:
        topology, ranks = cluster(1, 4), (0, 1, 2, 3)
        pass_on = Stage(flows(*((rank, (rank + 1) % 4, 200 * 10**6) for rank in ranks)))
        operations: list[Operation] = []
        arrived: tuple[int, ...] = ()
        for step in range(4):
            compute = len(operations)
            operations.append(work("attention", ranks, compute_s, after=arrived))
            if step < 3:
                operations.append(Collective("pass_on", ranks, (pass_on,), after=arrived))
                arrived = (compute, compute + 1)
        assert run(topology, operations).iteration_s == pytest.approx(3 * step_s + compute_s, rel=1e-9)


class TestParameterServer:
    """Rank 0 serves; gradients come in, weights go out, through its one port."""

    def synchronous(self, workers: int, worker_s: float) -> Timeline:
        topology, everyone = cluster(workers + 1, 1), tuple(range(workers + 1))
        push = Stage(flows(*((worker, 0, GIGABYTE) for worker in everyone[1:])))
        pull = Stage(flows(*((0, worker, GIGABYTE) for worker in everyone[1:])))
        return run(
            topology,
            [
                work("gradients", everyone[1:], worker_s),
                Collective("push", everyone, (push,), after=(0,)),
                work("update", [0], 0.25, after=(1,)),
                Collective("pull", everyone, (pull,), after=(2,)),
            ],
        )

    @pytest.mark.parametrize("workers", [1, 2, 4, 8])
    def test_the_servers_port_is_the_bottleneck(self, workers: int) -> None:
        assert self.synchronous(workers, 2.0).iteration_s == pytest.approx(
            2.0 + workers + 0.25 + workers, rel=1e-9
        )

    def test_asynchronous_workers_do_not_wait_for_each_other(self) -> None:
        """Worker 1 is done at 1 s and has the port to itself; worker 2 comes at 4 s."""
        made = run(
            cluster(3, 1),
            [
                Compute("gradients", (1, 2), np.array([1.0, 4.0])),
                Transfer("push", 1, 0, GIGABYTE, stream="push_1", after=(0,)),
                Transfer("push", 2, 0, GIGABYTE, stream="push_2", after=(0,)),
            ],
        )
        assert made.end_s[1, 0] == pytest.approx(2.0)
        assert made.end_s[2, 0] == pytest.approx(5.0)

    def test_asynchronous_pushes_at_once_share_the_port(self) -> None:
        """At 1 s the first has 1 GB left; sharing begins when the second comes at 1.5 s with 0.5 GB to go."""
        made = run(
            cluster(3, 1),
            [
                Compute("gradients", (1, 2), np.array([1.0, 1.5])),
                Transfer("push", 1, 0, GIGABYTE, stream="push_1", after=(0,)),
                Transfer("push", 2, 0, GIGABYTE, stream="push_2", after=(0,)),
            ],
        )
        assert made.end_s[1, 0] == pytest.approx(2.5)
        assert made.end_s[2, 0] == pytest.approx(3.0)


class TestDataParallel:
    def test_compression_pays_when_it_saves_more_than_it_takes(self) -> None:
        topology, ranks = cluster(4, 1), (0, 1, 2, 3)
        plain = run(topology, [Collective("all_reduce", ranks, all_reduce(topology, ranks, GIGABYTE))])
        tenth = Collective("all_reduce", ranks, all_reduce(topology, ranks, GIGABYTE // 10), after=(0,))
        packed = run(topology, [work("compress", ranks, 0.2), tenth, work("unpack", ranks, 0.1, after=(1,))])
        assert plain.iteration_s == pytest.approx(1.5, rel=1e-9)
        assert packed.iteration_s == pytest.approx(0.2 + 0.15 + 0.1, rel=1e-9)

    def test_latency_of_a_ring_counts_every_step(self) -> None:
        topology, ranks = cluster(4, 1, latency_s=1e-3), (0, 1, 2, 3)
        made = run(topology, [Collective("all_reduce", ranks, all_reduce(topology, ranks, GIGABYTE))])
        assert made.iteration_s == pytest.approx(1.5 + 6e-3, rel=1e-9)
