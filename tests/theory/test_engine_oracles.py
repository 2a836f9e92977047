"""Values worked out by hand that a replayed iteration must give. Ranks send over real (fluid, exact) ports."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.collectives.all_to_all import all_to_all
from simulator.engine.iteration import iteration_program
from simulator.engine.program import Collective, Operation, Program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.network.flows import Flows
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Startup, Topology
from simulator.traffic.phase import Phase, Step

ISLANDS, SIZE = 2, 2
WORLD = ISLANDS * SIZE
NVLINK_BYTES_PER_S, NIC_BYTES_PER_S = 100e9, 10e9
EVERYONE = (tuple(range(WORLD)),)


def small() -> Topology:
    return uniform_topology(
        islands=ISLANDS,
        gpus_per_island=SIZE,
        scale_up_bytes_per_s=NVLINK_BYTES_PER_S,
        nic_bytes_per_s=NIC_BYTES_PER_S,
    )


def between_islands(pair_bytes: int) -> IntArray:
    """Every rank sends to every rank of the other island: 2 * pair_bytes through each NIC, nothing on NVLink."""
    island_of = np.arange(WORLD) // SIZE
    return np.where(island_of[:, None] != island_of, pair_bytes, 0).astype(np.int64)


def inside_islands(pair_bytes: int) -> IntArray:
    """Every rank sends to its mate."""
    island_of = np.arange(WORLD) // SIZE
    matrix = np.where(island_of[:, None] == island_of, pair_bytes, 0).astype(np.int64)
    np.fill_diagonal(matrix, 0)
    return matrix


def global_phase(step: Step, seconds: float) -> Phase:
    """An all-to-all that fills every NIC for `seconds`."""
    return Phase(step, Tier.GLOBAL, EVERYONE, between_islands(round(seconds * NIC_BYTES_PER_S / SIZE)))


def island_phase(step: Step, seconds: float) -> Phase:
    """An all-to-all that fills every scale-up port for `seconds`."""
    return Phase(step, Tier.ISLAND, small().islands, inside_islands(round(seconds * NVLINK_BYTES_PER_S)))


def iterate(
    *phases: Phase,
    topology: Topology | None = None,
    forward_s: float = 0.0,
    backward_s: float = 0.0,
    parameters: int = 0,
    gather_s: float = 0.0,
    **switches: Any,
) -> Timeline:
    topology = topology or small()
    traffic: Any = SimpleNamespace(
        phases=phases,
        sync=(),
        gather_bytes=np.full(WORLD, gather_s * topology.hbm_bandwidth_bytes_per_s).astype(np.int64),
        host_gather_bytes=np.zeros(WORLD, dtype=np.int64),
    )
    dense = SimpleNamespace(
        forward_s=forward_s, backward_s=backward_s, parameters=parameters, gradient_bytes=4
    )
    workload: Any = SimpleNamespace(dense=dense)
    program = iteration_program(traffic, workload, topology, Execution(**switches))
    return replay(program, topology, tolerance=None)


def seconds(value: float) -> Any:
    return pytest.approx(value, rel=1e-9)


class TestIteration:
    def test_an_iteration_is_the_sum_of_its_steps(self) -> None:
        made = iterate(
            global_phase("ids", 0.001),
            global_phase("embeddings", 0.010),
            global_phase("gradients", 0.020),
            gather_s=0.002,
            forward_s=0.003,
            backward_s=0.006,
        )
        assert made.iteration_s == seconds(0.042)
        assert made.communication_s() == seconds(0.031)
        assert (np.nan_to_num(made.wait_s) == 0).all()

    def test_bytes_reach_the_ports(self) -> None:
        topology = small()
        made = iterate(global_phase("embeddings", 0.010), topology=topology)
        nics = [k for k, name in enumerate(topology.resources.names) if name.startswith("nic/")]
        np.testing.assert_array_equal(made.resource_bytes[nics], 10**8)


class TestTiers:
    steps = (island_phase("embeddings", 0.004), global_phase("embeddings", 0.010))

    def test_serial_is_the_sum(self) -> None:
        assert iterate(*self.steps, tiers="serial").communication_s() == seconds(0.014)

    def test_concurrent_is_the_longer_where_they_share_nothing(self) -> None:
        assert iterate(*self.steps, tiers="concurrent").communication_s() == seconds(0.010)

    @pytest.mark.parametrize("shared_stream", [True, False])
    def test_concurrent_does_not_depend_on_the_shared_stream(self, shared_stream: bool) -> None:
        made = iterate(*self.steps, tiers="concurrent", shared_stream=shared_stream)
        assert made.iteration_s == seconds(0.010)

    def test_dense_compute_waits_for_both(self) -> None:
        made = iterate(*self.steps, tiers="concurrent", forward_s=0.003)
        assert made.iteration_s == seconds(0.013)

    def test_concurrent_tiers_that_share_a_port_are_slower_than_the_longer(self) -> None:
        """Both fill NVLink for 4 ms, so that neither can be done before 8 ms."""
        whole = inside_islands(round(0.004 * NVLINK_BYTES_PER_S))
        steps = (island_phase("embeddings", 0.004), Phase("embeddings", Tier.GLOBAL, EVERYONE, whole))
        assert iterate(*steps, tiers="concurrent").communication_s() == seconds(0.008)


class TestIdealSplit:
    """DESIGN section 5: 85 % of the global all-to-all moves into islands, A100 figures, 16 islands of 8.

    Global bytes B a rank leave the island by (N - 1) / N, at 24 GB/s; island bytes leave the rank by
    (L - 1) / L, at 210 GB/s. Baseline B (N-1)/N / 24. Serial: .15 of that plus .85 B (L-1)/L / 210, which is
    4.155 times faster. Concurrent: the longer of the two, 1 / .15 = 6.67 times.
    """

    islands, size, rank_bytes = 16, 8, 128_000_000

    def topology(self) -> Topology:
        return uniform_topology(
            islands=self.islands, gpus_per_island=self.size, scale_up_bytes_per_s=210e9, nic_bytes_per_s=24e9
        )

    def time_s(self, global_share: float, *, concurrent: bool) -> float:
        topology = self.topology()
        world_size = topology.world_size
        even = np.full((world_size, world_size), round(global_share * self.rank_bytes / world_size))
        operations: list[Operation] = [
            Collective("global", tuple(range(world_size)), all_to_all(topology, even), stream="global")
        ]
        island_bytes = round((1 - global_share) * self.rank_bytes / self.size)
        for island in topology.islands if island_bytes else ():
            matrix = np.full((world_size, world_size), island_bytes)
            stages = all_to_all(topology, matrix, ranks=island)
            operations.append(
                Collective("island", island, stages, stream="island" if concurrent else "global")
            )
        return replay(Program(world_size, tuple(operations)), topology, tolerance=None).communication_s()

    def test_the_baseline_is_bytes_over_bus_bandwidth(self) -> None:
        assert self.time_s(1.0, concurrent=False) == seconds(15 / 16 * self.rank_bytes / 24e9)

    def test_serial(self) -> None:
        speed_up = self.time_s(1.0, concurrent=False) / self.time_s(0.15, concurrent=False)
        expected = (15 / 16 / 24) / (0.15 * 15 / 16 / 24 + 0.85 * 7 / 8 / 210)
        assert speed_up == seconds(expected)
        assert speed_up == pytest.approx(4.2, rel=0.02)

    def test_concurrent(self) -> None:
        speed_up = self.time_s(1.0, concurrent=True) / self.time_s(0.15, concurrent=True)
        assert speed_up == seconds(1 / 0.15)


class TestPipelining:
    steps = (
        global_phase("ids", 0.002),
        global_phase("embeddings", 0.010),
        global_phase("gradients", 0.010),
    )

    @pytest.mark.parametrize("shared_stream", [True, False])
    def test_it_saves_exactly_the_ids_when_dense_compute_hides_them(self, shared_stream: bool) -> None:
        timings = {
            pipelining: iterate(
                *self.steps,
                forward_s=0.001,
                backward_s=0.004,
                pipelining=pipelining,
                shared_stream=shared_stream,
            ).iteration_s
            for pipelining in (False, True)
        }
        assert timings[False] == seconds(0.027)
        assert timings[False] - timings[True] == pytest.approx(0.002, rel=1e-9)

    def test_it_saves_nothing_when_there_is_nothing_to_hide_behind(self) -> None:
        assert iterate(*self.steps, pipelining=True).iteration_s == seconds(0.022)

    def test_what_dense_compute_cannot_hide_delays_the_gradients(self) -> None:
        made = iterate(*self.steps, forward_s=0.0005, backward_s=0.001, pipelining=True)
        assert made.iteration_s == seconds(0.010 + 0.002 + 0.010)

    def test_hidden_ids_are_communication_all_the_same(self) -> None:
        made = iterate(*self.steps, forward_s=0.001, backward_s=0.004, pipelining=True)
        assert made.communication_s() == seconds(0.022)


class TestDenseOverlap:
    """An all-reduce of G bytes over 4 ranks, hierarchical: on NVLink 2 * (1/2) G / 100, on the NIC (1/2) G / 10
    GB/s, one stage after another."""

    parameters = 20 * 2**20  # 80 MiB of gradients: four buckets of 20 MiB
    gradient_bytes = 4 * parameters

    def all_reduce_s(self, size_bytes: float) -> float:
        return size_bytes / NVLINK_BYTES_PER_S + size_bytes / 2 / NIC_BYTES_PER_S

    def test_on_a_shared_stream_it_follows_the_backward_pass(self) -> None:
        made = iterate(parameters=self.parameters, forward_s=0.1, backward_s=0.2)
        assert made.iteration_s == seconds(0.3 + self.all_reduce_s(self.gradient_bytes))

    def test_on_a_stream_of_its_own_only_the_last_bucket_shows(self) -> None:
        made = iterate(parameters=self.parameters, forward_s=0.1, backward_s=0.2, shared_stream=False)
        assert made.iteration_s == seconds(0.3 + self.all_reduce_s(self.gradient_bytes / 4))

    def test_a_short_backward_pass_hides_little(self) -> None:
        """The first bucket is there after a quarter of the backward pass; from then on the stream never rests."""
        made = iterate(parameters=self.parameters, backward_s=0.0004, shared_stream=False)
        assert made.iteration_s == seconds(0.0001 + self.all_reduce_s(self.gradient_bytes))

    def test_compute_and_communication_go_on_at_once(self) -> None:
        made = iterate(parameters=self.parameters, forward_s=0.1, backward_s=0.2, shared_stream=False)
        (first, *_), (_, *later) = (made.operations_named(name) for name in ("dense_sync", "dense_backward"))
        assert made.start_s[first, 0] < made.end_s[later[0], 0]
        assert made.end_s[first, 0] > made.start_s[later[0], 0]


class TestStraggler:
    steps = (global_phase("embeddings", 0.010), global_phase("gradients", 0.010))

    def test_the_others_wait_and_transfer_as_before(self) -> None:
        late_s = np.array([0, 0, 0.005, 0])
        punctual = iterate(*self.steps, forward_s=0.001)
        late = iterate(*self.steps, forward_s=0.001, topology=replace(small(), late_s=late_s))
        (embeddings,) = late.operations_named("embeddings_global")
        (gradients,) = late.operations_named("gradients_global")
        np.testing.assert_allclose(late.wait_s[embeddings], [0.005, 0.005, 0, 0.005], rtol=1e-9)
        np.testing.assert_allclose(late.wait_s[gradients], 0, atol=1e-15)
        np.testing.assert_allclose(late.transfer_s, punctual.transfer_s, rtol=1e-9, atol=1e-15)
        assert late.iteration_s == seconds(punctual.iteration_s + 0.005)
        assert late.communication_s() == seconds(punctual.communication_s() + 0.005)

    def test_a_slow_rank_shows_as_waiting_of_the_others(self) -> None:
        slow = replace(small(), compute_factor=np.array([1, 1, 1, 0.5]))
        made = iterate(*self.steps, forward_s=0.001, backward_s=0.002, topology=slow)
        (gradients,) = made.operations_named("gradients_global")
        np.testing.assert_allclose(made.wait_s[gradients], [0.003, 0.003, 0.003, 0], rtol=1e-9, atol=1e-15)
        assert made.iteration_s == seconds(0.026)


class TestStartup:
    def test_it_is_paid_before_bytes_flow_and_counts_as_transfer(self) -> None:
        topology = replace(small(), scale_out_startup=Startup(alpha_s=0.001))
        made = iterate(global_phase("embeddings", 0.010), topology=topology)
        assert made.iteration_s == seconds(0.011)
        assert (np.nan_to_num(made.wait_s) == 0).all()


class TestEngines:
    @pytest.mark.parametrize("engine", ["fluid", "bound"])
    def test_even_traffic_takes_its_bound_in_either(self, engine: Literal["fluid", "bound"]) -> None:
        matrix = between_islands(10**8)
        stages = all_to_all(small(), matrix)
        program = Program(WORLD, (Collective("exchange", EVERYONE[0], stages),))
        made = replay(program, small(), engine=engine)
        assert made.iteration_s == seconds(0.02)
        assert len(Flows.from_matrix(matrix)) == 8

    def test_bound_is_never_above_fluid(self) -> None:
        rng = np.random.default_rng(3)
        matrix = rng.lognormal(0, 1, (WORLD, WORLD)) * 1e6
        program = Program(
            WORLD, (Collective("exchange", EVERYONE[0], all_to_all(small(), matrix.astype(np.int64))),)
        )
        bound, fluid = (
            replay(program, small(), engine="bound"),
            replay(program, small(), engine="fluid", tolerance=None),
        )
        assert bound.iteration_s <= fluid.iteration_s * (1 + 1e-12)
