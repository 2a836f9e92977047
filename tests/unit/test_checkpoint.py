"""Checkpoints: what was finished is there again, whatever moment the run was killed at."""

import json

import pytest

from simulator.errors import UserError
from simulator.experiment.checkpoint import FILE_NAME, Checkpoint, read_records
from simulator.files import replace_file
from simulator.metrics.records import IterationMetrics, IterationRecord

METRICS = IterationMetrics(1, 2, 3, 4, 0.1, 0.2, 0.3, 0.05, None)


def record(policy: str, iteration: int) -> IterationRecord:
    return IterationRecord(policy, iteration, METRICS, (), {"global": 1}, {"global": 1}, (1, 2))


def fill(folder, digest, records):
    with Checkpoint(folder, digest) as checkpoint:
        for one in records:
            checkpoint.append(one)


def test_finished_iterations_are_there_again(tmp_path):
    records = [record("a", 0), record("a", 1), record("b", 0)]
    fill(tmp_path, "digest", records)
    with Checkpoint(tmp_path, "digest") as checkpoint:
        assert list(checkpoint.done.values()) == records


def test_another_experiments_checkpoint_is_started_anew(tmp_path):
    fill(tmp_path, "one", [record("a", 0)])
    with Checkpoint(tmp_path, "two") as checkpoint:
        assert checkpoint.done == {}
    assert read_records(tmp_path / FILE_NAME, "one") == []


def test_cut_anywhere_the_whole_lines_survive(tmp_path):
    records = [record("a", number) for number in range(4)]
    fill(tmp_path, "digest", records)
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        finished = max(sum(end <= cut for end in ends) - 1, 0)
        assert read_records(path, "digest") == records[:finished]


def test_a_cut_checkpoint_goes_on_cleanly(tmp_path):
    fill(tmp_path, "digest", [record("a", 0), record("a", 1)])
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-10])
    fill(tmp_path, "digest", [record("a", 1)])
    lines = path.read_text().splitlines()
    assert [json.loads(line).get("iteration") for line in lines] == [None, 0, 1]


def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a.csv"
    replace_file(path, "one")
    replace_file(path, "two")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]
    assert path.read_text() == "two"


def test_a_folder_that_is_not_there_is_the_users_error(tmp_path):
    with pytest.raises(UserError, match=r"cannot be written: No such file"):
        replace_file(tmp_path / "missing" / "a.csv", "text")


def test_records_need_an_entered_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="entered"):
        Checkpoint(tmp_path, "digest").append(record("a", 0))
