"""Ctrl-C in every verb that takes long: a line that says how to go on, status 130, no process left behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from command import (
    ROOT,
    contents,
    finish,
    finished,
    lines_of,
    members_of,
    start,
    wait_for,
    wait_until_lines,
)

TOPOLOGY = ROOT / "topologies" / "dgx_h100_16x8.yaml"
WORKLOAD = ROOT / "workloads" / "headline_40.yaml"
SMALL = f"""\
name: long
topology: {ROOT / "topologies" / "teaching_2x2.yaml"}
workload: {ROOT / "workloads" / "tiny.yaml"}
policies: [row_wise, flexshard]
"""
RATES = [f"{number} Gbit/s" for number in range(10, 400)]
HEADER = 1  # lines of a checkpoint before its records
GO_ON = "interrupted: what is finished is kept in {}, and the same command goes on from there"


def run_of(folder: Path) -> tuple[object, ...]:
    (folder / "run.yaml").write_text(SMALL + "iterations: 100000\n")
    return "run", folder / "run.yaml", "--out", folder / "out"


def compare_of(folder: Path) -> tuple[object, ...]:
    words = ("compare", TOPOLOGY, WORKLOAD, "--policy", "row_wise", "--iterations", 10_000)
    return (*words, "--json", folder / "figures.json")


def sweep_of(folder: Path, workers: int) -> tuple[object, ...]:
    text = f"name: long\ntopology: {TOPOLOGY}\nworkload: {WORKLOAD}\npolicies: [row_wise, flexshard]\n"
    text += f"engine: fluid\nvary: {{topology.scale_out.nic_bandwidth: [{', '.join(RATES)}]}}\n"
    (folder / "sweep.yaml").write_text(text)
    return "sweep", folder / "sweep.yaml", "--out", folder / "out", "--workers", workers


def explain_of(folder: Path) -> tuple[object, ...]:
    text = f"name: e\ntopology: {TOPOLOGY}\nworkload: {WORKLOAD}\npolicies: [row_wise]\niterations: 1\n"
    (folder / "explained.yaml").write_text(text)
    finished("run", folder / "explained.yaml", "--out", folder / "explained", report=False)
    return "explain", folder / "explained", "--workers", 2


def figures_of(folder: Path) -> tuple[object, ...]:
    return "figures", "--out", folder / "out"


def profile_of(folder: Path) -> tuple[object, ...]:
    (folder / "trace.txt").write_text("1 2 3 4 5 6 7 8\n" * 8_000_000)
    return "profile", folder / "trace.txt", "--format", "sessions"


def all_to_all_of(folder: Path) -> tuple[object, ...]:
    big = TOPOLOGY.read_text().replace("islands: 16", "islands: 64")
    (folder / "big.yaml").write_text(big)
    rows = (" ".join(str(1 + (7 * row + 3 * column) % 99_991) for column in range(512)) for row in range(512))
    (folder / "matrix.txt").write_text("\n".join(rows))
    return "all-to-all", folder / "big.yaml", "--matrix", folder / "matrix.txt", "--exact"


@pytest.mark.parametrize(
    ("words_of", "goes_on"),
    [
        (run_of, True),
        (compare_of, False),
        (lambda folder: sweep_of(folder, 1), True),
        (lambda folder: sweep_of(folder, 2), True),
        (explain_of, False),
        (figures_of, True),
        (profile_of, False),
        (all_to_all_of, False),
    ],
    ids=["run", "compare", "sweep", "sweep on two workers", "explain", "figures", "profile", "all-to-all"],
)
def test_it_is_one_line_and_nobody_is_left(tmp_path, words_of, goes_on):
    words = words_of(tmp_path)
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    process = start(*words, start_new_session=True)
    if goes_on:
        wait_for((tmp_path / "out").exists)
    time.sleep(1.5)  # imports take one
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    code, printed, err = finish(process)
    assert (code, printed) == (130, ""), err
    assert err.splitlines()[-1] == (GO_ON.format(tmp_path / "out") if goes_on else "interrupted")
    assert "Traceback" not in err
    assert "Warning" not in err
    wait_for(lambda: not members_of(process.pid))
    assert not list(tmp_path.rglob("*.partial"))
    if not goes_on:
        assert {path for path in tmp_path.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("delay_s", [0.05, 0.1, 0.2, 0.4])
def test_the_first_moments_are_no_traceback(delay_s):
    process = start("compare", TOPOLOGY, WORKLOAD, "--policy", "row_wise", "--iterations", 10_000)
    wait_for(lambda: "simulator" in Path(f"/proc/{process.pid}/cmdline").read_text())
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    code, printed, err = finish(process)
    if code == -signal.SIGINT and "simulator/verbs" not in err and "site-packages" not in err:
        pytest.skip("Python itself was still starting")
    assert (code, printed, err) == (130, "", "interrupted\n")


def test_it_ends_although_nobody_reads_what_it_says(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    words = profile_of(tmp_path)
    process = start(*words, stderr=writer)
    os.close(writer)
    time.sleep(1.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process)[:2] == (130, "")


def test_a_job_in_the_background_of_a_script_goes_on(tmp_path):
    """A shell without job control starts such jobs with Ctrl-C ignored: it is meant for what is in front."""
    (tmp_path / "trace.txt").write_text("1 2 3 4 5 6 7 8\n" * 400_000)
    words = ("profile", tmp_path / "trace.txt", "--format", "sessions")
    ignore = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    start_it = "os.execv(sys.executable, sys.argv[1:])"
    process = start(sys.executable, "-m", "simulator.cli", *words, program=("-c", ignore + start_it))
    for _ in range(20):
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert (code, err) == (0, "")


def test_the_same_command_goes_on(tmp_path):
    words, checkpoint = run_of(tmp_path), tmp_path / "out" / "iterations.jsonl"
    process = start(*words)
    wait_until_lines(checkpoint, HEADER + 20, process)
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    kept = lines_of(checkpoint)
    assert kept >= HEADER + 20
    process = start(*words)
    wait_until_lines(checkpoint, kept + 1, process)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "are replaced" not in err
    assert lines_of(checkpoint) > kept


def test_two_at_once_in_one_folder_is_refused(tmp_path):
    words, checkpoint = run_of(tmp_path), tmp_path / "out" / "iterations.jsonl"
    first = start(*words)
    wait_until_lines(checkpoint, HEADER + 1, first)
    code, printed, err = finish(start(*words))
    assert (code, printed) == (2, "")
    assert err == f"{tmp_path / 'out'}: another shardsim is writing its results there\n"
    assert first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert lines_of(checkpoint) > HEADER
    again = start(*words)  # a killed process holds nothing
    kept = lines_of(checkpoint)
    wait_until_lines(checkpoint, kept + 1, again)
    assert again.poll() is None
    again.kill()
    again.communicate()


def test_two_sweeps_at_once_in_one_folder_are_refused(tmp_path):
    words = sweep_of(tmp_path, 1)
    first = start(*words)
    wait_until_lines(tmp_path / "out" / "sweep.csv", 2, first)
    code, printed, err = finish(start(*words))
    assert (code, printed) == (2, "")
    assert err == f"{tmp_path / 'out'}: another shardsim is writing its results there\n"
    assert first.poll() is None
    first.kill()
    first.communicate()


def test_results_of_other_inputs_are_replaced_and_that_is_said(tmp_path):
    experiment, out = tmp_path / "e.yaml", tmp_path / "out"
    experiment.write_text(SMALL + "iterations: 2\n")
    finished("run", experiment, "--out", out)
    experiment.write_text(SMALL + "iterations: 2\nseed: 8\n")
    code, _, err = finish(start("run", experiment, "--out", out))
    assert code == 0
    assert err.splitlines()[0] == f"{out}: results of another experiment, or of other inputs, are replaced"
    finished("run", experiment, "--out", tmp_path / "fresh")
    assert contents(out) == contents(tmp_path / "fresh")
    code, _, err = finish(start("run", experiment, "--out", out))
    assert "are replaced" not in err
