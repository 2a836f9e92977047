"""What holds of any plan, workload and batch: every lookup is counted once, every byte has its mirror."""

import itertools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase
from simulator.traffic.placement import prepare
from simulator.traffic.traffic import Traffic, draw_traffic, plan_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Workload

DIM = 6
ELEMENT_BYTES = 2

Case = tuple[Topology, Workload, Batch, tuple[TablePlan, ...]]


def cluster(sizes: list[int]) -> Topology:
    spec: dict[str, Any] = {
        "name": "any",
        "islands": sizes,
        "scale_up": {"bandwidth": "100 GB/s"},
        "scale_out": {"nic_bandwidth": "10 GB/s"},
    }
    return build_topology(TopologySpec.model_validate(spec))


@st.composite
def layout_of(draw: st.DrawFn, topology: Topology) -> Layout:
    world_size = topology.world_size
    owners = tuple(draw(st.permutations(range(world_size)))[: draw(st.integers(1, world_size))])
    return draw(
        st.sampled_from(
            [
                layouts.replicated(topology),
                layouts.island(topology),
                layouts.global_rows(topology),
                layouts.global_owners(world_size, owners),
                layouts.column_owners(world_size, owners),
                layouts.groups(world_size, draw(st.integers(1, world_size))),
            ]
        )
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    topology = cluster(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    tables, plans = [], []
    for index in range(draw(st.integers(1, 3))):
        rows = draw(st.integers(1, 40) | st.just(200_000))
        touched = draw(st.integers(1, rows))
        popularity = ZipfMandelbrot(touched, draw(st.sampled_from([0.0, 0.9, 1.3])))
        order = draw(st.sampled_from(["shuffled", "sorted"]))
        tables.append(Table(f"t{index}", rows, DIM, popularity, fixed(1), order=order))
        cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=3)))
        edges = [0, *cuts] if draw(st.booleans()) else [0, *cuts, rows]  # the first reclaims what is left
        segments = tuple(
            Segment(start, stop, draw(layout_of(topology))) for start, stop in itertools.pairwise(edges)
        )
        plans.append(TablePlan(f"t{index}", segments))
    shape = (topology.world_size, len(tables))
    numbers = draw(
        st.lists(
            st.sampled_from([0, 1, 3, 50, 400]), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
        )
    )
    lookups = np.array(numbers, dtype=np.int64).reshape(shape)
    repeats = lookups // 3 if draw(st.booleans()) else None
    batch = Batch(lookups, draw(st.integers(0, 5)), draw(st.integers(0, 3)), repeats)
    return topology, Workload("any", 8, ELEMENT_BYTES, tuple(tables)), batch, tuple(plans)


def traffic_of(case: Case, **switches: Any) -> Traffic:
    topology, workload, batch, tables = case
    plan = ShardingPlan("any", topology.world_size, tables, Execution.model_validate(switches))
    return plan_traffic(plan, workload, topology, batch)


def phase_sum(phases: tuple[Phase, ...], step: str) -> int:
    return sum(int(phase.matrix.sum()) for phase in phases if phase.step == step)


def between_islands(topology: Topology, traffic: Traffic) -> int:
    between = topology.island_of[:, None] != topology.island_of[None, :]
    return sum(int(phase.matrix[between].sum()) for phase in traffic.phases)


SWITCHES = st.fixed_dictionaries(
    {
        "dedup": st.sampled_from(["none", "rank", "island"]),
        "sync": st.sampled_from(["dense", "sparse"]),
        "sync_every": st.integers(1, 3),
        "gradient_dtype": st.sampled_from([None, "fp16", "fp32"]),
    }
)


@settings(max_examples=80, deadline=None)
@given(cases(), SWITCHES)
def test_every_lookup_is_counted_once(case: Case, switches: dict[str, Any]) -> None:
    traffic = traffic_of(case, **switches)
    lookups = int(case[2].lookups.sum())
    assert sum(traffic.lookups_by_tier.values()) == lookups
    assert sum(traffic.hits_by_tier.values()) == lookups
    assert all(0 <= traffic.distinct_by_tier[kind] <= hits for kind, hits in traffic.hits_by_tier.items())
    assert all(traffic.lookups_by_tier[kind] <= hits for kind, hits in traffic.hits_by_tier.items())


