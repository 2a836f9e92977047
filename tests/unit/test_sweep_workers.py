"""Local worker processes: the same results as here, and what happens when one dies."""

import os
import signal

import pytest
from sweep_inputs import small_sweep

from simulator.errors import UserError
from simulator.sweeps.bench import Result, compute
from simulator.sweeps.choose import cores, workers_for
from simulator.sweeps.collect import tasks_of
from simulator.sweeps.workers import DIED, LocalProcesses, ThisProcess

MARK = "SHARDSIM_TEST_MARK"


def dying_on_tiers(points) -> list[Result]:
    """Kills its process whenever it meets the policy `tiers`."""
    if any(point.label == "tiers" for point in points):
        os.kill(os.getpid(), signal.SIGKILL)
    return compute(points)


def dying_once(points) -> list[Result]:
    """Kills its process the first time that it is called at all."""
    try:
        os.close(os.open(os.environ[MARK], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return compute(points)
    os.kill(os.getpid(), signal.SIGKILL)
    return []


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    return small_sweep(tmp_path_factory.mktemp("sweep")).points("bound")


def by_key(workers, points) -> dict[str, Result]:
    found = [result for results in workers.run(tasks_of(points, workers.count)) for result in results]
    assert len(found) == len({result.key for result in found})  # nothing double
    return {result.key: result for result in found}


@pytest.fixture(scope="module")
def here(points):
    return by_key(ThisProcess(), points)


def test_processes_answer_as_this_one_does(points, here):
    assert by_key(LocalProcesses(2), points) == here
    assert len(here) == 8
    assert not any(result.error for result in here.values())


def test_a_point_that_kills_its_worker_is_an_error_and_the_others_go_on(points, here):
    few = points[:3]
    assert [point.label for point in few] == ["row_wise", "tiers", "row_wise"]
    found = by_key(LocalProcesses(2, dying_on_tiers), few)
    assert found == {
        few[0].key: here[few[0].key],
        few[1].key: Result(few[1].key, {}, DIED),
        few[2].key: here[few[2].key],
    }


def test_a_worker_that_dies_once_costs_nothing(points, here, tmp_path, monkeypatch):
    monkeypatch.setenv(MARK, str(tmp_path / "died"))
    few = points[:3]
    assert by_key(LocalProcesses(2, dying_once), few) == {point.key: here[point.key] for point in few}
    assert (tmp_path / "died").exists()


def test_leaving_early_ends_the_workers(points):
    run = LocalProcesses(2).run([[point] for point in points])
    next(run)
    run.close()


class TestTasks:
    def test_points_that_share_a_placement_go_together(self, points):
        tasks = tasks_of(points, 1)
        assert sorted(point.key for task in tasks for point in task) == sorted(point.key for point in points)
        assert all(len({point.label for point in task}) == 1 for task in tasks)

    def test_tasks_are_small_enough_for_all_workers(self, points):
        assert max(map(len, tasks_of(points, 1))) == 2
        assert max(map(len, tasks_of(points, 8))) == 1

    def test_closer_points_go_one_by_one(self, tmp_path):
        fluid = small_sweep(tmp_path).points("fluid")
        assert {len(task) for task in tasks_of(fluid, 1)} == {1}

    def test_no_points_are_no_tasks(self):
        assert tasks_of([], 2) == []


class TestChoice:
    def test_one_is_this_process(self):
        with workers_for(1, None) as workers:
            assert isinstance(workers, ThisProcess)

    def test_several_are_processes(self):
        with workers_for(3, None) as workers:
            assert workers.count == 3

    def test_by_default_one_a_core(self):
        with workers_for(None, None) as workers:
            assert workers.count == cores() >= 1

    def test_not_both(self):
        with pytest.raises(UserError, match="not both"), workers_for(2, "tcp://localhost:1"):
            pass
