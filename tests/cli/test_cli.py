"""The command line as a person meets it: what it prints, what it writes, and how it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPOLOGY = ROOT / "topologies" / "teaching_2x2.yaml"
WORKLOAD = ROOT / "workloads" / "tiny.yaml"
EXPERIMENT = f"""
name: small
topology: {TOPOLOGY}
workload: {WORKLOAD}
policies: [row_wise, {{name: flexshard, memory: hbm}}]
iterations: 3
seed: 5
"""


def shardsim(*arguments: object, cwd: Path = ROOT, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "80", "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "simulator.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(EXPERIMENT)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def assert_refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr


def test_run_writes_the_folder_and_prints_within_80_columns(experiment, tmp_path):
    result = shardsim("run", experiment, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert max(map(len, result.stdout.replace(str(tmp_path), "").splitlines())) <= 80
    names = set(contents(tmp_path / "out"))
    assert {
        "summary.csv",
        "summary.json",
        "iterations.csv",
        "phases.csv",
        "links.csv",
        "manifest.json",
    } <= names
    assert {"report.html", "plots/traffic.png", "plots/traffic.svg"} <= names
    assert any(name.startswith("trace_") for name in names)
    assert any(name.startswith("traffic_") for name in names)


def test_two_runs_are_equal_to_the_byte_whatever_the_hash_seed(experiment, tmp_path):
    assert shardsim("run", experiment, "--out", tmp_path / "a", hash_seed="1").returncode == 0
    assert shardsim("run", experiment, "--out", tmp_path / "b", hash_seed="77").returncode == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_second_run_computes_nothing_again(experiment, tmp_path):
    assert shardsim("run", experiment, "--out", tmp_path / "a").returncode == 0
    before = contents(tmp_path / "a")
    (tmp_path / "a" / "summary.csv").unlink()
    assert shardsim("run", experiment, "--out", tmp_path / "a").returncode == 0
    assert contents(tmp_path / "a") == before


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    experiment = tmp_path / "small.yaml"
    experiment.write_text(EXPERIMENT.replace("iterations: 3", "iterations: 60"))
    assert shardsim("run", experiment, "--out", tmp_path / "whole").returncode == 0
    command = [
        sys.executable,
        "-m",
        "simulator.cli",
        "run",
        str(experiment),
        "--out",
        str(tmp_path / "killed"),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed" / "iterations.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        checkpoint.exists() and checkpoint.read_bytes().count(b"\n") > 5
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = checkpoint.read_bytes().count(b"\n")
    assert finished > 5
    assert shardsim("run", experiment, "--out", tmp_path / "killed").returncode == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_compare_writes_the_documented_keys(tmp_path):
    out = tmp_path / "c.json"
    result = shardsim(
        "compare", TOPOLOGY, WORKLOAD, "--policy", "row_wise", "--policy", "table_wise", "--json", out
    )
    assert result.returncode == 0, result.stderr
    figures = json.loads(out.read_text())
    assert figures["baseline"] == "row_wise"
    assert figures["provenance"]["seed"] == 0
    keys = {
        "policy", "global_all_to_all_bytes", "inter_island_bytes", "intra_island_bytes",
        "replica_sync_inter_island_bytes", "communication_s", "communication_without_sync_s", "iteration_s",
        "bound_s", "memory_bytes_per_rank_max", "all_to_all_reduction", "communication_speedup", "bottleneck",
        "imbalance",
    }  # fmt: skip
    for row in figures["policies"]:
        assert keys <= set(row)
        assert row["communication_s"] >= row["bound_s"]
    assert figures["policies"][0]["communication_speedup"] == 1


def test_all_to_all_gives_nccl_tests_figures(tmp_path):
    topology = tmp_path / "t.yaml"
    topology.write_text(
        "name: t\nsource: hand\nislands: 2\ngpus_per_island: 8\n"
        "gpu: {hbm_capacity: 80 GB, hbm_bandwidth: 3 TB/s}\n"
        "scale_up: {bandwidth: 450 GB/s}\nscale_out: {nics_per_island: 8, nic_bandwidth: 50 GB/s}\n"
    )
    out = tmp_path / "a.json"
    result = shardsim("all-to-all", topology, "--bytes", "1 GB", "--exact", "--json", out)
    assert result.returncode == 0, result.stderr
    figures = json.loads(out.read_text())
    assert figures["time_s"] == pytest.approx(0.010, rel=1e-9)
    assert figures["algbw_bytes_per_s"] == pytest.approx(100e9, rel=1e-9)
    assert figures["busbw_bytes_per_s"] == pytest.approx(93.75e9, rel=1e-9)
    assert len(figures["rank_finish_s"]) == 16


def test_all_to_all_reads_a_matrix_and_writes_flows(tmp_path):
    matrix, flows = tmp_path / "m.txt", tmp_path / "f.csv"
    matrix.write_text("0 5 0 0\n0 0 0 0\n7 0 9 0\n0 0 0 0\n")
    assert shardsim("all-to-all", TOPOLOGY, "--matrix", matrix, "--flows", flows).returncode == 0
    lines = flows.read_text().splitlines()
    assert lines[0] == "source,destination,bytes,finish_s"
    assert [line.rsplit(",", 1)[0] for line in lines[1:]] == ["0,1,5", "2,0,7"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (EXPERIMENT.replace("row_wise", "row_wize"), ["small.yaml:5:", "row_wize", "did you mean 'row_wise'"]),
        (EXPERIMENT.replace("seed: 5", "sead: 5"), ["small.yaml:7:", "sead", "seed"]),
        (EXPERIMENT.replace("iterations: 3", "iterations: 0"), ["small.yaml:6:", "iterations"]),
        (EXPERIMENT.replace(str(TOPOLOGY), "nowhere.yaml"), ["nowhere.yaml", "no such file"]),
        (EXPERIMENT + "baseline: table_wise\n", ["baseline", "table_wise", "row_wise"]),
        ("", ["small.yaml", "empty"]),
    ],
)  # fmt: skip
def test_a_wrong_experiment_is_told_in_plain_lines(text, words, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(text)
    assert_refused(shardsim("run", path, "--out", tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_told_before_any_work(experiment, tmp_path):
    (tmp_path / "file").write_text("")
    assert_refused(
        shardsim("run", experiment, "--out", tmp_path / "file" / "out"), "cannot be used for results"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bytes", "5"], ["--bytes", "5 GB"]),
        ([], ["either"]),
        (["--bytes", "1 GB", "--matrix", "m.txt"], ["either"]),
    ],
)
def test_all_to_all_refuses_what_it_cannot_read(arguments, words):
    assert_refused(shardsim("all-to-all", TOPOLOGY, *arguments), *words)


def test_validate_tells_every_file_and_fails_if_one_is_wrong(tmp_path):
    good = shardsim("validate", TOPOLOGY, WORKLOAD)
    assert good.returncode == 0
    assert len(good.stdout.splitlines()) == 2
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: x\n")
    both = shardsim("validate", TOPOLOGY, wrong)
    assert both.returncode == 2
    assert "wrong.yaml" in both.stderr
    assert "teaching_2x2" in both.stdout


def test_help_imports_nothing_heavy():
    code = (
        "import sys; import simulator.verbs.app; "
        "print(sorted({'pandas', 'matplotlib', 'numba', 'scipy', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def test_compare_goes_on_until_it_knows_or_as_often_as_asked():
    asked = ("compare", TOPOLOGY, WORKLOAD, "-p", "row_wise", "--engine", "bound", "--iterations")
    result = shardsim(*asked, "auto")
    assert result.returncode == 0, result.stderr
    assert "- Iterations: until the 95 % interval" in result.stdout
    assert_refused(shardsim(*asked, "0"), "--iterations:1:1: found 0, allowed: at least 1 or 'auto'")
    assert_refused(
        shardsim(*asked, "many"), "--iterations:1:1: found 'many', allowed: a whole number or 'auto'"
    )


def test_only_what_is_computed_is_announced(experiment, tmp_path):
    def announced():
        told = shardsim("run", experiment, "--out", tmp_path / "out").stderr.splitlines()
        return [line for line in told if not line.startswith("compiling")]

    policies = ["small: row_wise ...", "small: flexshard memory=hbm ..."]
    assert announced() == policies
    assert announced() == ["small: all was computed before"]
    checkpoint = tmp_path / "out" / "iterations.jsonl"
    checkpoint.write_text("".join(checkpoint.read_text().splitlines(keepends=True)[:-2]))
    assert announced() == ["small: flexshard memory=hbm from iteration 1 ..."]


def test_a_sweeps_refused_points_are_told_with_their_reasons(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(
        f"name: s\ntopology: {TOPOLOGY}\nworkload: {WORKLOAD}\npolicies: [row_wise]\n"
        "vary: {workload.batch_per_rank: [4, -1, -2, -3, -4, -5, -6]}\n"
    )
    first, *lines = shardsim("validate", file).stdout.splitlines()
    assert first.endswith("sweep 's', 7 bound points, 6 of them refused:")
    assert (
        lines[0] == "  row_wise at workload.batch_per_rank -1: batch_per_rank: found -1: must be at least 0"
    )
    assert lines[5:] == ["  and 1 more"]
