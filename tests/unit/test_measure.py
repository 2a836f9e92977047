"""Figures of an iteration against figures worked out by hand, on two islands of two ranks.

Ports of 100 B/s inside an island and 10 B/s between islands, memory of 1,000 B/s, no latency: small whole numbers.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.engine.iteration import iteration_program
from simulator.engine.replay import replay
from simulator.experiment.spec import Engine
from simulator.metrics.bounds import collective_bounds
from simulator.metrics.measure import Egress, embeddings_imbalance, global_all_to_all_bytes, measure
from simulator.metrics.records import IterationRecord, PhaseRecord
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.traffic.phase import Phase
from simulator.traffic.synchronisation import Synchronisation
from simulator.traffic.traffic import Traffic
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec

TOPOLOGY = build_topology(
    TopologySpec.model_validate(
        {
            "name": "two by two",
            "islands": 2,
            "gpus_per_island": 2,
            "gpu": {"hbm_capacity": "1 GB", "hbm_bandwidth": "1000 B/s"},
            "scale_up": {"bandwidth": "100 B/s"},
            "scale_out": {"nic_bandwidth": "10 B/s"},
        }
    )
)
ALL = ((0, 1, 2, 3),)
ISLANDS = ((0, 1), (2, 3))


def phase(step: Any, tier: Tier, groups: tuple[tuple[int, ...], ...], *flows: tuple[int, int, int]) -> Phase:
    matrix = np.zeros((4, 4), np.int64)
    for source, destination, count in flows:
        matrix[source, destination] = count
    return Phase(step, tier, groups, matrix)


# Between all ranks: 5 B stay at rank 0. Inside islands go 100 + 300 B, between them 20 + 40 + 10 B.
FLOWS = ((0, 0, 5), (0, 1, 100), (0, 2, 20), (1, 3, 40), (2, 0, 10), (3, 2, 300))
GLOBAL = phase("embeddings", Tier.GLOBAL, ALL, *FLOWS)
ISLAND = phase("embeddings", Tier.ISLAND, ISLANDS, (0, 1, 200), (2, 3, 50), (3, 3, 70))
NO_BYTES = np.zeros(4, np.int64)


def traffic(*phases: Phase, sync: tuple[Synchronisation, ...] = (), gather_bytes: Any = NO_BYTES) -> Traffic:
    return Traffic(
        phases=phases,
        sync=sync,
        gather_bytes=np.asarray(gather_bytes),
        host_gather_bytes=NO_BYTES,
        lookups_by_tier={"global": 7, "local": 1},
        hits_by_tier={"global": 8},
        distinct_by_tier={"global": 8},
    )


def record(moved: Traffic, *, engine: Engine = "fluid", **switches: Any) -> IterationRecord:
    table = {"name": "t", "rows": 4, "dim": 1, "length": 1, "popularity": {"kind": "uniform"}}
    spec = {"name": "w", "batch_per_rank": 1, "embedding_dtype": "fp16", "tables": [table]}
    workload = build_workload(WorkloadSpec.model_validate(spec), Path())
    program = iteration_program(moved, workload, TOPOLOGY, Execution.model_validate(switches))
    timeline = replay(program, TOPOLOGY, engine=engine, tolerance=None)
    bounds = collective_bounds(program, TOPOLOGY)
    return measure(timeline, moved, TOPOLOGY, bounds, policy="p", iteration=3)


@pytest.mark.parametrize("engine", ["fluid", "bound"])
class TestOnePhase:
    """Ports, bytes / rate: NIC 1 sends 40 / 10 = 4 s, scale-up 3 sends 300 / 100 = 3 s, all others take less. Rank 2
    receives 300 B over scale-up and 20 B over its NIC, which are apart. So the port bound is 4 s, of nic/1/egress,
    and the fluid time is the bound: every other port is done by then."""

    def test_bytes_by_kind(self, engine: Engine) -> None:
        [found] = record(traffic(GLOBAL), engine=engine).phases
        assert (found.phase, found.step, found.tier) == ("embeddings_global", "embeddings", Tier.GLOBAL)
        assert found.bytes == 470  # without the 5 that stay
        assert found.intra_island_bytes == 400
        assert found.inter_island_bytes == 70

    def test_times(self, engine: Engine) -> None:
        made = record(traffic(GLOBAL), engine=engine)
        [found] = made.phases
        assert (found.bound_s, found.bottleneck) == (4.0, "nic/1/egress")
        assert found.transfer_s == pytest.approx(4)
        assert (found.mean_wait_s, found.max_wait_s) == (0, 0)
        assert made.metrics.iteration_s == pytest.approx(4)
        assert made.metrics.communication_s == pytest.approx(4)
        assert made.metrics.bound_s == 4

    def test_waits(self, engine: Engine) -> None:
        """Rank 0 reads 100 B at 1,000 B/s and is 0.1 s late: three wait for it, 0.3 / 4 s in the mean. Then follow the
        same 4 s. Whoever came at 0 and is last to leave, at 4.1, communicated for 4.1 s."""
        made = record(traffic(GLOBAL, gather_bytes=[100, 0, 0, 0]), engine=engine)
        [found] = made.phases
        assert found.mean_wait_s == pytest.approx(0.075)
        assert found.max_wait_s == pytest.approx(0.1)
        assert found.transfer_s == pytest.approx(4)
        assert made.metrics.iteration_s == pytest.approx(4.1)
        assert made.metrics.communication_s == pytest.approx(4.1)
        assert made.metrics.bound_s == 4  # waiting is no part of a bound

    def test_resource_bytes_are_those_of_each_port(self, engine: Engine) -> None:
        made = record(traffic(GLOBAL), engine=engine)
        by_name = dict(zip(TOPOLOGY.resources.names, made.resource_bytes, strict=True))
        passed = {name: count for name, count in by_name.items() if count}
        assert passed == {
            "scale_up/0/egress": 100, "scale_up/1/ingress": 100, "scale_up/3/egress": 300, "scale_up/2/ingress": 300,
            "nic/0/egress": 20, "nic/2/ingress": 20, "nic/1/egress": 40, "nic/3/ingress": 40,
            "nic/2/egress": 10, "nic/0/ingress": 10,
        }  # fmt: skip

    def test_what_was_counted_elsewhere_is_handed_on(self, engine: Engine) -> None:
        made = record(traffic(GLOBAL), engine=engine)
        assert (made.policy, made.iteration) == ("p", 3)
        assert (made.lookups_by_tier, made.hits_by_tier) == ({"global": 7, "local": 1}, {"global": 8})


@pytest.mark.parametrize("engine", ["fluid", "bound"])
class TestTwoTiers:
    """The island phase has two groups side by side: 200 / 100 = 2 s in the first, 50 / 100 = 0.5 s in the second."""

    def test_groups_are_summed_and_the_slowest_is_told(self, engine: Engine) -> None:
        found = record(traffic(GLOBAL, ISLAND), engine=engine).phases[0]
        assert found.phase == "embeddings_island"  # islands go first
        assert (found.bytes, found.intra_island_bytes, found.inter_island_bytes) == (250, 250, 0)
        assert (found.bound_s, found.bottleneck) == (2.0, "scale_up/0/egress")
        assert found.transfer_s == pytest.approx(2)

    def test_one_after_another(self, engine: Engine) -> None:
        """Ranks 0 and 1: 2 + 4 s. Ranks 2 and 3 are done with their island at 0.5 s and wait 1.5 s for the global one:
        a mean of 3 / 4 s. The bound is what rank 0 has: 6 s."""
        made = record(traffic(GLOBAL, ISLAND), engine=engine)
        assert made.metrics.iteration_s == pytest.approx(6)
        assert made.metrics.communication_s == pytest.approx(6)
        assert made.metrics.bound_s == 6
        assert made.phases[1].mean_wait_s == pytest.approx(0.75)
        assert made.phases[1].max_wait_s == pytest.approx(1.5)
        assert (made.metrics.intra_island_bytes, made.metrics.inter_island_bytes) == (650, 70)

    def test_side_by_side_the_bound_is_that_of_the_longer_queue(self, engine: Engine) -> None:
        """2 s on one stream, 4 s on the other. They meet at scale-up 0, whose 300 B take 3 s: still 4 s in all."""
        made = record(traffic(GLOBAL, ISLAND), engine=engine, tiers="concurrent")
        assert made.metrics.bound_s == 4
        assert made.metrics.communication_s == pytest.approx(4)
        assert made.metrics.iteration_s == pytest.approx(4)

    def test_only_what_crosses_islands_is_global(self, engine: Engine) -> None:
        made = record(traffic(GLOBAL, ISLAND), engine=engine)
        assert made.metrics.global_all_to_all_bytes == 470

    def test_imbalance(self, engine: Engine) -> None:
        """Ranks send 120 + 200, 40, 10 + 50 and 300 B, what stays at home left out: 720 in all, 320 over 180."""
        assert record(traffic(GLOBAL, ISLAND), engine=engine).metrics.imbalance == pytest.approx(320 / 180)


class TestReplicas:
    """40 B on each of four ranks, summed by two rings of 20 B, one for each local index. In a ring of four each rank
    sends 2 x 3 / 4 of 20 B = 30 B to the next; two of its four hops cross. Both rings: 4 x 30 B between islands, 4 x
    30 B inside. Each NIC carries 30 B: 3 s."""

    SYNC = Synchronisation(Tier.REPLICATED, "dense", ((0,), (1,), (2,), (3,)), tuple(np.array([[40]] * 4)))

    def made(self, **switches: Any) -> IterationRecord:
        return record(traffic(GLOBAL, sync=(self.SYNC,)), sync_algorithm="flat", **switches)

    def test_bytes_stand_apart_and_are_part_of_the_sum(self) -> None:
        metrics = self.made().metrics
        assert metrics.replica_sync_inter_island_bytes == 120
        assert metrics.inter_island_bytes == 70 + 120
        assert metrics.intra_island_bytes == 400 + 120
        assert metrics.global_all_to_all_bytes == 470

    def test_latency_with_and_without(self) -> None:
        metrics = self.made().metrics
        assert metrics.communication_s == pytest.approx(4 + 3)
        assert metrics.communication_without_sync_s == pytest.approx(4)
        assert metrics.bound_s == pytest.approx(4 + 3)

    def test_a_sync_on_its_own_stream_overlaps(self) -> None:
        """There is nothing to wait for but gradients, of which there are none: it begins with the embeddings' end."""
        metrics = self.made(shared_stream=False).metrics
        assert metrics.bound_s == pytest.approx(4)  # the longer queue

    def test_it_is_a_phase_of_its_own(self) -> None:
        found = self.made().phases[-1]
        assert (found.phase, found.step, found.tier) == (
            "replica_sync_replicated",
            "replica_sync",
            Tier.REPLICATED,
        )
        assert (found.bytes, found.inter_island_bytes, found.intra_island_bytes) == (240, 120, 120)
        assert found.bottleneck.startswith("nic/")


