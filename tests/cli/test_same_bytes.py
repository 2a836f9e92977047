"""Equal inputs give equal bytes, whatever the hash seed, the threads and the workers."""

import os
from pathlib import Path

import pytest
from command import ROOT, contents, finish, start

INPUTS = f"""\
name: same
topology: {ROOT / "topologies" / "uneven.yaml"}
workload: {ROOT / "workloads" / "tiny.yaml"}
policies: [row_wise, table_wise, hybrid, flexshard]
"""
RUN = INPUTS + "iterations: 3\n"
SWEEP = INPUTS + "engine: fluid\nvary: {workload.batch_per_rank: [8, 64, 512]}\n"
SETTINGS = (
    {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
)


def both(folder: Path, text: str, *words: tuple[object, ...]) -> list[dict[str, bytes]]:
    """The results of a file's experiment under each setting, and with the words that belong to it."""
    file = folder / "same.yaml"
    file.write_text(text)
    made = []
    for number, (setting, own) in enumerate(zip(SETTINGS, words, strict=True)):
        process = start(own[0], file, *own[1:], "--out", folder / str(number), env=os.environ | setting)
        code, _, err = finish(process)
        assert code == 0, err
        made.append(contents(folder / str(number)))
    return made


def test_of_a_run(tmp_path: Path) -> None:
    one, two = both(tmp_path, RUN, ("run",), ("run",))
    assert len(one) > 20
    assert one == two


def test_of_a_sweep_on_one_worker_and_on_two(tmp_path: Path) -> None:
    one, two = both(tmp_path, SWEEP, ("sweep", "--workers", 1), ("sweep", "--workers", 2))
    assert "sweep.csv" in one
    assert one == two


@pytest.mark.parametrize("what", ["topology", "seed"])
def test_other_inputs_give_other_bytes(tmp_path: Path, what: str) -> None:
    changed = {"topology": RUN.replace("uneven", "teaching_2x2"), "seed": RUN + "seed: 9\n"}[what]
    made = []
    for number, text in enumerate((RUN, changed)):
        (tmp_path / f"{number}.yaml").write_text(text)
        code, _, err = finish(
            start("run", tmp_path / f"{number}.yaml", "--out", tmp_path / str(number), report=False)
        )
        assert code == 0, err
        made.append(contents(tmp_path / str(number))["summary.csv"])
    assert made[0] != made[1]
