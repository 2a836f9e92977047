"""The program of one iteration: which operations, on which streams, after which."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.engine.check import check_program
from simulator.engine.iteration import DENSE_BUCKET_BYTES, bucket_count, iteration_program
from simulator.engine.program import Collective, Compute, Program
from simulator.network.flows import Flows
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Startup, Topology
from simulator.traffic.phase import Phase, Step
from simulator.traffic.synchronisation import Synchronisation

STEPS: tuple[Step, ...] = ("ids", "embeddings", "gradients")


def cluster(islands: int = 2, gpus_per_island: int = 2) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=gpus_per_island, scale_up_bytes_per_s=100.0, nic_bytes_per_s=10.0
    )


def even_matrix(topology: Topology, groups: tuple[tuple[int, ...], ...], pair_bytes: int) -> IntArray:
    matrix = np.zeros((topology.world_size, topology.world_size), dtype=np.int64)
    for group in groups:
        matrix[np.ix_(group, group)] = pair_bytes
    return matrix


def phase(topology: Topology, step: Step, tier: Tier, pair_bytes: int = 8) -> Phase:
    everyone = (tuple(range(topology.world_size)),)
    groups = topology.islands if tier is Tier.ISLAND else everyone
    return Phase(step, tier, groups, even_matrix(topology, groups, pair_bytes))


def synchronisations(topology: Topology) -> tuple[Synchronisation, ...]:
    singles = tuple((rank,) for rank in range(topology.world_size))
    sizes = [len(island) for island in topology.islands]
    return (
        Synchronisation(Tier.REPLICATED, "dense", singles, (np.array([64]),) * len(singles)),
        Synchronisation(
            Tier.ISLAND, "dense", topology.islands, tuple(np.full(size, 64 // size) for size in sizes)
        ),
    )


def traffic(topology: Topology, *tiers: Tier, sync: bool = False) -> Any:
    return SimpleNamespace(
        phases=tuple(phase(topology, step, tier) for step in STEPS for tier in tiers),
        sync=synchronisations(topology) if sync else (),
        gather_bytes=np.arange(topology.world_size) * 1000,
        host_gather_bytes=np.zeros(topology.world_size, dtype=np.int64),
    )


def workload(*, parameters: int = 0, backward_s: float = 6.0) -> Any:
    dense = SimpleNamespace(forward_s=3.0, backward_s=backward_s, parameters=parameters, gradient_bytes=4)
    return SimpleNamespace(dense=dense)


def written(
    *tiers: Tier, topology: Topology | None = None, sync: bool = False, parameters: int = 0, **switches: Any
) -> Program:
    chosen = topology or cluster()
    program = iteration_program(
        traffic(chosen, *tiers, sync=sync), workload(parameters=parameters), chosen, Execution(**switches)
    )
    check_program(program)
    return program


def names(program: Program, stream: str | None = None) -> list[str]:
    """Names in order, the groups of a phase once."""
    return list(dict.fromkeys(op.name for op in program.operations if stream in (None, op.stream)))


def needs(program: Program, name: str) -> set[str]:
    """Names of the operations that those called `name` wait for explicitly."""
    return {
        program.operations[index].name for op in program.operations if op.name == name for index in op.after
    }


class TestOrder:
    def test_the_steps_of_an_iteration(self) -> None:
        assert names(written(Tier.GLOBAL, Tier.ISLAND, sync=True, parameters=10)) == [
            "ids_island",
            "ids_global",
            "gather",
            "embeddings_island",
            "embeddings_global",
            "dense_forward",
            "dense_backward",
            "gradients_island",
            "gradients_global",
            "replica_sync_replicated",
            "replica_sync_island",
            "dense_sync",
        ]

    def test_what_waits_for_what(self) -> None:
        program = written(Tier.ISLAND, Tier.GLOBAL, sync=True, parameters=10)
        assert needs(program, "ids_global") == set()
        assert needs(program, "gather") == {"ids_island", "ids_global"}
        assert needs(program, "embeddings_island") == {"gather"}
        assert needs(program, "embeddings_global") == {"gather"}
        assert needs(program, "dense_forward") == {"embeddings_island", "embeddings_global"}
        assert needs(program, "gradients_global") == {"dense_backward"}
        assert needs(program, "replica_sync_replicated") == {"dense_backward"}
        assert needs(program, "replica_sync_island") == {"dense_backward", "gradients_island"}
        assert needs(program, "dense_sync") == {"dense_backward"}

    def test_a_group_waits_only_for_operations_with_its_own_ranks(self) -> None:
        program = written(Tier.ISLAND, pipelining=True)
        for operation in program.operations:
            for index in operation.after:
                assert set(operation.ranks) & set(program.operations[index].ranks)

    def test_a_plan_that_replicates_everything_exchanges_nothing(self) -> None:
        assert names(written()) == ["gather", "dense_forward", "dense_backward"]

    def test_serial_tiers_run_the_island_first_whatever_the_order_of_the_phases(self) -> None:
        for tiers in ((Tier.ISLAND, Tier.GROUP, Tier.GLOBAL), (Tier.GLOBAL, Tier.GROUP, Tier.ISLAND)):
            assert names(written(*tiers), "communication")[:3] == ["ids_island", "ids_group", "ids_global"]


class TestOperations:
    def test_each_group_has_its_own_collective_with_its_own_bytes(self) -> None:
        topology = cluster(3, 2)
        program = written(Tier.ISLAND, topology=topology)
        groups = [op for op in program.operations if op.name == "embeddings_island"]
        assert [op.ranks for op in groups] == list(topology.islands)
        for operation in groups:
            assert isinstance(operation, Collective)
            (stage,) = operation.stages
            assert set(stage.flows.sources.tolist()) == set(operation.ranks)
            assert stage.flows.bytes.tolist() == [8, 8]

    def test_bytes_of_a_phase_are_conserved(self) -> None:
        topology = cluster(2, 3)
        rng = np.random.default_rng(0)
        matrix = rng.integers(0, 100, (6, 6))
        drawn = traffic(topology)
        drawn.phases = (Phase("embeddings", Tier.GLOBAL, (tuple(range(6)),), matrix),)
        (operation,) = [
            op
            for op in iteration_program(drawn, workload(), topology, Execution()).operations
            if isinstance(op, Collective)
        ]
        moved = np.zeros_like(matrix)
        flows = operation.stages[0].flows
        moved[flows.sources, flows.destinations] = flows.bytes
        np.testing.assert_array_equal(moved, matrix - np.diag(np.diag(matrix)))

    def test_a_group_of_one_rank_has_no_collective(self) -> None:
        assert names(written(Tier.ISLAND, topology=cluster(4, 1))) == [
            "gather",
            "dense_forward",
            "dense_backward",
        ]

    def test_one_rank_has_no_collective_at_all(self) -> None:
        program = written(
            Tier.ISLAND, Tier.GLOBAL, topology=cluster(1, 1), sync=True, parameters=10, pipelining=True
        )
        assert not any(isinstance(op, Collective) for op in program.operations)

    def test_a_phase_without_bytes_still_meets(self) -> None:
        topology = cluster()
        drawn = traffic(topology)
        drawn.phases = (phase(topology, "ids", Tier.GLOBAL, pair_bytes=0),)
        program = iteration_program(drawn, workload(), topology, Execution())
        (operation,) = [op for op in program.operations if isinstance(op, Collective)]
        assert operation.ranks == (0, 1, 2, 3)
        assert operation.stages == ()
        assert operation.startup_s == 0

    def test_gather_reads_memory_at_its_bandwidth(self) -> None:
        topology = cluster()
        program = written(Tier.GLOBAL, topology=topology)
        (gather,) = [op for op in program.operations if op.name == "gather"]
        assert isinstance(gather, Compute)
        np.testing.assert_allclose(
            gather.duration_s, np.arange(4) * 1000 / topology.hbm_bandwidth_bytes_per_s, rtol=1e-15
        )

    def test_dense_durations_are_those_of_the_workload(self) -> None:
        program = written(Tier.GLOBAL)
        durations_s = {op.name: op.duration_s for op in program.operations if isinstance(op, Compute)}
        np.testing.assert_array_equal(durations_s["dense_forward"], [3.0] * 4)
        np.testing.assert_array_equal(durations_s["dense_backward"], [6.0] * 4)

    def test_collectives_say_their_step_and_tier(self) -> None:
        program = written(Tier.ISLAND, Tier.GLOBAL, sync=True, parameters=10, pipelining=True)
        labels = {op.name: (op.step, op.tier) for op in program.operations if isinstance(op, Collective)}
        assert labels == {
            "next_ids_island": ("ids", "island"),
            "next_ids_global": ("ids", "global"),
            "embeddings_island": ("embeddings", "island"),
            "embeddings_global": ("embeddings", "global"),
            "gradients_island": ("gradients", "island"),
            "gradients_global": ("gradients", "global"),
            "replica_sync_replicated": ("replica_sync", "replicated"),
            "replica_sync_island": ("replica_sync", "island"),
            "dense_sync": ("dense_sync", ""),
        }

    @pytest.mark.parametrize(("algorithm", "stages"), [("direct", 1), ("rail", 2), ("hierarchical", 3)])
    def test_the_all_to_all_algorithm_is_the_executions(self, algorithm: Any, stages: int) -> None:
        program = written(Tier.GLOBAL, topology=cluster(4, 2), all_to_all=algorithm)
        counts = {len(op.stages) for op in program.operations if isinstance(op, Collective)}
        assert counts == {stages}

    @pytest.mark.parametrize(("algorithm", "calls"), [("direct", 1), ("rail", 2)])
    def test_every_stage_pays_its_startup(self, algorithm: Any, calls: int) -> None:
        topology = replace(
            cluster(2, 2), scale_up_startup=Startup(alpha_s=1.0), scale_out_startup=Startup(alpha_s=1.0)
        )
        program = written(Tier.GLOBAL, topology=topology, all_to_all=algorithm)
        assert {op.startup_s for op in program.operations if isinstance(op, Collective)} == {float(calls)}

    def test_startup_is_that_of_the_tier_which_is_crossed(self) -> None:
        topology = replace(
            cluster(), scale_up_startup=Startup(alpha_s=1.0), scale_out_startup=Startup(alpha_s=5.0)
        )
        program = written(Tier.ISLAND, Tier.GLOBAL, topology=topology)
        startups_s = {op.name: op.startup_s for op in program.operations if isinstance(op, Collective)}
        assert startups_s["ids_island"] == 1.0
        assert startups_s["ids_global"] == 5.0


class TestStreams:
    everything = (Tier.ISLAND, Tier.GLOBAL)

    def streams(self, **switches: Any) -> dict[str, list[str]]:
        program = written(*self.everything, sync=True, parameters=10, **switches)
        return {stream: names(program, stream) for stream in program.streams()}

    def test_one_stream_for_all_collectives_by_default(self) -> None:
        assert set(self.streams()) == {"compute", "communication"}

    def test_concurrent_tiers_have_a_stream_for_the_island(self) -> None:
        streams = self.streams(tiers="concurrent")
        assert streams["communication_island"] == ["ids_island", "embeddings_island", "gradients_island"]
        assert streams["communication"] == [
            "ids_global",
            "embeddings_global",
            "gradients_global",
            "replica_sync_replicated",
            "replica_sync_island",
            "dense_sync",
        ]

    def test_streams_of_their_own(self) -> None:
        streams = self.streams(shared_stream=False, pipelining=True)
        assert streams["communication_replica_sync"] == ["replica_sync_replicated", "replica_sync_island"]
        assert streams["communication_dense_sync"] == ["dense_sync"]
        assert streams["communication_next_ids"] == ["next_ids_island", "next_ids_global"]
        assert streams["communication"] == [
            "embeddings_island",
            "embeddings_global",
            "gradients_island",
            "gradients_global",
        ]

    def test_both_switches_at_once(self) -> None:
        streams = self.streams(shared_stream=False, tiers="concurrent", pipelining=True)
        assert streams["communication_next_ids_island"] == ["next_ids_island"]
        assert streams["communication_next_ids"] == ["next_ids_global"]


class TestPipelining:
    def test_this_batchs_ids_are_not_in_the_program(self) -> None:
        program = written(Tier.GLOBAL, pipelining=True)
        assert names(program) == [
            "gather",
            "embeddings_global",
            "dense_forward",
            "next_ids_global",
            "dense_backward",
            "gradients_global",
        ]
        assert needs(program, "gather") == set()
        assert needs(program, "next_ids_global") == {"gather", "embeddings_global"}

    def test_the_next_batchs_own_bytes_travel(self) -> None:
        topology = cluster()
        later = (phase(topology, "ids", Tier.GLOBAL, pair_bytes=77),)
        program = iteration_program(
            traffic(topology, Tier.GLOBAL), workload(), topology, Execution(pipelining=True), next_ids=later
        )
        (ids,) = [op for op in program.operations if op.name == "next_ids_global"]
        assert isinstance(ids, Collective)
        assert set(ids.stages[0].flows.bytes.tolist()) == {77}

    def test_a_next_batch_without_ids_sends_none(self) -> None:
        topology = cluster()
        program = iteration_program(
            traffic(topology, Tier.GLOBAL), workload(), topology, Execution(pipelining=True), next_ids=()
        )
        assert "next_ids_global" not in names(program)

    def test_without_pipelining_the_next_batch_is_not_read(self) -> None:
        topology = cluster()
        later = (phase(topology, "ids", Tier.GLOBAL, pair_bytes=77),)
        program = iteration_program(
            traffic(topology, Tier.GLOBAL), workload(), topology, Execution(), next_ids=later
        )
        assert names(program) == names(written(Tier.GLOBAL))


class TestDenseSync:
    def test_one_bucket_on_a_shared_stream(self) -> None:
        program = written(parameters=20_000_000)
        assert [op.name for op in program.operations].count("dense_sync") == 1
        assert [op.name for op in program.operations].count("dense_backward") == 1

    def test_a_bucket_follows_each_slice_of_the_backward_pass(self) -> None:
        program = written(parameters=20_000_000, shared_stream=False)  # 80 MB: four buckets of at most 25 MiB
        backward = program.queue_of(0, "compute")[-4:]
        buckets = program.queue_of(0, "communication_dense_sync")
        assert [program.operations[index].after for index in buckets] == [(index,) for index in backward]
        durations_s = [program.operations[index].duration_s[0] for index in backward]  # type: ignore[union-attr]
        assert durations_s == [1.5] * 4

    def test_buckets_carry_all_bytes_together(self) -> None:
        def moved(**switches: Any) -> int:
            program = written(parameters=20_000_001, **switches)
            return sum(
                int(stage.flows.bytes.sum())
                for op in program.operations
                if isinstance(op, Collective)
                for stage in op.stages
            )

        assert moved(shared_stream=False) == pytest.approx(moved(), abs=64)

    def test_embedding_gradients_wait_for_the_last_slice(self) -> None:
        program = written(Tier.GLOBAL, parameters=20_000_000, shared_stream=False)
        (gradients,) = [op for op in program.operations if op.name == "gradients_global"]
        assert gradients.after == (program.queue_of(0, "compute")[-1],)

    def test_replicas_wait_for_the_last_slice(self) -> None:
        program = written(sync=True, parameters=20_000_000, shared_stream=False)
        (replicas,) = [op for op in program.operations if op.name == "replica_sync_replicated"]
        assert replicas.after == (program.queue_of(0, "compute")[-1],)

    @pytest.mark.parametrize(
        ("dense_bytes", "buckets"),
        [
            (0, 1),
            (1, 1),
            (DENSE_BUCKET_BYTES, 1),
            (DENSE_BUCKET_BYTES + 1, 2),
            (16 * DENSE_BUCKET_BYTES, 16),
            (10**12, 16),
        ],
    )
    def test_buckets(self, dense_bytes: int, buckets: int) -> None:
        assert bucket_count(dense_bytes) == buckets

    @pytest.mark.parametrize(("algorithm", "stages"), [("flat", 1), ("hierarchical", 3)])
    def test_it_follows_the_sync_algorithm(self, algorithm: Any, stages: int) -> None:
        program = written(parameters=100, topology=cluster(2, 4), sync_algorithm=algorithm)
        (dense,) = [op for op in program.operations if op.name == "dense_sync"]
        assert isinstance(dense, Collective)
        assert len(dense.stages) == stages
        assert all(isinstance(stage.flows, Flows) for stage in dense.stages)
