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
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
SEED = 20_230_207
HEADER = 1  # lines of a checkpoint before its records
WITHOUT_REPORT = """
import simulator.experiment.run as run
run.build_report = lambda folder: None
from simulator.cli import main
main()
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "kill.yaml"
    path.write_text(EXPERIMENT.replace("ITERATIONS", "12"))
    return path


def start(*arguments: object, report: bool = False, **options: object) -> "subprocess.Popen[str]":
    """The command line; without `report` it draws none, which takes most of a small run's time."""
    program = ["-m", "simulator.cli"] if report else ["-c", WITHOUT_REPORT]
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def lines_of(checkpoint: Path) -> int:
    return checkpoint.read_bytes().count(b"\n") if checkpoint.exists() else 0


def wait_until_lines(checkpoint: Path, count: int, process: "subprocess.Popen[str]") -> None:
    while lines_of(checkpoint) < count and process.poll() is None:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of an undisturbed run, report and all."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path = folder / "kill.yaml"
    path.write_text(EXPERIMENT.replace("ITERATIONS", "12"))
    code, _, err = finish(start("run", path, "--out", folder / "out", report=True))
    assert code == 0, err
    return folder / "out"


def without_report(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: files[name] for name in files if name != "report.html" and not name.startswith("plots")}


def killed_thrice(experiment: Path, out: Path, *, seed: int, expected: dict[str, bytes]) -> None:
    """At random moments: while importing, planning, replaying, drawing or writing; then left alone."""
    moments = random.Random(seed)
    for _ in range(3):
        process = start("run", experiment, "--out", out, report=True)
        time.sleep(moments.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert all(name in expected or name.endswith(".partial") for name in contents(out))
    code, _, err = finish(start("run", experiment, "--out", out, report=True))
    assert code == 0, err
    left = contents(out)
    assert {name: left[name] for name in expected} == expected


@pytest.mark.parametrize("number", range(2))
def test_killed_thrice_the_results_are_those_of_an_undisturbed_run(
    experiment: Path, tmp_path: Path, whole: Path, number: int
) -> None:
    killed_thrice(experiment, tmp_path / "out", seed=SEED + number, expected=contents(whole))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2, 12))
def test_killed_thirty_times_more(experiment: Path, tmp_path: Path, whole: Path, number: int) -> None:
    killed_thrice(experiment, tmp_path / "out", seed=SEED + number, expected=contents(whole))


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
    code, _, err = finish(start("run", experiment, "--out", out))
    assert code == 0, err
    left, expected = contents(out), contents(whole)
    records = (left.pop("iterations.jsonl").splitlines(), expected.pop("iterations.jsonl").splitlines())
    assert sorted(records[0]) == sorted(records[1])
    assert left == expected


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(tmp_path: Path) -> None:
    experiment, out = tmp_path / "kill.yaml", tmp_path / "out"
    experiment.write_text(EXPERIMENT.replace("ITERATIONS", "3000"))
    process = start("run", experiment, "--out", out)
    wait_until_lines(out / "iterations.jsonl", HEADER + 20, process)
    process.send_signal(signal.SIGINT)
    code, printed, err = finish(process)
    assert code == 130
    assert printed == ""
    assert err.splitlines()[-1] == (
        f"interrupted: what is finished is kept in {out}, and the same command goes on from there"
    )
    assert "Traceback" not in err
    kept = lines_of(out / "iterations.jsonl")
    assert HEADER + 20 <= kept < HEADER + 3000
    process = start("run", experiment, "--out", out)
    wait_until_lines(out / "iterations.jsonl", kept + 1, process)
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    assert lines_of(out / "iterations.jsonl") > kept


def test_ctrl_c_of_a_comparison_is_one_line(tmp_path: Path) -> None:
    process = start(
        "compare", TOPOLOGY, WORKLOAD, "--policy", "row_wise", "--iterations", "100000", "--json", tmp_path / "c"
    )  # fmt: skip
    assert process.stderr is not None
    assert "row_wise" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    code, printed, err = finish(process)
    assert (code, printed, err) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def files_of_at_most(size_bytes: int) -> None:
    """As on a full disk: what would make a file longer fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


def refused_by_a_full_disk(experiment: Path, out: Path, size_bytes: int) -> None:
    process = start(
        "run", experiment, "--out", out, report=True, preexec_fn=lambda: files_of_at_most(size_bytes)
    )
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
    code, _, err = finish(start("run", experiment, "--out", out))
    assert code == 0, err
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
