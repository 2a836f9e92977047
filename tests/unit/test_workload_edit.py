"""What-if edits of workloads: which keys, which tables, and what is kept."""

from pathlib import Path

import pytest

from simulator.config.errors import ConfigError
from simulator.errors import UserError
from simulator.workload.load import load_workload
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Workload

ROOT = Path(__file__).parents[2]
WORKLOADS = sorted((ROOT / "workloads").glob("*.yaml"))
TEXT = """
name: two
batch_per_rank: 64
drift: {drift}
tables:
  - name: items
    count: 2
    rows: 1000
    dim: 8
    length: 5
    popularity: {{kind: zipf, s: 1.0}}
  - name: users
    rows: 500
    dim: 4
    length: 1
    popularity: {{kind: uniform}}
dense: {{forward: 3 ms}}
"""


@pytest.fixture
def workload(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(TEXT.format(drift=0.0))
    return load_workload(path)


def test_a_changed_key_is_as_if_the_file_said_so(workload):
    edited = workload.with_(batch_per_rank=128, **{"dense.forward": "4 ms"})
    assert edited.batch_per_rank == 128
    assert edited.dense.forward_s == 0.004
    assert (workload.batch_per_rank, workload.dense.forward_s) == (64, 0.003)
    assert isinstance(edited.spec, WorkloadSpec)
    assert edited.spec.batch_per_rank == 128


def test_a_table_goes_by_its_name_in_the_file(workload):
    edited = workload.with_(**{"tables.items.popularity.s": 0.5})
    assert [table.popularity.s for table in edited.tables[:2]] == [0.5, 0.5]
    assert edited.tables[2] is workload.tables[2]


def test_dots_may_be_double_underscores(workload):
    assert workload.with_(tables__users__dim=16).tables[2].dim == 16


def test_a_star_is_every_table(workload):
    assert [table.dim for table in workload.with_(**{"tables.*.dim": 32}).tables] == [32, 32, 32]


def test_a_whole_mapping_can_be_given(workload):
    edited = workload.with_(**{"tables.users.popularity": {"kind": "zipf", "s": 2.0}})
    assert edited.tables[2].popularity.s == 2.0


def test_a_count_can_change(workload):
    edited = workload.with_(**{"tables.items.count": 3})
    assert [table.name for table in edited.tables] == ["items_0", "items_1", "items_2", "users"]


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_tables_that_nothing_changed_are_kept(path):
    workload = load_workload(path)
    edited = workload.with_(batch_per_rank=7)
    assert len(edited.tables) == len(workload.tables)
    assert all(new is old for new, old in zip(edited.tables, workload.tables, strict=True))


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_an_edit_equals_the_file_with_that_edit(path):
    workload = load_workload(path)
    data = workload.spec.model_dump(mode="json") | {"batch_per_rank": 7}
    assert workload.with_(batch_per_rank=7).spec == WorkloadSpec.model_validate(data)


def test_a_change_of_drift_reaches_every_table(workload):
    edited = workload.with_(drift=0.5)
    assert all(table.replayed is not None for table in edited.tables)
    assert all(table.replayed is None for table in edited.with_(drift=0.0).tables)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("batch", 3, ["batch", "unknown key", "batch_per_rank"]),
        ("tables.item.dim", 3, ["no table 'item'", "items, users or *", "did you mean 'items'?"]),
        ("tables.items.popularity.z", 3, ["tables[0].popularity.z", "unknown key", "s, q"]),
        ("tables.users.popularity.s", 3, ["tables[1].popularity.s", "unknown key"]),
        ("tables.items.dim", 0, ["table items: dim is 0"]),
        ("dense.forward", "3", ["dense.forward", "bare number"]),
        ("batch_per_rank.more", 3, ["batch_per_rank holds no keys"]),
    ],
)
def test_what_a_file_would_be_refused_for_is_refused(workload, key, value, words):
    with pytest.raises(ConfigError) as error:
        workload.with_(**{key: value})
    for word in words:
        assert word in str(error.value)


def test_every_problem_is_told_at_once(workload):
    with pytest.raises(ConfigError) as error:
        workload.with_(**{"tables.a.dim": 3, "tables.b.dim": 3})
    assert len(str(error.value).splitlines()) == 2


def test_a_workload_built_in_code_has_no_keys(workload):
    bare = Workload("bare", 1, 4, workload.tables)
    with pytest.raises(UserError, match="bare: built in code"):
        bare.with_(batch_per_rank=2)
