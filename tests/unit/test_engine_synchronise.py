"""Bringing copies together: bytes that each rank sends, against closed forms and small cases by hand."""

from typing import Literal

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.collectives.stage import Stage
from simulator.engine.synchronise import exchange_matrix, overlap_bytes, synchronisation_stages
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology
from simulator.traffic.synchronisation import Synchronisation

FLAT, HIERARCHICAL = Execution(sync_algorithm="flat"), Execution(sync_algorithm="hierarchical")


def cluster(islands: int, gpus_per_island: int) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=gpus_per_island, scale_up_bytes_per_s=100e9, nic_bytes_per_s=10e9
    )


def replicas(
    topology: Topology,
    chunk_bytes: list[int],
    mode: Literal["dense", "sparse"] = "dense",
    pooled_bytes: list[int] | None = None,
) -> Synchronisation:
    """Whole copies, one a rank."""
    return Synchronisation(
        Tier.REPLICATED,
        mode,
        tuple((rank,) for rank in range(topology.world_size)),
        tuple(np.array([size]) for size in chunk_bytes),
        None if pooled_bytes is None else np.array(pooled_bytes),
    )


def island_copies(
    topology: Topology, chunk_bytes: list[list[int]], mode: Literal["dense", "sparse"] = "dense"
) -> Synchronisation:
    return Synchronisation(
        Tier.ISLAND, mode, topology.islands, tuple(np.array(chunks) for chunks in chunk_bytes)
    )


def sent_bytes(topology: Topology, stages: tuple[Stage, ...], *, between_islands: bool) -> IntArray:
    """[world_size] bytes that each rank sends inside its island or to others, over all stages."""
    sent = np.zeros(topology.world_size, dtype=np.int64)
    for stage in stages:
        island_of = topology.island_of
        crosses = island_of[stage.flows.sources] != island_of[stage.flows.destinations]
        chosen = crosses == between_islands
        np.add.at(sent, stage.flows.sources[chosen], stage.flows.bytes[chosen])
    return sent


