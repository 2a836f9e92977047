"""One width, count or label changed: the bytes and times that must change change exactly, the others do not."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_iterations import (
    ENGINES,
    POLICIES,
    TABLES,
    Engine,
    cluster,
    experiment,
    iterate,
    model,
    placed,
    planned,
    relabelled,
    replayed,
)

import simulator
from simulator.experiment.simulate import draw
from simulator.sharding.predict import predict
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase
from simulator.traffic.traffic import Traffic

WIDE = tuple({**table, "dim": 2 * table["dim"]} for table in TABLES)


@pytest.mark.parametrize("wider", [{"dtype": "fp32"}, {"tables": WIDE}], ids=["element", "dim"])
@pytest.mark.parametrize("dedup", ["none", "rank", "island"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_twice_the_bytes_double_what_carries_rows_and_nothing_else(
    engine: Engine, policy: str, dedup: str, wider: dict[str, Any]
) -> None:
    narrow = experiment(cluster(), model(), policy, engine=engine, dedup=dedup)
    setup = planned(narrow)
    wide = experiment(cluster(), model(**wider), policy, engine=engine, dedup=dedup)
    again = placed(wide, setup.plan)
    one, two = iterate(narrow, setup), iterate(wide, again)
    assert two.traffic.gather_bytes.tolist() == (2 * one.traffic.gather_bytes).tolist()
    assert again.memory.total_bytes.tolist() == (2 * setup.memory.total_bytes).tolist()
    for before, after in zip(one.traffic.phases, two.traffic.phases, strict=True):
        factor = 1 if before.step in ("ids", "ids_gather") else 2
        assert after.matrix.tolist() == (factor * before.matrix).tolist(), before.name
    for old, new in zip(one.record.phases, two.record.phases, strict=True):
        if old.step != "replica_sync":  # its rings cut rows' bytes into whole chunks
            factor = 1 if old.step in ("ids", "ids_gather") else 2
            assert new.bytes == factor * old.bytes
            assert new.bound_s == factor * old.bound_s
            assert new.transfer_s == pytest.approx(factor * old.transfer_s, rel=1e-9)
            assert new.bottleneck == old.bottleneck
    assert two.record.lookups_by_tier == one.record.lookups_by_tier
    assert two.record.metrics.imbalance == one.record.metrics.imbalance


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_count_of_two_is_two_tables(engine: Engine, policy: str) -> None:
    """Draws are keyed by a table's name, and `count` calls its tables NAME_0 and NAME_1: equal to the last bit."""
    table = {"rows": 3000, "dim": 8, "length": 20, "popularity": {"kind": "zipf", "s": 1.1}}
    counted = [{"name": "items", "count": 2, **table}, TABLES[1]]
    written = [{"name": "items_0", **table}, {"name": "items_1", **table}, TABLES[1]]
    one, two = (
        iterate(experiment(cluster(), model(tables), policy, engine=engine)) for tables in (counted, written)
    )
    assert asdict(one.record) == asdict(two.record)
    assert one.timeline.end_s.tobytes() == two.timeline.end_s.tobytes()


@pytest.mark.parametrize("policy", ["row_wise", "two_dimensional", "data_parallel", "hybrid", "flexshard"])
def test_the_order_of_tables_moves_no_byte(policy: str) -> None:
    """These policies treat each table by itself. (Whole tables go where there is room, in an order.)"""
    one, two = (
        iterate(experiment(cluster(), model(tables), policy)) for tables in (TABLES, tuple(reversed(TABLES)))
    )
    for before, after in zip(one.traffic.phases, two.traffic.phases, strict=True):
        assert before.matrix.tolist() == after.matrix.tolist()
    assert one.record.resource_bytes == two.record.resource_bytes
    assert one.record.metrics.communication_s == pytest.approx(two.record.metrics.communication_s, rel=1e-9)


def carried_bytes(traffic: Traffic, step: str) -> int:
    """Of one step, the diagonal included."""
    return sum(int(phase.matrix.sum()) for phase in traffic.phases if phase.step == step)


