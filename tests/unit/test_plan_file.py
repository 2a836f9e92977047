"""Plans as files: what is written, read back, edited and refused."""

from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.plan_file import load_plan, plan_text, save_plan
from simulator.sharding.registry import PolicyEntry, available, make_plan
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=4, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)


def table(name: str) -> TableStatistics:
    return TableStatistics(name, 100_000, 300, 2, 40_000, ZipfMandelbrot(40_000, 1.1, 2.0), 20_000.0)


STATISTICS = Statistics((table("items"), table("users")))


def planned(entry):
    return make_plan(PolicyEntry.parse(entry), STATISTICS, TOPOLOGY, Execution())


@pytest.mark.parametrize("name", [policy.name for policy in available() if policy.name != "saved_plan"])
def test_every_policys_plan_comes_back_as_it_was(name, tmp_path: Path):
    plan = planned({"name": name, "dedup": "rank", "tiers": "concurrent"})
    save_plan(plan, tmp_path / "plan.yaml")
    loaded = load_plan(tmp_path / "plan.yaml", STATISTICS, TOPOLOGY)
    assert loaded.policy == plan.policy
    assert loaded.execution == plan.execution
    assert loaded.prices == plan.prices
    for before, after in zip(plan.tables, loaded.tables, strict=True):
        assert before.table == after.table
        assert [(s.start, s.stop, s.memory) for s in before.segments] == [
            (s.start, s.stop, s.memory) for s in after.segments
        ]
        assert all(b.layout is a.layout for b, a in zip(before.segments, after.segments, strict=True))
    assert plan_text(loaded) == "".join(
        line for line in plan_text(plan).splitlines(keepends=True) if not line.startswith("#")
    )


def test_the_file_reads_well():
    text = plan_text(planned({"name": "flexshard", "label": "mine", "dedup": "rank"}))
    lines = text.splitlines()
    assert lines[0] == "# memory: row-wise's 15 MB a rank, never-touched rows reclaimed"
    assert "policy: mine" in lines
    assert "execution: {dedup: rank}" in lines
    assert "- table: items" in lines
    assert "  - {to: 40000, tier: global}" in lines


def edited(tmp_path: Path, *changes: tuple[str, str], entry="flexshard"):
    text = plan_text(planned(entry))
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_an_edited_cut_is_taken(tmp_path: Path):
    path = edited(tmp_path, ("{to: 40000, tier: global}", "{to: 100000, tier: global}"))
    loaded = load_plan(path, STATISTICS, TOPOLOGY)
    assert [each.segments[-1].stop for each in loaded.tables] == [100_000, 100_000]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("to: 40000", "to: 39999"), "table items: rows [39999, 40000) are looked up and have no owner"),
        (("to: 40000", "to: 100001"), "table items: rows end at 100000, the plan goes to 100001"),
        (("to: 40000", "to: 7"), "table items: a segment ends before row 7, it begins at"),
        (("table: users", "table: shops"), "table users is missing"),
        (("table: users", "table: items"), "table items is there twice"),
        (("world_size: 8", "world_size: 16"), "world_size: made for 16 ranks, the topology has 8"),
    ],
)
def test_a_plan_that_does_not_fit_the_workload_is_refused(change, message, tmp_path: Path):
    path = edited(tmp_path, change)
    with pytest.raises(UserError) as caught:
        load_plan(path, STATISTICS, TOPOLOGY)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    assert any(message in line for line in lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("tier: global", "tier: globe"), "allowed: 'replicated', 'island', 'global' or 'group'"),
        (("tier: global", "teir: global"), "unknown key"),
        (("to: 40000", "to: 1.5"), "1.5"),
        (("tier: global", "tier: group"), "`group_size` goes with tier group alone"),
        (("tier: global", "tier: island, owners: [0]"), "`owners` and `split` belong to tier global"),
        (("policy: flexshard", "policy: no"), "quote it"),
    ],
)
def test_a_faulty_file_is_told_with_its_line(change, message, tmp_path: Path):
    path = edited(tmp_path, change)
    with pytest.raises(UserError) as caught:
        load_plan(path, STATISTICS, TOPOLOGY)
    assert message in str(caught.value)
    assert str(caught.value).splitlines()[0].removeprefix(f"{path}:").split(":")[0].isdigit()


def test_owners_that_do_not_exist_are_refused(tmp_path: Path):
    path = edited(tmp_path, ("tier: global", "tier: global, owners: [0, 9]"))
    with pytest.raises(UserError, match="an owner is none of the ranks 0 to 7"):
        load_plan(path, STATISTICS, TOPOLOGY)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(UserError, match="cannot be written"):
        save_plan(planned("row_wise"), tmp_path / "absent" / "plan.yaml")


def test_a_saved_plan_is_an_entry_like_any_other(tmp_path):
    from simulator.sharding.policies.saved_plan import saved_plan_entry
    from simulator.sharding.registry import PolicyEntry, make_plan

    made = make_plan(PolicyEntry.parse("flexshard"), STATISTICS, TOPOLOGY, Execution())
    save_plan(made, tmp_path / "mine.yaml")
    entry = saved_plan_entry(tmp_path / "mine.yaml")
    again = make_plan(entry, STATISTICS, TOPOLOGY, Execution(dedup="rank"))
    assert entry.label == again.policy == "mine"
    assert again.execution == made.execution
    assert [[(run.start, run.stop, run.layout) for run in table.segments] for table in again.tables] == [
        [(run.start, run.stop, run.layout) for run in table.segments] for table in made.tables
    ]
    assert str(tmp_path) not in str(entry.configuration())
