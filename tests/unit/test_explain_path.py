"""The critical path of programs small enough to follow by hand, and of drawn iterations."""

import numpy as np
import pytest

from simulator.anatomy.critical_path import critical_path
from simulator.collectives.stage import Stage
from simulator.engine.program import Collective, Compute, Program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology

TOPOLOGY = uniform_topology(islands=1, gpus_per_island=3, scale_up_bytes_per_s=100.0, nic_bytes_per_s=100.0)
ALL = (0, 1, 2)


def compute(name: str, *seconds: float, stream: str = "compute", after: tuple[int, ...] = ()) -> Compute:
    return Compute(name, ALL[: len(seconds)], np.array(seconds), stream=stream, after=after)


def exchange(name: str, *pairs: tuple[int, int, int], after: tuple[int, ...] = ()) -> Collective:
    sources, destinations, sizes = (np.array(each) for each in zip(*pairs, strict=True))
    flows = Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64))
    return Collective(name, ALL, (Stage(flows),), after=after)


def path_of(*operations, topology=TOPOLOGY):
    return critical_path(replay(Program(3, operations), topology, tolerance=None))


def steps(path) -> list[tuple[str, int, float, float]]:
    return [(step.name, step.rank, step.begin_s, step.end_s) for step in path.steps]


def test_the_slowest_rank_of_a_compute_is_whom_the_others_wait_for():
    path = path_of(compute("work", 1.0, 5.0, 2.0), exchange("meet", (0, 2, 300), after=(0,)))
    assert steps(path) == [("work", 1, 0.0, 5.0), ("meet", 0, 5.0, 8.0)]
    meet = path.steps[1]
    assert meet.last_to_come == 1
    assert meet.max_wait_s == 4.0
    assert meet.mean_wait_s == pytest.approx((4 + 0 + 3) / 3)


def test_it_goes_on_at_the_rank_that_came_last_each_time():
    path = path_of(
        compute("first", 1.0, 2.0, 1.0),
        exchange("a", (0, 2, 100), after=(0,)),
        compute("second", 1.0, 1.0, 4.0, after=(1,)),
        exchange("b", (0, 1, 200), after=(2,)),
    )
    assert steps(path) == [
        ("first", 1, 0.0, 2.0),
        ("a", 2, 2.0, 3.0),
        ("second", 2, 3.0, 7.0),
        ("b", 0, 7.0, 9.0),
    ]


def test_a_queue_holds_up_as_a_dependency_does():
    path = path_of(exchange("a", (0, 1, 500)), exchange("b", (1, 2, 100)))
    assert [step.name for step in path.steps] == ["a", "b"]
    assert path.end_s == 6.0


def test_of_several_causes_the_last_to_end_counts():
    path = path_of(
        compute("short", 1.0, 1.0, 1.0, stream="x"),
        compute("long", 3.0, 3.0, 3.0, stream="y"),
        exchange("meet", (0, 1, 100), after=(0, 1)),
    )
    assert [step.name for step in path.steps] == ["long", "meet"]


def test_what_runs_beside_the_path_is_not_on_it():
    path = path_of(compute("alone", 2.0, 2.0, 2.0, stream="x"), exchange("a", (0, 1, 500)))
    assert [step.name for step in path.steps] == ["a"]


def test_a_late_rank_is_where_it_begins():
    late = TOPOLOGY.with_(perturb=[{"target": "rank/2", "kind": "late", "by": "4 s"}])
    path = path_of(exchange("a", (0, 1, 100)), topology=late)
    assert path.late_s == 4.0
    assert steps(path) == [("a", 0, 4.0, 5.0)]
    assert path.steps[0].last_to_come == 2
    assert path.steps[0].max_wait_s == 4.0


def test_nothing_has_no_path():
    path = path_of()
    assert path.steps == ()
    assert path.end_s == 0.0


def test_steps_follow_one_another_without_a_gap(timeline):
    path = critical_path(timeline)
    assert path.end_s == timeline.iteration_s
    assert path.steps[0].begin_s == pytest.approx(path.late_s)
    for before, after in zip(path.steps, path.steps[1:], strict=False):
        assert after.begin_s == before.end_s
    names = [timeline.program.operations[step.operation].name for step in path.steps]
    assert names == [step.name for step in path.steps]


def test_no_step_could_have_begun_earlier(timeline):
    """On the rank that came last, what the path names as the cause had only just ended."""
    path = critical_path(timeline)
    for before, after in zip(path.steps, path.steps[1:], strict=False):
        assert before.rank == after.last_to_come
        assert timeline.end_s[before.operation, before.rank] == before.end_s
        assert timeline.enter_s[after.operation, after.last_to_come] == after.begin_s


@pytest.fixture(params=["row_wise", "table_wise", "flexshard", "two_dimensional"])
def timeline(request) -> Timeline:
    from pathlib import Path

    import simulator

    root = Path(__file__).parents[2]
    workload = simulator.load_workload(root / "workloads" / "tiny.yaml").with_(batch_per_rank=64)
    topology = simulator.load_topology(root / "topologies" / "uneven.yaml").with_(
        perturb=[{"target": "rank/3", "kind": "slow", "factor": 0.5}]
    )
    policy = {"name": request.param, "tiers": "concurrent", "pipelining": True}
    return simulator.simulate(topology, workload, policy).timeline
