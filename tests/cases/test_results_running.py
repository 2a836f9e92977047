"""Practitioners' cases 25, 26 and 28, running, as a user meets them. (27, kills, is `tests/cli/test_kill.py`.)"""

from pathlib import Path

import numpy as np
import pytest
from as_user import User

import simulator
from simulator.collectives.all_to_all import all_to_all
from simulator.engine.program import Collective, Program
from simulator.engine.replay import replay
from simulator.errors import UserError


def experiment(user: User, *, topology: str = "t.yaml", workload: str = "w.yaml") -> str:
    user.topology()
    user.workload("rows: 500, dim: 4, length: 5", popularity="{kind: zipf, s: 1.1}")
    head = f"name: e\ntopology: {topology}\nworkload: {workload}\n"
    return user.file("e.yaml", f"{head}policies: [row_wise, flexshard]\niterations: 2\n")


def contents(folder: str) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(Path(folder).rglob("*"))
        if file.is_file()
    }


def test_case_25_two_runs_are_equal_to_the_byte(user: User) -> None:
    file = experiment(user)
    user.does("run", file, "--out", "one")
    user.does("run", file, "--out", "two/deeper")
    one, two = contents("one"), contents("two/deeper")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    here = str(Path.cwd()).encode()
    assert [name for name, content in one.items() if here in content] == []


def test_case_25_one_worker_or_two(user: User) -> None:
    experiment(user)
    head = "name: s\ntopology: t.yaml\nworkload: w.yaml\npolicies: [row_wise, flexshard]\n"
    user.file("s.yaml", head + "vary: {topology.scale_out.nic_bandwidth: [10 GB/s, 20 GB/s, 40 GB/s]}\n")
    for workers in ("1", "2"):
        user.does("sweep", "s.yaml", "--workers", workers, "--out", f"with_{workers}")
    assert contents("with_1") == contents("with_2")


def test_case_26_a_rank_that_skips_a_collective(user: User) -> None:
    """From Python: no file can leave a collective out."""
    topology = simulator.load_topology(user.topology())
    everyone = Collective("exchange", (0, 1, 2, 3), all_to_all(topology, np.ones((4, 4), np.int64)))
    program = Program(4, (everyone,), queues={(2, "communication"): ()})
    with pytest.raises(UserError) as caught:
        replay(program, topology)
    assert "'exchange' on stream 'communication': waiting ranks 0-1, 3; missing rank 2" in str(caught.value)


@pytest.mark.parametrize("gone", ["topology", "workload"])
def test_case_28_a_file_that_vanished(user: User, gone: str) -> None:
    """One line, and nothing has been made."""
    file = experiment(user, **{gone: "gone.yaml"})
    for verb in ("run", "validate"):
        assert user.is_refused(verb, file) == "gone.yaml: no such file or directory"
    assert not Path("results").exists()


def test_case_28_a_folder_that_cannot_be_one(user: User) -> None:
    file = experiment(user)
    user.file("taken", "")
    for folder in ("taken", "taken/deeper"):
        said = user.is_refused("run", file, "--out", folder)
        assert said.startswith(f"{folder}: cannot be used for results: ")
    said = user.is_refused("compare", "t.yaml", "w.yaml", "-p", "row_wise", "--json", "gone/c.json")
    assert said == "gone/c.json: cannot be written: No such file or directory"
