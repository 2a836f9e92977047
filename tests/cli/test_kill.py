"""Runs that end early: killed at any moment, stopped by Ctrl-C, out of disk. Nothing finished is lost."""

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import ROOT, contents, finish, finished, start

TOPOLOGY = ROOT / "topologies" / "teaching_2x2.yaml"
WORKLOAD = ROOT / "workloads" / "tiny.yaml"
EXPERIMENT = f"""\
name: kill
topology: {TOPOLOGY}
workload: {WORKLOAD}
policies: [row_wise, {{name: flexshard, memory: hbm}}, table_wise]
iterations: ITERATIONS
seed: 5
"""
SWEEP = f"""\
name: kill
topology: {TOPOLOGY}
workload: {WORKLOAD}
policies: [row_wise, table_wise]
engine: fluid
vary: {{workload.batch_per_rank: [8, 16, 32, 64, 128, 256, 512, 1024]}}
"""
SEED = 20_230_207
HEADER = 1  # lines of a checkpoint before its records


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "kill.yaml"
    path.write_text(EXPERIMENT.replace("ITERATIONS", "12"))
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of an undisturbed run, report and all."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path = folder / "kill.yaml"
    path.write_text(EXPERIMENT.replace("ITERATIONS", "12"))
    finished("run", path, "--out", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sequence[object]:
    """The words of a sweep on two workers, but for its folder."""
    path = tmp_path_factory.mktemp("swept") / "kill.yaml"
    path.write_text(SWEEP)
    return "sweep", path, "--workers", 2


@pytest.fixture(scope="module")
def whole_sweep(sweep: Sequence[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of an undisturbed sweep."""
    folder = tmp_path_factory.mktemp("undisturbed_sweep")
    finished(*sweep, "--out", folder)
    return folder


def without_report(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: files[name] for name in files if name != "report.html" and not name.startswith("plots")}


def killed_thrice(words: Sequence[object], out: Path, *, seed: int, expected: dict[str, bytes]) -> None:
    """At random moments: while importing, planning, computing, drawing or writing; then left alone."""
    moments = random.Random(seed)
    for _ in range(3):
        process = start(*words, "--out", out)
        time.sleep(moments.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert all(name in expected or name.endswith(".partial") for name in contents(out))
    finished(*words, "--out", out)
    left = contents(out)
    assert {name: left[name] for name in expected} == expected


@pytest.mark.parametrize("number", range(2))
def test_a_run_killed_thrice_ends_as_an_undisturbed_one(
    experiment: Path, tmp_path: Path, whole: Path, number: int
) -> None:
    killed_thrice(["run", experiment], tmp_path / "out", seed=SEED + number, expected=contents(whole))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2, 9))
def test_a_run_killed_at_twenty_more_moments(
    experiment: Path, tmp_path: Path, whole: Path, number: int
) -> None:
    killed_thrice(["run", experiment], tmp_path / "out", seed=SEED + number, expected=contents(whole))


def test_a_sweep_killed_thrice_ends_as_an_undisturbed_one(
    sweep: Sequence[object], tmp_path: Path, whole_sweep: Path
) -> None:
    killed_thrice(sweep, tmp_path / "out", seed=SEED, expected=contents(whole_sweep))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 8))
def test_a_sweep_killed_at_twenty_more_moments(
    sweep: Sequence[object], tmp_path: Path, whole_sweep: Path, number: int
) -> None:
    killed_thrice(sweep, tmp_path / "out", seed=SEED + number, expected=contents(whole_sweep))


def test_records_that_were_cut_or_spoiled_are_replayed_again(
    experiment: Path, tmp_path: Path, whole: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    checkpoint = out / "iterations.jsonl"
    lines = checkpoint.read_bytes().splitlines(keepends=True)
    lines[3] = b"\xff\x00 no record\n"
    lines[5] = b'{"policy": "row_wise"}\n'
    checkpoint.write_bytes(b"".join(lines)[:-20])
    finished("run", experiment, "--out", out, report=False)
    left, expected = contents(out), contents(whole)
    records = (left.pop("iterations.jsonl").splitlines(), expected.pop("iterations.jsonl").splitlines())
    assert sorted(records[0]) == sorted(records[1])
    assert left == expected


def files_of_at_most(size_bytes: int) -> None:
    """As on a full disk: what would make a file longer fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


def refused_by_a_full_disk(experiment: Path, out: Path, size_bytes: int) -> None:
    process = start("run", experiment, "--out", out, preexec_fn=lambda: files_of_at_most(size_bytes))
    code, printed, err = finish(process)
    assert (code, printed) == (2, "")
    assert re.fullmatch(rf"{out}\S*: .*: File too large", err.splitlines()[-1])
    assert "Traceback" not in err
    assert not list(out.rglob("*.partial"))


def test_a_full_disk_is_one_line_and_with_room_the_run_goes_on(
    experiment: Path, tmp_path: Path, whole: Path
) -> None:
    out = tmp_path / "out"
    refused_by_a_full_disk(experiment, out, 12_000)
    finished("run", experiment, "--out", out)
    assert without_report(contents(out)) == without_report(contents(whole))


@pytest.mark.parametrize("size_bytes", [0, 150_000])
def test_a_disk_full_from_the_start_or_at_the_end_is_one_line(
    experiment: Path, tmp_path: Path, size_bytes: int
) -> None:
    refused_by_a_full_disk(experiment, tmp_path / "out", size_bytes)


def test_a_full_disk_for_what_is_printed_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "simulator.cli", "policies"],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "output: No space left on device\n"


def test_a_reader_that_leaves_is_no_error_worth_a_word() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "simulator.cli", "schema", "topology"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_line(experiment: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    code, printed, err = finish(start("run", experiment, "--out", locked / "out"))
    assert (code, printed) == (2, "")
    assert err == f"{locked / 'out'}: cannot be used for results: Permission denied\n"