@pytest.mark.parametrize("policy", ["row_wise", "table_wise", "column_wise", "table_row_wise"])
def test_two_half_batches_carry_what_one_batch_carries(policy: str) -> None:
    """Lengths are fixed, so that lookups add up exactly; where they land is another draw. These policies keep every
    row once, so that a lookup's row is carried once, if only to its own rank."""
    whole = experiment(cluster(), model(batch=60), policy)
    half = experiment(cluster(), model(batch=30), policy)
    plan = planned(half).plan
    one = draw(whole, placed(whole, plan).placement, 0).traffic
    two = [draw(half, placed(half, plan).placement, number).traffic for number in (0, 1)]
    for step in ("embeddings", "gradients"):
        assert carried_bytes(one, step) == sum(carried_bytes(each, step) for each in two)
    assert sum(one.lookups_by_tier.values()) == sum(sum(each.lookups_by_tier.values()) for each in two)


@pytest.mark.parametrize("policy", ["row_wise", "table_wise", "hybrid", "flexshard", "two_dimensional"])
def test_in_expectation_half_a_batch_moves_half_the_rows(policy: str) -> None:
    whole, half = (experiment(cluster(), model(batch=size), policy) for size in (60, 30))
    plan = planned(half).plan
    one, two = (predict(plan, made.workload.statistics(), made.topology) for made in (whole, half))
    assert one.global_all_to_all_bytes == pytest.approx(2 * two.global_all_to_all_bytes, rel=1e-3)
    drawn = [
        float(
            np.mean(
                [
                    iterate_bytes(draw(made, placed(made, plan).placement, number).traffic)
                    for number in range(12)
                ]
            )
        )
        for made in (whole, half)
    ]
    assert drawn[0] == pytest.approx(2 * drawn[1], rel=0.01)


def iterate_bytes(traffic: Traffic) -> int:
    """Bytes between ranks."""
    return sum(int(phase.matrix.sum() - np.trace(phase.matrix)) for phase in traffic.phases)


def within_islands(draw: st.DrawFn, islands: int, size: int) -> np.ndarray:
    """New numbers of ranks, each still of its island."""
    return np.concatenate(
        [draw(st.permutations(range(size * island, size * (island + 1)))) for island in range(islands)]
    )


def of_islands(draw: st.DrawFn, islands: int, size: int) -> np.ndarray:
    """New numbers of ranks, islands moved whole."""
    order = draw(st.permutations(range(islands)))
    return np.concatenate([size * order[island] + np.arange(size) for island in range(islands)])


@st.composite
def renamings(draw: st.DrawFn) -> np.ndarray:
    how: Callable[..., np.ndarray] = draw(st.sampled_from([within_islands, of_islands]))
    return how(draw, 3, 3)


def assert_same_film(
    traffic: Traffic, one: Topology, two: Topology, new_of: np.ndarray, engine: Engine
) -> None:
    workload = model()
    before = replayed(replace(traffic, sync=()), workload, one, engine=engine)
    after = replayed(relabelled(traffic, new_of), workload, two, engine=engine)
    assert after.iteration_s == pytest.approx(before.iteration_s, rel=1e-9)
    assert after.communication_s() == pytest.approx(before.communication_s(), rel=1e-9)
    np.testing.assert_allclose(
        np.nanmax(after.end_s, axis=0)[new_of], np.nanmax(before.end_s, axis=0), rtol=1e-9
    )
    assert sorted(after.resource_bytes.tolist()) == sorted(before.resource_bytes.tolist())


@settings(max_examples=25, deadline=None)
@given(
    new_of=renamings(),
    policy=st.sampled_from(["row_wise", "table_wise", "hybrid"]),
    engine=st.sampled_from(ENGINES),
)
def test_ranks_and_islands_are_but_names(new_of: np.ndarray, policy: str, engine: Engine) -> None:
    """On equal islands of a non-blocking fabric it does not matter which rank of an island is which, nor which
    island: the same matrices with other labels take the same time, rank by rank."""
    topology = cluster(islands=3, gpus_per_island=3)
    made = experiment(topology, model(), policy)
    assert_same_film(draw(made, planned(made).placement, 0).traffic, topology, topology, new_of, engine)


