"""A violated invariant is a bug report, and its instruction to see it again holds."""

from pathlib import Path

from command import ROOT, Process, contents, finish, finished, lines_of, start

EXPERIMENT = f"""\
name: planted
topology: {ROOT / "topologies" / "teaching_2x2.yaml"}
workload: {ROOT / "workloads" / "tiny.yaml"}
policies: [row_wise, flexshard]
iterations: 5
seed: 3
"""
PLANTED = """
from dataclasses import replace
import simulator.experiment.simulate as simulate
measure = simulate.measure
def wrong(*values, **names):
    record = measure(*values, **names)
    if (record.policy, record.iteration) != ("flexshard", 2):
        return record
    return replace(record, metrics=replace(record.metrics, communication_s=record.metrics.bound_s / 2))
simulate.measure = wrong
from simulator.cli import main
main()
"""
HEADER = 1


def planted(*words: object) -> Process:
    """The command line of a simulator that measures one iteration wrongly."""
    return start(*words, program=("-c", PLANTED))


def test_it_is_one_line_that_says_how_to_see_it_again_and_so_it_is(tmp_path: Path) -> None:
    experiment, out = tmp_path / "e.yaml", tmp_path / "out"
    experiment.write_text(EXPERIMENT)
    code, printed, err = finish(planted("run", experiment, "--out", out))
    assert (code, printed) == (70, "")
    line = err.splitlines()[-1]
    assert line.startswith(
        "policy 'flexshard', iteration 2, seed 3, topology 'teaching_2x2': communication takes "
    )
    assert "below its bound of " in line
    assert "the same command on the same files shows it again" in line
    assert "Traceback" not in err
    assert lines_of(out / "iterations.jsonl") == HEADER + 5 + 2  # what was right is kept
    code, _, err = finish(planted("run", experiment, "--out", out))
    assert (code, err.splitlines()[-1]) == (70, line)
    code, _, err = finish(planted("run", experiment, "--out", tmp_path / "elsewhere"))
    assert (code, err.splitlines()[-1]) == (70, line)


def test_a_simulator_without_the_bug_goes_on_from_there(tmp_path: Path) -> None:
    experiment = tmp_path / "e.yaml"
    experiment.write_text(EXPERIMENT)
    assert finish(planted("run", experiment, "--out", tmp_path / "out"))[0] == 70
    finished("run", experiment, "--out", tmp_path / "out", report=False)
    finished("run", experiment, "--out", tmp_path / "whole", report=False)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
