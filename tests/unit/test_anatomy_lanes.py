"""Which ranks a timeline shows, and what it says of them."""

import numpy as np
import pytest

from simulator.anatomy.anatomy import Anatomy, anatomy_of
from simulator.anatomy.elasticity import Elasticities, Elasticity
from simulator.anatomy.lanes import MOST_LANES, island_roles, lane_slices, lanes, moving_time_s, shown_islands
from simulator.collectives.stage import Stage
from simulator.engine.program import Collective, Compute, Program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology


def islands_of(count: int, size: int) -> list[range]:
    return [range(start, start + size) for start in range(0, count * size, size)]


def made_timeline(moving_s: list[float]) -> Timeline:
    """A compute of 1 s on every rank, then a collective that each rank leaves after its own time."""
    ranks = tuple(range(len(moving_s)))
    work = Compute("work", ranks, np.ones(len(ranks)))
    meet = Collective("meet", ranks, (), stream="communication", after=(0,))
    zeros = np.zeros(len(ranks))
    return Timeline(
        program=Program(len(ranks), (work, meet)),
        enter_s=np.array([zeros, zeros + 1.0]),
        start_s=np.array([zeros, zeros + 1.5]),
        end_s=np.array([zeros + 1.0, zeros + 1.5 + np.array(moving_s)]),
        resource_bytes=np.zeros(0, np.int64),
        events=0,
        solves=0,
    )


def test_moving_leaves_waiting_and_compute_out():
    np.testing.assert_allclose(moving_time_s(made_timeline([3.0, 1.0])), [3.0, 1.0])


@pytest.mark.parametrize(
    ("moving_s", "expected"),
    [
        ([1.0], {0: "slowest"}),
        ([1.0, 2.0], {1: "slowest", 0: "fastest"}),
        ([1.0, 3.0, 2.0], {1: "slowest", 2: "median", 0: "fastest"}),
        ([1.0, 4.0, 2.0, 3.0], {1: "slowest", 2: "median", 0: "fastest"}),
        ([1.0, 1.0, 1.0], {0: "slowest", 1: "median", 2: "fastest"}),  # ties: the lower is slower
    ],
)
def test_roles_in_an_island(moving_s, expected):
    assert island_roles(range(len(moving_s)), np.array(moving_s)) == expected


def test_a_small_cluster_is_shown_whole():
    shown = lanes(made_timeline([1.0, 4.0, 2.0, 3.0]), islands_of(1, 4))
    assert [(lane.rank, lane.role) for lane in shown] == [
        (0, "fastest"),
        (1, "slowest"),
        (2, "median"),
        (3, ""),
    ]


def test_of_more_ranks_three_an_island_are_shown():
    moving_s = np.tile([1.0, 4.0, 2.0, 3.0, 2.5, 2.6, 2.7], 8)
    shown = lanes(made_timeline(moving_s.tolist()), islands_of(8, 7))
    assert len(shown) == 24 < len(moving_s)
    assert [(lane.island, lane.rank % 7, lane.role) for lane in shown[-3:]] == [
        (7, 0, "fastest"),
        (7, 1, "slowest"),
        (7, 5, "median"),
    ]


def test_of_many_islands_the_ends_are_among_those_shown():
    slowness_s = np.arange(100.0)[::-1].copy()
    chosen = shown_islands([(rank,) for rank in range(100)], slowness_s)
    assert len(chosen) == 16
    assert (chosen[0], chosen[-1]) == (0, 99)  # the slowest and the quickest
    assert chosen == sorted(set(chosen))


@pytest.mark.parametrize(("count", "size"), [(1, 1), (1, 49), (49, 1), (16, 3), (128, 8), (2, 72)])
def test_never_more_than_can_be_shown(count, size):
    shown = lanes(made_timeline([1.0] * (count * size)), islands_of(count, size))
    assert 1 <= len(shown) <= MOST_LANES
    assert len({lane.rank for lane in shown}) == len(shown)


def test_slices_are_the_timelines():
    timeline = made_timeline([3.0, 1.0])
    slices = list(lane_slices(timeline, lanes(timeline, islands_of(1, 2))))
    assert [(part.rank, part.operation, part.kind, part.stream) for part in slices] == [
        (0, "work", "compute", "compute"),
        (0, "meet", "collective", "communication"),
        (1, "work", "compute", "compute"),
        (1, "meet", "collective", "communication"),
    ]
    assert (slices[1].enter_s, slices[1].start_s, slices[1].end_s) == (1.0, 1.5, 4.5)


def test_a_rank_that_has_no_part_has_no_slice():
    timeline = made_timeline([3.0, 1.0])
    for times_s in (timeline.enter_s, timeline.start_s, timeline.end_s):
        times_s[1, 0] = np.nan
    slices = lane_slices(timeline, lanes(timeline, islands_of(1, 2)))
    assert [part.operation for part in slices if part.rank == 0] == ["work"]


def test_an_anatomy_survives_its_file():
    topology = uniform_topology(
        islands=1, gpus_per_island=2, scale_up_bytes_per_s=100.0, nic_bytes_per_s=100.0
    )
    ranks = (0, 1)
    flows = Flows(np.array([0], np.int32), np.array([1], np.int32), np.array([300], np.int64))
    program = Program(
        2,
        (
            Compute("work", ranks, np.array([1.0, 2.0])),
            Collective("meet", ranks, (Stage(flows),), after=(0,)),
        ),
    )
    anatomy = anatomy_of(replay(program, topology, tolerance=None), topology, policy="p")
    again = Anatomy.from_json(anatomy.to_json())
    assert again.to_json() == anatomy.to_json()
    assert again.path == anatomy.path
    assert again.phases[0].lead.bottleneck == "scale_up/0/egress"


@pytest.mark.parametrize("key", ["policy", "critical_path", "communication_parts_s", "phases"])
def test_what_is_no_anatomy(key):
    with pytest.raises((KeyError, TypeError)):
        Anatomy.from_json({} if key == "policy" else {"policy": "p", key: {}})


def test_elasticities_survive_their_file():
    found = Elasticities((Elasticity("NIC bandwidth", 2.0, 1.0, 0.5),), (("skew", "no Zipf"),))
    assert Elasticities.from_json(found.to_json()) == found
    assert found.to_json()["elasticities"][0]["value"] == -1.0
