"""A sweep on a Dask cluster of separate processes: the same bytes, also when a worker is killed on the way."""

import os
import signal
import time
from pathlib import Path

import pytest
from sweep_inputs import small_sweep

from simulator.errors import UserError
from simulator.sweeps.choose import workers_for
from simulator.sweeps.cluster import DaskCluster, connected
from simulator.sweeps.collect import Progress, collect

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

VARY = {
    "topology.scale_out.nic_bandwidth": [f"{rate} Gbit/s" for rate in (50, 100, 150, 200, 250)],
    "workload.batch_per_rank": [8, 16, 32],
}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return small_sweep(tmp_path_factory.mktemp("sweep"), vary=VARY, then={"for": "best 2"})


@pytest.fixture(scope="module")
def whole(sweep):
    path = sweep.folder / "whole.csv"
    collect(sweep, path)
    return path.read_bytes()


def test_it_leaves_the_same_bytes(cluster, sweep, whole, tmp_path):
    path = tmp_path / "out.csv"
    with workers_for(None, cluster.scheduler_address) as workers:
        assert workers.count == 2
        collect(sweep, path, workers=workers)
    assert path.read_bytes() == whole


def test_a_worker_killed_on_the_way_loses_nothing_and_doubles_nothing(cluster, sweep, whole, tmp_path):
    path = tmp_path / "out.csv"
    killed: list[int] = []
    told: list[Progress] = []

    def kill_one(progress: Progress) -> None:
        told.append(progress)
        if progress.computed and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster.scheduler_address) as client:
        collect(sweep, path, workers=DaskCluster(client), observer=kill_one)
    assert killed
    assert path.read_bytes() == whole
    assert [each.computed for each in told if each.engine == "fluid"][-1] == 4
    assert max(each.computed for each in told if each.engine == "bound") == 30


def test_an_address_at_which_nobody_is(monkeypatch):
    monkeypatch.setattr("simulator.sweeps.cluster.CONNECT_TIMEOUT_S", 1)
    begin = time.monotonic()
    with pytest.raises(UserError, match="no scheduler answers at"):
        connected("tcp://127.0.0.1:1")
    assert time.monotonic() - begin < 30
    with pytest.raises(UserError, match="no scheduler answers at"):
        connected("nonsense://here")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UserError, match="pip install"):
        connected("tcp://127.0.0.1:1")


def test_traces_are_found_from_another_current_folder(cluster, tmp_path, monkeypatch):
    """`shardsim sweep s.yaml` names its files by the folder it is called in; workers stand elsewhere."""
    monkeypatch.chdir(tmp_path)
    Path("clicks.txt").write_text("1 2 3\n2 3\n3\n")
    Path("news.yaml").write_text(
        "{name: news, batch_per_rank: 4, embedding_dtype: fp16, "
        "tables: [{name: clicks, rows: 9, dim: 4, trace: {path: clicks.txt, format: sessions}}]}"
    )
    vary = {"topology.scale_out.nic_bandwidth": ["10 Gbit/s", "20 Gbit/s"]}
    sweep = small_sweep(Path(), workload="news.yaml", policies=["row_wise"], vary=vary)
    with workers_for(None, cluster.scheduler_address) as workers:
        rows = collect(sweep, Path("out.csv"), workers=workers)
    assert [row.get("error", "") for row in rows] == ["", ""]