@settings(max_examples=80, deadline=None)
@given(cases())
def test_rows_travel_once_for_every_lookup(case: Case) -> None:
    """Without dedup: rows read and rows sent, in bytes, are the lookups of the tiers that send any."""
    traffic = traffic_of(case)
    row_bytes = DIM * ELEMENT_BYTES
    replicated = traffic.hits_by_tier[Tier.REPLICATED]
    sent = phase_sum(traffic.phases, "embeddings")
    assert sent == (int(case[2].lookups.sum()) - replicated) * row_bytes
    assert int(traffic.gather_bytes.sum()) == sent + replicated * row_bytes


@settings(max_examples=60, deadline=None)
@given(cases(), SWITCHES)
def test_gradients_mirror_embeddings_and_all_stays_in_its_groups(
    case: Case, switches: dict[str, Any]
) -> None:
    traffic = traffic_of(case, **switches)
    by_name = {phase.name: phase for phase in traffic.phases}
    assert len(by_name) == len(traffic.phases)
    scale = {None: 1, "fp16": 1, "fp32": 2}[switches["gradient_dtype"]]
    for phase in traffic.phases:
        assert phase.matrix.dtype == np.int64
        assert (phase.matrix >= 0).all()
        inside = np.zeros_like(phase.matrix, dtype=np.bool_)
        for group in phase.groups:
            inside[np.ix_(group, group)] = True
        assert sorted(rank for group in phase.groups for rank in group) == list(range(case[0].world_size))
        assert not phase.matrix[~inside].any()
        if phase.step == "gradients":
            assert (phase.matrix == by_name[f"embeddings_{phase.tier}"].matrix.T * scale).all()
            ids = by_name[f"ids_{phase.tier}"].matrix
            assert ((ids > 0) == (phase.matrix > 0)).all()
        if phase.step == "gradients_gather":
            assert (phase.matrix == by_name[f"embeddings_spread_{phase.tier}"].matrix.T * scale).all()


@settings(max_examples=60, deadline=None)
@given(cases())
def test_dedup_never_adds_a_byte_between_islands(case: Case) -> None:
    plain, by_rank, by_island = (traffic_of(case, dedup=dedup) for dedup in ("none", "rank", "island"))
    assert (
        between_islands(case[0], plain)
        >= between_islands(case[0], by_rank)
        >= between_islands(case[0], by_island)
    )
    for one, other in zip(plain.phases, by_rank.phases, strict=True):
        assert one.name == other.name
        assert (other.matrix <= one.matrix).all()
    assert (by_rank.gather_bytes <= plain.gather_bytes).all()
    assert (by_island.gather_bytes <= by_rank.gather_bytes).all()
    assert plain.lookups_by_tier == by_rank.lookups_by_tier == by_island.lookups_by_tier


@settings(max_examples=40, deadline=None)
@given(cases(), SWITCHES)
def test_the_island_tier_never_leaves_its_island(case: Case, switches: dict[str, Any]) -> None:
    traffic = traffic_of(case, **switches)
    between = case[0].island_of[:, None] != case[0].island_of[None, :]
    assert not any(phase.matrix[between].any() for phase in traffic.phases if phase.tier == Tier.ISLAND)


@settings(max_examples=40, deadline=None)
@given(cases(), SWITCHES)
def test_copies_that_are_summed_hold_the_same(case: Case, switches: dict[str, Any]) -> None:
    traffic = traffic_of(case, **switches)
    for entry in traffic.sync:
        assert len(entry.copies) > 1
        assert [len(owners) for owners in entry.copies] == [len(chunks) for chunks in entry.chunk_bytes]
        if entry.mode == "dense":
            assert len({int(chunks.sum()) for chunks in entry.chunk_bytes}) == 1
        assert (entry.pooled_bytes is not None) == (entry.mode == "sparse" and entry.tier == Tier.REPLICATED)


@settings(max_examples=30, deadline=None)
@given(cases(), SWITCHES)
def test_the_same_seed_gives_the_same_bytes(case: Case, switches: dict[str, Any]) -> None:
    topology, workload, batch, tables = case
    plan = ShardingPlan("any", topology.world_size, tables, Execution.model_validate(switches))
    placement = prepare(plan, workload, topology, seed=batch.seed)
    draw_traffic(placement, Batch(batch.lookups, batch.seed, batch.iteration + 1, batch.repeats))
    one, other = draw_traffic(placement, batch), traffic_of(case, **switches)
    for first, second in zip(one.phases, other.phases, strict=True):
        assert first.name == second.name
        assert (first.matrix == second.matrix).all()
    assert one.distinct_by_tier == other.distinct_by_tier
    for entry, same in zip(one.sync, other.sync, strict=True):
        assert all((a == b).all() for a, b in zip(entry.chunk_bytes, same.chunk_bytes, strict=True))