class TestForwarding:
    """40 B from rank 0 to rank 3, the NIC-mate of rank 1: by rail they pass scale-up (0.4 s), then NIC 1 (4 s)."""

    CROSS = phase("embeddings", Tier.GLOBAL, ALL, (0, 3, 40))

    def test_direct(self) -> None:
        [found] = record(traffic(self.CROSS)).phases
        assert (found.bytes, found.intra_island_bytes, found.inter_island_bytes) == (40, 0, 40)
        assert (found.bound_s, found.bottleneck) == (4.0, "nic/0/egress")

    def test_what_moves_twice_is_counted_twice(self) -> None:
        made = record(traffic(self.CROSS), all_to_all="rail")
        [found] = made.phases
        assert (found.bytes, found.intra_island_bytes, found.inter_island_bytes) == (80, 40, 40)
        assert found.bound_s == pytest.approx(4.4)
        assert found.bottleneck == "nic/1/egress"
        assert found.transfer_s == pytest.approx(4.4)
        assert made.metrics.global_all_to_all_bytes == 40  # what is wanted, not what the way costs


class TestNothing:
    def test_a_phase_without_bytes(self) -> None:
        made = record(traffic(phase("embeddings", Tier.GLOBAL, ALL)))
        assert made.phases == (
            PhaseRecord("embeddings_global", "embeddings", Tier.GLOBAL, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, "none"),
        )
        assert made.metrics.imbalance is None
        assert made.metrics.communication_s == 0

    def test_no_phase_at_all(self) -> None:
        made = record(traffic())
        assert made.phases == ()
        assert made.metrics.global_all_to_all_bytes == made.metrics.inter_island_bytes == 0
        assert made.metrics.bound_s == made.metrics.iteration_s == 0
        assert made.metrics.imbalance is None

    def test_only_local_bytes_are_no_imbalance(self) -> None:
        assert embeddings_imbalance(traffic(phase("embeddings", Tier.GLOBAL, ALL, (2, 2, 9)))) is None