class TestDense:
    @pytest.mark.parametrize(("islands", "size"), [(2, 2), (4, 8), (3, 4)])
    def test_hierarchical_replicas_cost_the_nic_2_n_minus_1_over_n_over_l(
        self, islands: int, size: int
    ) -> None:
        topology = cluster(islands, size)
        table_bytes = 240 * islands * size
        stages = synchronisation_stages(
            topology, replicas(topology, [table_bytes] * topology.world_size), HIERARCHICAL
        )
        np.testing.assert_array_equal(
            sent_bytes(topology, stages, between_islands=True),
            2 * (islands - 1) * table_bytes // (islands * size),
        )
        np.testing.assert_array_equal(
            sent_bytes(topology, stages, between_islands=False), 2 * (size - 1) * table_bytes // size
        )

    @pytest.mark.parametrize(("islands", "size"), [(2, 2), (4, 8), (3, 4)])
    def test_island_rows_cost_the_nic_the_same_as_replicated_ones(self, islands: int, size: int) -> None:
        topology = cluster(islands, size)
        table_bytes = 240 * islands * size
        entry = island_copies(topology, [[table_bytes // size] * size] * islands)
        stages = synchronisation_stages(topology, entry, HIERARCHICAL)
        np.testing.assert_array_equal(
            sent_bytes(topology, stages, between_islands=True),
            2 * (islands - 1) * table_bytes // (islands * size),
        )
        assert not sent_bytes(topology, stages, between_islands=False).any()

    def test_flat_replicas_are_one_stage_of_rings_over_all_ranks(self) -> None:
        topology = cluster(2, 4)
        stages = synchronisation_stages(topology, replicas(topology, [800] * 8), FLAT)
        assert len(stages) == 1
        assert stages[0].flows.bytes.sum() == 2 * 7 * 800

    def test_islands_of_unequal_size_sum_every_byte(self) -> None:
        topology = cluster(2, 3)
        entry = Synchronisation(
            Tier.GROUP, "dense", ((0, 1), (2, 3, 4, 5)), (np.array([40, 40]), np.array([20, 20, 20, 20]))
        )
        stages = synchronisation_stages(topology, entry, HIERARCHICAL)
        assert sum(int(stage.flows.bytes.sum()) for stage in stages) == 2 * 80


class TestSparse:
    def test_flat_replicas_pass_everything_to_everybody(self) -> None:
        topology = cluster(2, 2)
        touched = [10, 20, 30, 40]
        stages = synchronisation_stages(topology, replicas(topology, touched, "sparse"), FLAT)
        assert sum(int(stage.flows.bytes.sum()) for stage in stages) == 3 * sum(touched)

    def test_hierarchical_replicas_add_up_within_islands_first(self) -> None:
        topology = cluster(2, 2)
        entry = replicas(topology, [100, 60, 80, 40], "sparse", pooled_bytes=[120, 90])
        within, *gather = synchronisation_stages(topology, entry, HIERARCHICAL)
        pairs = zip(within.flows.sources.tolist(), within.flows.destinations.tolist(), strict=True)
        assert dict(zip(pairs, within.flows.bytes.tolist(), strict=True)) == {
            (0, 1): 50,
            (1, 0): 30,
            (2, 3): 40,
            (3, 2): 20,
        }
        # Each rank holds half of what its island touched: 60, 60, 45, 45. They cross once and spread within.
        np.testing.assert_array_equal(
            sent_bytes(topology, tuple(gather), between_islands=True), [60, 60, 45, 45]
        )
        np.testing.assert_array_equal(sent_bytes(topology, tuple(gather), between_islands=False), [105] * 4)

    def test_an_island_that_pools_equal_rows_sends_fewer_bytes_between_islands(self) -> None:
        topology = cluster(4, 4)
        entry = replicas(topology, [1600] * 16, "sparse", pooled_bytes=[1600] * 4)
        crossing = [
            int(
                sent_bytes(
                    topology, synchronisation_stages(topology, entry, execution), between_islands=True
                ).sum()
            )
            for execution in (HIERARCHICAL, FLAT)
        ]
        assert crossing[0] == 4 * 3 * 1600
        assert crossing[1] > 3 * crossing[0]

    def test_island_copies_exchange_between_equal_places(self) -> None:
        topology = cluster(3, 2)
        entry = island_copies(topology, [[10, 1], [20, 2], [30, 3]], "sparse")
        matrix = exchange_matrix(6, entry)
        np.testing.assert_array_equal(
            matrix,
            [
                [0, 0, 10, 0, 10, 0],
                [0, 0, 0, 1, 0, 1],
                [20, 0, 0, 0, 20, 0],
                [0, 2, 0, 0, 0, 2],
                [30, 0, 30, 0, 0, 0],
                [0, 3, 0, 3, 0, 0],
            ],
        )
        (stage,) = synchronisation_stages(topology, entry, HIERARCHICAL)
        assert stage.flows.bytes.sum() == matrix.sum()

    def test_copies_of_unequal_size_exchange_where_their_rows_overlap(self) -> None:
        entry = Synchronisation(
            Tier.ISLAND, "sparse", ((0, 1), (2, 3, 4)), (np.array([60, 6]), np.array([9, 8, 7]))
        )
        np.testing.assert_array_equal(
            exchange_matrix(5, entry),
            [
                [0, 0, 40, 20, 0],
                [0, 0, 0, 2, 4],
                [9, 0, 0, 0, 0],
                [4, 4, 0, 0, 0],
                [0, 7, 0, 0, 0],
            ],
        )


class TestNothingToDo:
    def test_one_copy(self) -> None:
        topology = cluster(1, 4)
        assert synchronisation_stages(topology, island_copies(topology, [[1, 2, 3, 4]]), HIERARCHICAL) == ()

    @pytest.mark.parametrize("execution", [FLAT, HIERARCHICAL])
    @pytest.mark.parametrize("mode", ["dense", "sparse"])
    def test_no_bytes(self, execution: Execution, mode: Literal["dense", "sparse"]) -> None:
        topology = cluster(2, 2)
        assert synchronisation_stages(topology, replicas(topology, [0] * 4, mode), execution) == ()
        assert (
            synchronisation_stages(topology, island_copies(topology, [[0, 0], [0, 0]], mode), execution) == ()
        )


class TestOverlap:
    @pytest.mark.parametrize("owners", [1, 2, 3, 7, 8])
    @pytest.mark.parametrize("shards", [1, 2, 3, 5, 8])
    def test_every_chunk_is_divided_exactly(self, owners: int, shards: int) -> None:
        chunk_bytes = np.arange(owners) * 997 + 13
        parts = overlap_bytes(chunk_bytes, shards)
        assert parts.shape == (owners, shards)
        assert (parts >= 0).all()
        np.testing.assert_array_equal(parts.sum(axis=1), chunk_bytes)

    def test_equal_shards_keep_their_chunks(self) -> None:
        np.testing.assert_array_equal(overlap_bytes(np.array([5, 6, 7]), 3), np.diag([5, 6, 7]))

    def test_large_chunks_stay_exact(self) -> None:
        parts = overlap_bytes(np.array([2**50 + 1]), 512)
        assert parts.sum() == 2**50 + 1
        assert np.ptp(parts) <= 1
