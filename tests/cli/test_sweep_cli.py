"""Sweeps on the command line: what they print, a kill, several workers, refusals, and merging."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, members_of, shardsim, wait_for

from simulator.sweeps.csv_file import read_rows

SWEEP = f"""
name: small
topology: {ROOT / "topologies" / "teaching_2x2.yaml"}
workload: {ROOT / "workloads" / "tiny.yaml"}
policies: [row_wise, {{name: flexshard, memory: hbm, label: tiers}}]
vary:
  topology.scale_out.nic_bandwidth: [10 Gbit/s, 20 Gbit/s, 40 Gbit/s, 80 Gbit/s]
  workload.batch_per_rank: [8, 16, 32, 64]
"""
ENVIRONMENT = os.environ | {"COLUMNS": "80"}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "simulator.cli", *map(str, arguments)]


def assert_refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SWEEP)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The sweep computed by one process: the folder, and what the command printed."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.yaml").write_text(SWEEP)
    result = shardsim("sweep", folder / "small.yaml", "--out", folder / "out", "--workers", 1)
    assert result.returncode == 0, result.stderr
    return folder / "out", result


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_prints_within_80_columns_and_tells_its_progress(finished):
    out, result = finished
    *lines, last = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert last == f"Results: {out}/sweep.csv and report.html"
    assert "32 points, 0 failed" in result.stdout
    assert "nic_bandwidth=80 Gbit/s, batch_per_rank=8" in " ".join(result.stdout.split())
    assert "small: 0 of 32 bound points\n" in result.stderr
    assert "points/s" in result.stderr
    assert " left" in result.stderr
    assert len(read_rows(out / "sweep.csv")[1]) == 32


def test_two_workers_leave_the_same_bytes(file, finished, tmp_path):
    result = shardsim("sweep", file, "--out", tmp_path / "out", "--workers", 2)
    assert result.returncode == 0, result.stderr
    assert contents(tmp_path / "out") == contents(finished[0])


@pytest.mark.parametrize("workers", [1, 2])
def test_after_a_kill_the_same_command_goes_on(file, finished, tmp_path, workers):
    out = tmp_path / "out"
    words = command("sweep", file, "--out", out, "--workers", workers)
    with subprocess.Popen(
        words, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, start_new_session=True
    ) as run:
        wait_for(lambda: (out / "sweep.csv").exists() and len(read_rows(out / "sweep.csv")[1]) >= 4)
        run.send_signal(signal.SIGKILL)
        run.wait()
        wait_for(lambda: not members_of(run.pid))  # its workers leave by themselves
    survived = read_rows(out / "sweep.csv")[1]
    assert 4 <= len(survived) < 32
    again = subprocess.run(words, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert f"small: {len(survived)} of 32 bound points" in again.stderr
    assert contents(out) == contents(finished[0])


def test_ctrl_c_ends_it_with_a_line_and_keeps_what_was_computed(file, finished, tmp_path):
    out = tmp_path / "out"
    words = command("sweep", file, "--out", out, "--workers", 2)
    with subprocess.Popen(
        words, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        wait_for(lambda: (out / "sweep.csv").exists() and len(read_rows(out / "sweep.csv")[1]) >= 4)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers too
        _, said = run.communicate(timeout=60)
        wait_for(lambda: not members_of(run.pid))
    assert run.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted" in said.splitlines()[-1]
    assert len(read_rows(out / "sweep.csv")[1]) >= 4
    assert subprocess.run(words, cwd=ROOT, env=ENVIRONMENT, capture_output=True, timeout=120).returncode == 0
    assert contents(out) == contents(finished[0])


def test_failures_are_told_and_do_not_stop_the_rest(file, tmp_path):
    file.write_text(SWEEP.replace("[8, 16, 32, 64]", "[8, -1]"))
    result = shardsim("sweep", file, "--out", tmp_path / "out", "--workers", 1)
    assert result.returncode == 0
    assert "16 points, 8 failed" in result.stdout
    assert "8 failed: batch_per_rank" in result.stdout


def test_parts_of_a_sweep_combine_into_the_whole(finished, tmp_path):
    for half, values in (("a", "[10 Gbit/s, 20 Gbit/s]"), ("b", "[40 Gbit/s, 80 Gbit/s]")):
        part = tmp_path / f"{half}.yaml"
        part.write_text(SWEEP.replace("[10 Gbit/s, 20 Gbit/s, 40 Gbit/s, 80 Gbit/s]", values))
        shardsim("sweep", part, "--out", tmp_path / half, "--workers", 1)
    joined = tmp_path / "joined.csv"
    result = shardsim(
        "sweep-combine", tmp_path / "a" / "sweep.csv", tmp_path / "b" / "sweep.csv", "--out", joined
    )
    assert result.stdout == f"{joined}: 32 points\n"
    assert joined.read_bytes() == (finished[0] / "sweep.csv").read_bytes()


def test_a_plot_of_another_key_and_figure(finished, tmp_path):
    picture = tmp_path / "picture.png"
    arguments = ("sweep-plot", finished[0] / "sweep.csv", "--out", picture)
    result = shardsim(*arguments, "--x", "workload.batch_per_rank", "--y", "inter_island_bytes")
    assert result.stdout == f"{picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.with_suffix(".svg").exists()
    assert_refused(shardsim(*arguments, "--x", "batch"), "'batch' was not varied", "workload.batch_per_rank")
    assert_refused(shardsim(*arguments, "--y", "speed"), "'speed' is no figure to draw", "communication_s")


def test_refusals(file, tmp_path):
    assert_refused(shardsim("sweep", tmp_path / "absent.yaml"), "absent.yaml: no such file")
    file.write_text(SWEEP + "engin: fluid\n")
    assert_refused(shardsim("sweep", file), "small.yaml:", "engin: unknown key", "did you mean 'engine'?")
    file.write_text(SWEEP.replace("nic_bandwidth", "nic_bandwith"))
    assert_refused(shardsim("sweep", file, "--out", tmp_path / "out"), "nic_bandwith")
    file.write_text(SWEEP)
    assert_refused(shardsim("sweep", file, "--dask", "nowhere", "--workers", 2), "not both")


class TestNothingComputed:
    """A sweep whose every point failed has a folder that says why, and a status that says so to scripts."""

    @pytest.fixture
    def failed(self, tmp_path):
        path = tmp_path / "failed.yaml"
        path.write_text(SWEEP.partition("vary:")[0] + "vary: {topology.gpu.hbm_capacity: [1 B, 2 B]}\n")
        return shardsim("sweep", path, "--out", tmp_path / "out", "--workers", 1), tmp_path / "out"

    def test_its_status_is_1_and_its_page_is_there(self, failed):
        result, out = failed
        assert result.returncode == 1
        assert result.stderr.endswith(f"{out}: every point failed\n")
        assert "4 points, 4 failed" in result.stdout
        assert (out / "report.html").exists()

    def test_there_is_nothing_to_draw(self, failed, tmp_path):
        result = shardsim("sweep-plot", failed[1], "--out", tmp_path / "p.png")
        assert_refused(result, "sweep: no point has an answer, there is nothing to draw")


def test_a_picture_by_the_folder_and_by_the_csv_is_the_same(finished, tmp_path):
    out = finished[0]
    for name, source in (("a", out), ("b", out / "sweep.csv")):
        assert shardsim("sweep-plot", source, "--out", tmp_path / f"{name}.png").returncode == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


class TestFrontier:
    PRICES = """
    unit: USD
    prices:
      - {where: {topology.scale_out.nic_bandwidth: 10 GB/s}, price: 900_000}
      - {where: {topology: teaching_2x2}, price: 500_000}
    """

    @pytest.fixture
    def results(self, finished):
        return finished[0]

    def test_fronts_prices_and_the_cheapest(self, results, tmp_path):
        prices = tmp_path / "prices.yaml"
        prices.write_text(self.PRICES)
        result = shardsim(
            "frontier", results, "--prices", prices, "--target", "1 s", "--out", tmp_path / "f.png"
        )
        assert result.returncode == 0, result.stderr
        assert max(map(len, result.stdout.splitlines())) <= 80
        assert "nic_bandwidth=80 Gbit/s" in result.stdout
        assert "900,000" in result.stdout
        assert "Cheapest within 1.00 s: nic_bandwidth=40 Gbit/s" in result.stdout  # of equals the quickest
        assert (tmp_path / "f.png").exists()

    def test_refusals(self, results, tmp_path):
        prices = tmp_path / "prices.yaml"
        prices.write_text(self.PRICES)
        assert_refused(shardsim("frontier", results, "--target", "1 s"), "--target needs --prices")
        arguments = ("frontier", results, "--prices", prices, "--target")
        assert_refused(shardsim(*arguments, "5"), "--target", "bare number")
        prices.write_text("prices: [{where: {topologie: x}, price: 3}]")
        refused = shardsim(*arguments, "5 ms")
        assert_refused(refused, "unknown column 'topologie'", "did you mean 'topology'?", f"{prices}:1:")
        assert refused.stdout == ""
        assert_refused(shardsim("frontier", tmp_path), "sweep.csv: no such file or directory")

    def test_as_plain_data(self, results, tmp_path):
        result = shardsim("frontier", results, "--json", tmp_path / "f.json")
        assert result.returncode == 0, result.stderr
        found = json.loads((tmp_path / "f.json").read_text())
        candidates = [each for setting in found["settings"] for each in setting["candidates"]]
        rows = {row["key"]: row for row in read_rows(results / "sweep.csv")[1]}
        assert found["by"] == "communication_s"
        assert {each["key"] for each in candidates} == set(rows)
        assert all(each["latency_s"] == float(rows[each["key"]]["communication_s"]) for each in candidates)
        assert all(any(each["on_front"] for each in own["candidates"]) for own in found["settings"])

    def test_prices_of_a_run_go_by_what_the_docs_list(self, run_folder, tmp_path):
        prices = tmp_path / "prices.yaml"
        prices.write_text("prices: [{where: {world_size: 4}, price: 3}]")
        result = shardsim("frontier", run_folder, "--prices", prices)
        assert result.returncode == 0, result.stderr
        assert " 3 " in result.stdout

    def test_of_a_run(self, run_folder):
        result = shardsim("frontier", run_folder)
        assert result.returncode == 0, result.stderr
        assert "tiers" in result.stdout
        assert "*" in result.stdout


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "e.yaml").write_text(SWEEP.partition("vary:")[0] + "iterations: 2\n")
    assert shardsim("run", folder / "e.yaml", "--out", folder / "run").returncode == 0
    return folder / "run"


class TestExplain:
    def test_it_prints_within_80_columns_and_writes_plain_data(self, run_folder, tmp_path):
        result = shardsim("explain", run_folder, "--workers", 1, "--json", tmp_path / "e.json")
        assert result.returncode == 0, result.stderr
        assert max(map(len, result.stdout.splitlines())) <= 80
        assert "row_wise: " in result.stdout
        assert "tiers: " in result.stdout
        assert "Most would help: " in result.stdout
        found = json.loads((tmp_path / "e.json").read_text())
        assert [each["policy"] for each in found] == ["row_wise", "tiers"]

    def test_one_policy(self, run_folder):
        result = shardsim("explain", run_folder, "--workers", 1, "--policy", "tiers")
        assert "row_wise: " not in result.stdout
        assert result.stdout.startswith("tiers: ")

    def test_refusals(self, run_folder, tmp_path):
        assert_refused(shardsim("explain", tmp_path), "manifest.json: no such file", "shardsim run")
        assert_refused(shardsim("explain", run_folder, "--policy", "tier"), "unknown policy 'tier'")
