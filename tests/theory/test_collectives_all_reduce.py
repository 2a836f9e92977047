"""All-reduce, reduce-scatter and all-gather against their closed forms: bytes on ports, and steps."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from simulator.collectives.all_reduce import (
    RingAlgorithm,
    all_gather,
    all_gather_v,
    all_reduce,
    reduce_scatter,
)
from simulator.collectives.stage import Stage
from simulator.errors import UserError
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec, TorusSpec
from simulator.topology.topology import Topology

Collective = Callable[..., tuple[Stage, ...]]
N, L = 4, 6
W = N * L
VECTOR = 2 * W * L * 1000  # divides wherever a test cuts it


def cluster(islands: int = N, size: int = L) -> Topology:
    return uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=100e9, nic_bytes_per_s=10e9
    )


def uneven(*sizes: int) -> Topology:
    return build_topology(
        TopologySpec(
            name="uneven",
            islands=list(sizes),
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="10 GB/s"),
        )
    )


def torus(*dims: int, size: int = 1) -> Topology:
    return build_topology(
        TopologySpec(
            name="torus",
            islands=int(np.prod(dims)),
            gpus_per_island=size,
            scale_up=ScaleUpSpec(bandwidth="100 GB/s"),
            scale_out=ScaleOutSpec(
                nic_bandwidth="100 GB/s",
                fabric=TorusSpec(kind="torus", dims=dims, link_bandwidth="10 GB/s"),
            ),
        )
    )


def loads(topology: Topology, stage: Stage) -> dict[str, int]:
    """Bytes on each resource."""
    flows = stage.flows
    hops = topology.routes(flows.sources, flows.destinations).resources
    load = np.zeros(len(topology.resources.names), dtype=np.int64)
    for column in hops.T:
        used = column >= 0
        np.add.at(load, column[used], flows.bytes[used])
    return dict(zip(topology.resources.names, load.tolist(), strict=True))


def port_bytes(topology: Topology, stage: Stage, name: str) -> set[int]:
    """Which bytes there are on the resources whose name begins with `name`."""
    return {load for resource, load in loads(topology, stage).items() if resource.startswith(name)}


def test_ring_all_reduce_loads_every_nic_alike() -> None:
    topology = cluster()
    (stage,) = all_reduce(topology, range(W), VECTOR)
    ring_bytes = 2 * (W - 1) * VECTOR // W
    assert port_bytes(topology, stage, "nic") == {ring_bytes // L}
    assert port_bytes(topology, stage, "scale_up") == {ring_bytes * (L - 1) // L}
    assert stage.latency_steps == 2 * (W - 1)


def test_flat_ring_all_reduce_loads_one_nic_of_an_island_each_way() -> None:
    topology = cluster()
    (stage,) = all_reduce(topology, range(W), VECTOR, algorithm="flat_ring")
    ring_bytes = 2 * (W - 1) * VECTOR // W
    assert stage.flows.bytes.tolist() == [ring_bytes] * W
    assert stage.flows.destinations.tolist() == [*range(1, W), 0]
    assert port_bytes(topology, stage, "nic") == {0, ring_bytes}


def test_hierarchical_all_reduce() -> None:
    topology = cluster()
    scatter, across, gather = all_reduce(topology, range(W), VECTOR, algorithm="hierarchical")
    for stage in (scatter, gather):
        assert port_bytes(topology, stage, "scale_up") == {(L - 1) * VECTOR // L}
        assert port_bytes(topology, stage, "nic") == {0}
        assert stage.latency_steps == L - 1
    assert port_bytes(topology, across, "nic") == {2 * (N - 1) * VECTOR // (N * L)}
    assert port_bytes(topology, across, "scale_up") == {0}
    assert across.latency_steps == 2 * (N - 1)
    index = topology.local_index
    assert (index[across.flows.sources] == index[across.flows.destinations]).all()


@pytest.mark.parametrize("collective", [reduce_scatter, all_gather])
def test_half_of_a_ring_all_reduce(collective: Collective) -> None:
    topology = cluster()
    (stage,) = collective(topology, range(W), VECTOR)
    assert port_bytes(topology, stage, "nic") == {(W - 1) * VECTOR // W // L}
    assert stage.latency_steps == W - 1


@pytest.mark.parametrize(("collective", "within", "across"), [(reduce_scatter, 0, 1), (all_gather, 1, 0)])
def test_half_of_a_hierarchical_all_reduce(collective: Collective, within: int, across: int) -> None:
    topology = cluster()
    stages = collective(topology, range(W), VECTOR, algorithm="hierarchical")
    assert port_bytes(topology, stages[within], "scale_up") == {(L - 1) * VECTOR // L}
    assert port_bytes(topology, stages[across], "nic") == {(N - 1) * VECTOR // W}
    assert [stages[within].latency_steps, stages[across].latency_steps] == [L - 1, N - 1]


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_reduce_scatter_and_all_gather_add_up_to_all_reduce(algorithm: RingAlgorithm) -> None:
    topology = uneven(4, 4, 4)
    scattered = reduce_scatter(topology, range(12), 12_000, algorithm=algorithm)
    both = scattered + all_gather(topology, range(12), 12_000, algorithm=algorithm)
    whole = all_reduce(topology, range(12), 12_000, algorithm=algorithm)
    assert sum(int(stage.flows.bytes.sum()) for stage in both) == sum(
        int(stage.flows.bytes.sum()) for stage in whole
    )
    assert sum(stage.latency_steps for stage in both) == sum(stage.latency_steps for stage in whole)


def test_rings_keep_their_rails_with_an_even_number_of_islands() -> None:
    topology = cluster(islands=4, size=3)
    (stage,) = all_reduce(topology, range(12), 12_000)
    flows = stage.flows
    crosses = topology.island_of[flows.sources] != topology.island_of[flows.destinations]
    index = topology.local_index
    assert crosses.sum() == 12
    assert (index[flows.sources[crosses]] == index[flows.destinations[crosses]]).all()


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_a_subgroup_within_an_island_never_touches_a_nic(algorithm: RingAlgorithm) -> None:
    topology = cluster()
    for stage in all_reduce(topology, (7, 9, 10), 3000, algorithm=algorithm):
        assert port_bytes(topology, stage, "nic") == {0}
        assert set(stage.flows.sources.tolist()) == {7, 9, 10}


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_a_column_of_equal_local_ranks_uses_only_its_nics(algorithm: RingAlgorithm) -> None:
    topology = cluster()
    column = (2, 8, 14, 20)
    (stage,) = all_reduce(topology, column, 4000, algorithm=algorithm)
    assert stage.flows.bytes.tolist() == [6000] * 4
    assert port_bytes(topology, stage, "scale_up") == {0}


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_a_single_rank_has_nothing_to_do(algorithm: RingAlgorithm) -> None:
    for collective in (all_reduce, reduce_scatter, all_gather):
        assert collective(cluster(), [3], 1000, algorithm=algorithm) == ()


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_a_vector_smaller_than_the_group_still_sums_exactly(algorithm: RingAlgorithm) -> None:
    """5 bytes over 12 ranks: every step moves whole bytes and all of them."""
    topology = uneven(5, 4, 3)
    stages = all_reduce(topology, range(12), 5, algorithm=algorithm)
    moved = sum(int(stage.flows.bytes.sum()) for stage in stages)
    if algorithm == "hierarchical":
        # within an island of s ranks 2 (s - 1) times the vector, among 3 islands 2 (3 - 1) times
        assert moved == 5 * (2 * (4 + 3 + 2) + 2 * 2)
    else:
        assert moved == 5 * 2 * 11


def test_hierarchical_with_islands_of_unequal_size() -> None:
    """Islands of 4 and 2 hold shards of 300 and 600 B: each of the 2 meets two of the 4."""
    topology = uneven(4, 2)
    scatter, across, gather = all_reduce(topology, range(6), 1200, algorithm="hierarchical")
    edges = zip(across.flows.sources.tolist(), across.flows.destinations.tolist(), strict=True)
    assert dict(zip(edges, across.flows.bytes.tolist(), strict=True)) == {
        (0, 4): 300, (1, 4): 300, (2, 5): 300, (3, 5): 300,
        (4, 0): 300, (4, 1): 300, (5, 2): 300, (5, 3): 300,
    }  # fmt: skip
    assert scatter.flows.bytes.tolist() == gather.flows.bytes.tolist() == [900] * 4 + [600] * 2


def test_all_gather_v_on_a_ring_sends_everything_but_what_the_next_one_owns() -> None:
    topology = cluster(islands=1, size=3)
    (stage,) = all_gather_v(topology, (0, 1, 2), np.array([100, 20, 3]))
    edges = zip(stage.flows.sources.tolist(), stage.flows.destinations.tolist(), strict=True)
    assert dict(zip(edges, stage.flows.bytes.tolist(), strict=True)) == {(0, 1): 103, (1, 2): 120, (2, 0): 23}


@pytest.mark.parametrize("algorithm", ["ring", "flat_ring", "hierarchical"])
def test_all_gather_v_with_one_owner_is_a_broadcast(algorithm: RingAlgorithm) -> None:
    topology = uneven(3, 2)
    owned = np.array([0, 0, 900, 0, 0])
    stages = all_gather_v(topology, range(5), owned, algorithm=algorithm)
    moved = sum(int(stage.flows.bytes.sum()) for stage in stages)
    assert moved == 900 * 4  # each of the four others gets it once


def test_hierarchical_all_gather_v_by_hand() -> None:
    """Islands {0, 1, 2} and {3, 4}: column 2 of the small island is served by its local rank 0, rank 3."""
    topology = uneven(3, 2)
    owned = np.array([10, 20, 40, 100, 200])
    across, within = all_gather_v(topology, range(5), owned, algorithm="hierarchical")
    edges = zip(across.flows.sources.tolist(), across.flows.destinations.tolist(), strict=True)
    assert dict(zip(edges, across.flows.bytes.tolist(), strict=True)) == {
        (0, 3): 10, (3, 0): 100, (1, 4): 20, (4, 1): 200, (2, 3): 40,
    }  # fmt: skip
    edges = zip(within.flows.sources.tolist(), within.flows.destinations.tolist(), strict=True)
    # columns hold 110, 220, 40; a ring within {0, 1, 2}, and 150 against 220 within {3, 4}
    assert dict(zip(edges, within.flows.bytes.tolist(), strict=True)) == {
        (0, 1): 150, (1, 2): 330, (2, 0): 260, (3, 4): 150, (4, 3): 220,
    }  # fmt: skip


@pytest.mark.parametrize("dims", [(4,), (4, 3), (3, 4, 5)])
def test_torus_all_reduce_per_dimension(dims: tuple[int, ...]) -> None:
    topology = torus(*dims)
    vector = 2 * int(np.prod(dims)) * 1000
    stages = all_reduce(topology, range(topology.world_size), vector, algorithm="torus")
    assert len(stages) == 2 * len(dims) - 1
    held = vector
    for axis, length in enumerate(dims):
        last = axis == len(dims) - 1
        one_way = held * (length - 1) // length * (2 if last else 1) // 2
        for stage in {axis, len(stages) - 1 - axis}:
            assert stages[stage].latency_steps == (length - 1) * (2 if last else 1)
            for name, load in loads(topology, stages[stage]).items():
                if name.startswith("torus"):
                    assert load == (one_way if name.endswith("xyz"[axis]) else 0)
        held //= length


def test_torus_of_islands_first_sums_within_them() -> None:
    topology = torus(3, 3, size=2)
    stages = all_reduce(topology, range(18), 36_000, algorithm="torus")
    assert [stage.latency_steps for stage in stages] == [1, 2, 4, 2, 1]
    assert port_bytes(topology, stages[0], "scale_up") == {18_000}
    # two tori with shards of 18,000 B: 12,000 B along x, half of it each way
    assert port_bytes(topology, stages[1], "torus/4/+x") == {12_000}
    assert port_bytes(topology, stages[2], "torus/4/-y") == {8_000}


def test_torus_dimension_of_one_is_no_stage() -> None:
    topology = torus(1, 4)
    stages = all_reduce(topology, range(4), 8_000, algorithm="torus")
    assert [stage.latency_steps for stage in stages] == [6]


@pytest.mark.parametrize(
    ("topology", "ranks", "text"),
    [
        (cluster(), range(W), "torus all-reduce: the fabric of uniform is not a torus"),
        (torus(2, 2), (0, 1), "torus all-reduce: its ranks must be of all islands, the same number of each"),
        (torus(2, 2, size=2), range(7), "torus all-reduce: its ranks must be of all islands"),
    ],
)
def test_torus_where_there_is_none_is_refused(topology: Topology, ranks: range, text: str) -> None:
    algorithm: Literal["torus"] = "torus"
    with pytest.raises(UserError, match=text):
        all_reduce(topology, ranks, 1000, algorithm=algorithm)