def test_only_forward_embeddings_count_for_imbalance() -> None:
    """Ids and gradients go other ways: 10 B from one of four ranks is 4 means."""
    ids = phase("ids", Tier.GLOBAL, ALL, (1, 0, 1000))
    rows = phase("embeddings", Tier.GLOBAL, ALL, (0, 1, 10))
    gradients = phase("gradients", Tier.GLOBAL, ALL, (1, 0, 10))
    assert embeddings_imbalance(traffic(ids, rows, gradients)) == 4.0
    assert embeddings_imbalance(traffic(ids, gradients)) is None


def test_groups_inside_islands_are_never_global() -> None:
    assert global_all_to_all_bytes(traffic(ISLAND), TOPOLOGY) == 0
    across = replace(
        ISLAND, groups=((0, 2), (1, 3)), matrix=np.diag([0, 6], k=2) + np.zeros((4, 4), np.int64)
    )
    assert global_all_to_all_bytes(traffic(across), TOPOLOGY) == 6


def test_egress_counts_each_byte_once() -> None:
    """Four scale-up ports and four NICs send; what they receive is the same bytes again."""
    egress = Egress.of(TOPOLOGY)
    names = np.array(TOPOLOGY.resources.names)
    assert names[egress.scale_up].tolist() == [f"scale_up/{rank}/egress" for rank in range(4)]
    assert names[egress.nic].tolist() == [f"nic/{nic}/egress" for nic in range(4)]