@settings(max_examples=25, deadline=None)
@given(new_of=renamings(), slow=st.integers(0, 8), engine=st.sampled_from(ENGINES))
def test_a_slow_nic_goes_with_its_rank(new_of: np.ndarray, slow: int, engine: Engine) -> None:
    """The topology relabelled together with the matrices."""

    def with_slow(nic: int) -> Topology:
        return cluster(
            islands=3,
            gpus_per_island=3,
            overrides=[{"target": f"nic/{nic}", "bandwidth": "4 GB/s"}],
            perturb=[{"target": f"rank/{nic}", "kind": "slow", "factor": 0.5}],
        )

    made = experiment(with_slow(slow), model(), "row_wise")
    traffic = draw(made, planned(made).placement, 0).traffic
    assert_same_film(traffic, with_slow(slow), with_slow(int(new_of[slow])), new_of, engine)


def padded(traffic: Traffic, more: int) -> Traffic:
    """The same bytes beside ranks that ask for nothing and own nothing; those take part in every phase."""

    def wide(phase: Phase) -> Phase:
        ranks = len(phase.matrix)
        extra = tuple(range(ranks, ranks + more))
        groups = (phase.groups[0] + extra,) if len(phase.groups[0]) == ranks else (*phase.groups, extra)
        return replace(phase, matrix=np.pad(phase.matrix, (0, more)), groups=groups)

    return replace(
        traffic,
        phases=tuple(map(wide, traffic.phases)),
        sync=(),
        gather_bytes=np.pad(traffic.gather_bytes, (0, more)),
        host_gather_bytes=np.pad(traffic.host_gather_bytes, (0, more)),
    )


@pytest.mark.parametrize("sizes", [[2, 2, 1], [2, 2, 3], [2, 2, 2]])
@pytest.mark.parametrize("policy", ["row_wise", "table_wise", "hybrid"])
@pytest.mark.parametrize("engine", ENGINES)
def test_ranks_with_nothing_to_do_cost_nothing(engine: Engine, policy: str, sizes: list[int]) -> None:
    made = experiment(cluster(islands=[2, 2]), model(), policy)
    traffic = replace(draw(made, planned(made).placement, 0).traffic, sync=())
    before = replayed(traffic, made.workload, made.topology, engine=engine)
    larger = cluster(islands=sizes)
    after = replayed(padded(traffic, sizes[2]), made.workload, larger, engine=engine)
    first = np.nanmax(after.end_s[:, :4], axis=0)
    np.testing.assert_allclose(first, np.nanmax(before.end_s, axis=0), rtol=1e-12)
    assert after.iteration_s == pytest.approx(before.iteration_s, rel=1e-12)
    assert sorted(after.resource_bytes[after.resource_bytes > 0].tolist()) == sorted(
        before.resource_bytes[before.resource_bytes > 0].tolist()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_ratios_of_a_comparison_know_no_clock(engine: Engine) -> None:
    """A whole comparison, as a user sees it: half of every speed doubles seconds and leaves bytes and ratios."""
    quick = cluster()
    slow = cluster(
        scale_up="150 GB/s", nic="12.5 GB/s", gpu={"hbm_capacity": "1 GB", "hbm_bandwidth": "500 GB/s"}
    )
    policies = list(POLICIES)
    one, two = (
        simulator.compare(topology, model(), policies, iterations=2, engine=engine).to_json()["policies"]
        for topology in (quick, slow)
    )
    for before, after in zip(one, two, strict=True):
        for key, value in before.items():
            if isinstance(value, (int, float)):
                assert after[key] == (2 * value if key.endswith("_s") else value), (before["policy"], key)
