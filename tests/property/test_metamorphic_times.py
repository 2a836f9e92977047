"""One speed, latency or duration changed: what must change changes exactly, what must not does not.

Clusters are the pure model unless a test says otherwise. Plans are made once and kept, so that only the replay sees
the change.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_iterations import (
    ENGINES,
    POLICIES,
    Engine,
    cluster,
    experiment,
    iterate,
    model,
    planned,
)

from simulator.engine.program import Collective
from simulator.engine.timeline import Timeline
from simulator.experiment.simulate import Iteration

DENSE = {"forward": "20 us", "backward": "40 us", "parameters": 5000}
TWICE_DENSE = {"forward": "40 us", "backward": "80 us", "parameters": 5000}
SWITCHES: tuple[dict[str, Any], ...] = (
    {},
    {"tiers": "concurrent", "shared_stream": False, "pipelining": True},
    {"dedup": "island", "all_to_all": "hierarchical"},
    {"sync": "sparse", "sync_algorithm": "flat", "all_to_all": "rail"},
)


def times_s(timeline: Timeline) -> dict[str, np.ndarray]:
    return {name: getattr(timeline, name) for name in ("enter_s", "start_s", "end_s")}


def assert_scaled(slow: Iteration, quick: Iteration, factor: float, *, rel: float = 0) -> None:
    """Every time of every operation on every rank, and every figure in seconds, by one factor; no byte differs."""
    for name, own_s in times_s(slow.timeline).items():
        np.testing.assert_allclose(own_s, factor * times_s(quick.timeline)[name], rtol=rel, atol=0)
    for name, value in vars(slow.record.metrics).items():
        other = getattr(quick.record.metrics, name)
        assert value == (pytest.approx(factor * other, rel=rel, abs=0) if name.endswith("_s") else other), (
            name
        )
    assert slow.record.resource_bytes == quick.record.resource_bytes
    assert slow.record.lookups_by_tier == quick.record.lookups_by_tier
    for one, two in zip(slow.record.phases, quick.record.phases, strict=True):
        assert (one.phase, one.bytes, one.bottleneck) == (two.phase, two.bytes, two.bottleneck)
        assert one.transfer_s == pytest.approx(factor * two.transfer_s, rel=max(rel, 1e-12))
        assert one.bound_s == pytest.approx(factor * two.bound_s, rel=rel, abs=0)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tolerance", [None, 0.01])
def test_half_of_every_speed_takes_exactly_twice_as_long(
    engine: Engine, policy: str, switches: dict[str, Any], tolerance: float | None
) -> None:
    """To the bit: a halved rate is an exponent less, and so are all times."""
    how: dict[str, Any] = {"engine": engine, "tolerance": tolerance, **switches}
    quick = experiment(cluster(), model(dense=DENSE), policy, **how)
    halved = cluster(
        scale_up="150 GB/s", nic="12.5 GB/s", gpu={"hbm_capacity": "1 GB", "hbm_bandwidth": "500 GB/s"}
    )
    slow = experiment(halved, model(dense=TWICE_DENSE), policy, **how)
    setup = planned(quick)
    assert_scaled(iterate(slow, setup), iterate(quick, setup), 2)


def in_slow_motion(factor: float) -> dict[str, Any]:
    """A cluster with every term that there is, all durations by `factor` and all rates by its inverse."""

    def last(seconds: float) -> str:
        return f"{seconds * factor!r} s"

    def rate(bytes_per_s: float) -> str:
        return f"{bytes_per_s / factor!r} B/s"

    startup = {"alpha": last(8e-6), "gamma": last(4.5e-9)}
    return {
        "islands": 2,
        "gpus_per_island": 3,
        "scale_up": rate(3e11),
        "nic": rate(2.5e10),
        "inside": {"startup": startup, "pair_cap": rate(2e11), "latency": last(1e-6), "efficiency": 0.8},
        "between": {
            "startup": startup,
            "latency": last(2e-6),
            "message_gap": last(3e-8),
            "fabric": {"kind": "leaf_spine", "islands_per_leaf": 1, "oversubscription": "2:1"},
        },
        "gpu": {"hbm_capacity": "1 GB", "hbm_bandwidth": rate(1e12)},
        "perturb": [
            {"target": "rank/1", "kind": "late", "by": last(5e-6)},
            {"target": "nic/2", "from": last(1e-5), "until": last(9e-5), "factor": 0.25},
        ],
    }


@settings(max_examples=25, deadline=None)
@given(
    factor=st.floats(0.01, 100),
    policy=st.sampled_from(POLICIES),
    engine=st.sampled_from(ENGINES),
    switches=st.sampled_from(SWITCHES),
)
def test_slow_motion_shows_the_same_film(
    factor: float, policy: str, engine: Engine, switches: dict[str, Any]
) -> None:
    """All durations longer and all rates lower by one factor: everything lasts that much longer, nothing else."""
    dense = {"forward": f"{2e-5 * factor!r} s", "backward": f"{4e-5 * factor!r} s", "parameters": 5000}
    quick = experiment(cluster(**in_slow_motion(1)), model(dense=DENSE), policy, engine=engine, **switches)
    slow = experiment(
        cluster(**in_slow_motion(factor)), model(dense=dense), policy, engine=engine, **switches
    )
    setup = planned(quick)
    assert_scaled(iterate(slow, setup), iterate(quick, setup), factor, rel=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
def test_half_a_nic_under_the_bound_doubles_what_nics_bind_and_nothing_else(policy: str) -> None:
    workload = model(dense=DENSE)
    whole = experiment(cluster(), workload, policy, engine="bound")
    setup = planned(whole)
    before = iterate(whole, setup)
    after = iterate(experiment(cluster(nic="12.5 GB/s"), workload, policy, engine="bound"), setup)
    kinds = set()
    for one, two in zip(before.record.phases, after.record.phases, strict=True):
        if one.inter_island_bytes == 0:
            kinds.add("inside")
            assert two.transfer_s == pytest.approx(one.transfer_s, rel=1e-12)
            assert (two.bound_s, two.bottleneck) == (one.bound_s, one.bottleneck)
        elif two.step in ("replica_sync", "dense_sync"):  # some of its stages pass NICs, some do not
            kinds.add("both")
            assert one.bound_s < two.bound_s <= 2 * one.bound_s
        else:
            kinds.add("between")
            assert one.bottleneck.startswith("nic/")
            assert two.bound_s == 2 * one.bound_s
            assert two.transfer_s == pytest.approx(2 * one.transfer_s, rel=1e-9)
        assert (two.bytes, two.phase) == (one.bytes, one.phase)
    assert kinds
    same_compute(before, after)


def same_compute(before: Iteration, after: Iteration) -> None:
    """Gathering, forward and backward last as long as before."""
    for index, operation in enumerate(before.timeline.program.operations):
        if not isinstance(operation, Collective):
            one, two = (
                iteration.timeline.end_s[index] - iteration.timeline.start_s[index]
                for iteration in (before, after)
            )
            np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", POLICIES)
def test_half_a_scale_up_where_no_island_has_two_ranks_changes_nothing(policy: str, engine: Engine) -> None:
    sizes: dict[str, Any] = {"islands": 4, "gpus_per_island": 1}
    one = experiment(cluster(**sizes), model(), policy, engine=engine)
    two = experiment(cluster(**sizes, scale_up="150 GB/s"), model(), policy, engine=engine)
    setup = planned(one)
    assert_scaled(iterate(two, setup), iterate(one, setup), 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", POLICIES)
def test_half_a_nic_where_every_byte_passes_nics_doubles_every_collective(
    policy: str, engine: Engine
) -> None:
    """One GPU an island. Without dense compute, and with memory that answers at once, that is all there is."""
    sizes: dict[str, Any] = {"islands": 4, "gpus_per_island": 1}
    gpu = {"hbm_capacity": "1 GB", "hbm_bandwidth": "1e17 B/s"}
    whole = experiment(cluster(**sizes, gpu=gpu), model(), policy, engine=engine)
    halved = experiment(cluster(**sizes, gpu=gpu, nic="12.5 GB/s"), model(), policy, engine=engine)
    setup = planned(whole)
    before, after = iterate(whole, setup), iterate(halved, setup)
    assert before.record.metrics.communication_s > 0
    for one, two in zip(before.record.phases, after.record.phases, strict=True):
        assert two.transfer_s == pytest.approx(2 * one.transfer_s, rel=1e-9)
        assert two.bound_s == 2 * one.bound_s


@pytest.mark.parametrize("latency_s", [1e-6, 3e-5])
@pytest.mark.parametrize("switches", [*SWITCHES[:1], *SWITCHES[2:]], ids=str)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_latency_everywhere_adds_it_once_a_step(
    engine: Engine, policy: str, switches: dict[str, Any], latency_s: float
) -> None:
    """On one stream all collectives follow one another, and each stage of each has its steps: that many latencies
    more, on whichever rank is last. Groups of a phase run side by side, so a rank counts its own."""
    workload = model(dense=DENSE)
    quiet = experiment(cluster(), workload, policy, engine=engine, **switches)
    setup = planned(quiet)
    before = iterate(quiet, setup)
    far = cluster(latency=f"{latency_s!r} s")
    after = iterate(experiment(far, workload, policy, engine=engine, **switches), setup)
    steps = np.zeros(4)
    for operation in before.timeline.program.operations:
        if isinstance(operation, Collective):
            steps[list(operation.ranks)] += sum(
                stage.latency_steps for stage in operation.stages if len(stage.flows)
            )
    assert len(set(steps.tolist())) == 1  # every rank is in every phase
    added_s = after.timeline.iteration_s - before.timeline.iteration_s
    assert added_s == pytest.approx(steps[0] * latency_s, rel=1e-6)
    assert after.record.resource_bytes == before.record.resource_bytes
    assert after.record.metrics.bound_s == before.record.metrics.bound_s


@settings(max_examples=20, deadline=None)
@given(
    late_s=st.floats(1e-6, 1e-2),
    rank=st.integers(0, 3),
    policy=st.sampled_from(["row_wise", "table_wise", "column_wise"]),
    engine=st.sampled_from(ENGINES),
)
def test_a_rank_that_is_late_shifts_what_comes_after_its_first_collective(
    late_s: float, rank: int, policy: str, engine: Engine
) -> None:
    """The first collective of these policies is one of all ranks; from there on every time is later by as much."""
    workload = model(dense=DENSE)
    punctual = experiment(cluster(), workload, policy, engine=engine)
    setup = planned(punctual)
    before = iterate(punctual, setup)
    late = cluster(perturb=[{"target": f"rank/{rank}", "kind": "late", "by": f"{late_s!r} s"}])
    after = iterate(experiment(late, workload, policy, engine=engine), setup)
    shift_s = after.timeline.end_s - before.timeline.end_s
    assert len(before.timeline.program.operations[0].ranks) == 4
    np.testing.assert_allclose(shift_s, late_s, rtol=1e-6)
    assert after.record.resource_bytes == before.record.resource_bytes


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", POLICIES)
def test_all_ranks_late_is_a_later_beginning(policy: str, engine: Engine) -> None:
    workload = model(dense=DENSE)
    punctual = experiment(cluster(), workload, policy, engine=engine)
    setup = planned(punctual)
    late = replace(cluster(), late_s=np.full(4, 0.5))
    before, after = (
        iterate(punctual, setup),
        iterate(experiment(late, workload, policy, engine=engine), setup),
    )
    for name, own_s in times_s(after.timeline).items():
        shift_s = own_s - times_s(before.timeline)[name]
        np.testing.assert_allclose(shift_s[np.isfinite(shift_s)], 0.5, rtol=1e-9)
    assert after.record.metrics.communication_s == pytest.approx(
        before.record.metrics.communication_s, rel=1e-6
    )
