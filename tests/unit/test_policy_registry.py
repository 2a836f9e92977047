"""Policies by name, and the entries that choose and set them."""

import sys
from pathlib import Path

import pytest

import simulator.sharding.policies as policies
from simulator.config.errors import ConfigError
from simulator.config.load import load_model, load_value
from simulator.config.model import StrictModel
from simulator.errors import UserError
from simulator.sharding import registry
from simulator.sharding.execution import Execution
from simulator.sharding.registry import (
    NoOptions,
    PolicyEntry,
    available,
    make_plan,
    policy_named,
    register,
)
from simulator.topology.build import uniform_topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e9, nic_bytes_per_s=1e8)
STATISTICS = Statistics((TableStatistics("items", 8, 4, 4, 8, Uniform(8), 10.0),))


def test_every_policy_of_the_issue_is_there_with_a_summary():
    names = [policy.name for policy in available()]
    assert names == sorted(names)
    assert set(names) >= {
        "column_wise",
        "data_parallel",
        "flexshard",
        "hybrid",
        "planner_torchrec",
        "recshard",
        "row_wise",
        "table_row_wise",
        "table_wise",
        "two_dimensional",
    }
    assert all(policy.summary for policy in available())


def test_a_name_alone_is_an_entry():
    entry = PolicyEntry.parse("row_wise")
    assert (entry.name, entry.label, dict(entry.switches)) == ("row_wise", "row_wise", {})
    assert PolicyEntry.parse({"name": "row_wise"}) == entry


def test_keys_of_execution_are_switches_and_the_rest_are_options():
    entry = PolicyEntry.parse({"name": "flexshard", "memory": "hbm", "dedup": "rank", "label": "mine"})
    assert entry.label == "mine"
    assert dict(entry.switches) == {"dedup": "rank"}
    assert entry.options.memory == "hbm"


def test_the_label_tells_what_was_changed():
    assert PolicyEntry.parse({"name": "row_wise", "dedup": "island"}).label == "row_wise dedup=island"
    assert PolicyEntry.parse({"name": "flexshard", "memory": "baseline"}).label == "flexshard"
    assert PolicyEntry.parse({"name": "flexshard", "budget": "5 %"}).label == "flexshard budget=5 %"


def test_an_entry_overrides_the_experiment_and_nothing_else():
    base = Execution(dedup="rank", tiers="concurrent")
    entry = PolicyEntry.parse({"name": "row_wise", "dedup": "off"})
    over = entry.execution_over(base)
    assert (over.dedup, over.tiers) == ("none", "concurrent")
    assert base.dedup == "rank"


def test_a_switch_set_to_its_default_still_overrides():
    entry = PolicyEntry.parse({"name": "row_wise", "tiers": "serial"})
    assert entry.execution_over(Execution(tiers="concurrent")).tiers == "serial"


def test_configuration_has_the_defaults_filled_in():
    configuration = PolicyEntry.parse({"name": "flexshard", "sync": "sparse"}).configuration()
    assert configuration["name"] == "flexshard"
    assert configuration["switches"] == {"sync": "sparse"}
    assert configuration["options"]["memory"] == "baseline"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("row_wsie", "policy: unknown policy 'row_wsie'; allowed: .*; did you mean 'row_wise'?"),
        ({"name": "tablewise"}, "policy: name: unknown policy 'tablewise'; .*; did you mean 'table_wise'?"),
        (
            {"memory": "hbm"},
            "policy: found a mapping without the text `name`, allowed: a policy's name, or a mapping with `name: NAME`",
        ),
        (3, "policy: found 3, allowed: a policy's name"),
        (None, "policy: found nothing, allowed: a policy's name"),
        (
            {"name": "flexshard", "budgt": "5 %"},
            "policy: budgt: unknown key 'budgt'; .*; did you mean 'budget'?",
        ),
        ({"name": "row_wise", "memory": "hbm"}, "policy: memory: unknown key 'memory'"),
        ({"name": "row_wise", "dedup": "rnk"}, "policy: dedup: found 'rnk', allowed: .*did you mean 'rank'?"),
        ({"name": "row_wise", "sync_every": 0}, "policy: sync_every: .*at least 1"),
        ({"name": "row_wise", "label": ""}, "policy: label: found '', allowed: text"),
        ({"name": "row_wise", "label": 3}, "policy: label: found 3, allowed: text"),
        ({"name": "flexshard", "budget": 5}, "policy: budget: 5 is neither a share like '5 %' nor bytes"),
        ({"name": "flexshard", "budget": "-1 %"}, "must be at least 0 %"),
        ({"name": "flexshard", "budget": "nan %"}, "must be at least 0 %"),
        ({"name": "flexshard", "budget": "5 %", "memory": "hbm"}, "give `memory` or `budget`, not both"),
    ],
)
def test_a_faulty_entry_is_one_line_that_says_what_is_allowed(value, message):
    with pytest.raises(UserError, match=message) as caught:
        PolicyEntry.parse(value)
    assert "\n" not in str(caught.value)


def test_all_faults_of_an_entry_are_reported():
    with pytest.raises(UserError) as caught:
        PolicyEntry.parse({"name": "column_wise", "shards": 0, "dedup": "x", "shardz": 1, "label": " "})
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["shardz", "label", "shards", "dedup"]


class Policies(StrictModel):
    policies: list[PolicyEntry]


def test_faults_in_a_file_have_their_line(tmp_path: Path):
    path = tmp_path / "experiment.yaml"
    path.write_text(
        "policies:\n- row_wise\n- name: flexshard\n  memory: basline\n  dedup: rnk\n- tablewise\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_model(path, Policies)
    places = [line.removeprefix(f"{path}:").split(": ")[:2] for line in str(caught.value).splitlines()]
    assert places == [
        ["4:11", "policies[1].memory"],
        ["5:10", "policies[1].dedup"],
        ["6:3", "policies[2]"],
    ]


def test_an_entry_reads_from_yaml_text():
    entry = load_value("{name: row_wise, dedup: off}", PolicyEntry, source="--policy")
    assert dict(entry.switches) == {"dedup": "none"}


def test_the_json_schema_lists_names_and_keys():
    schema = Policies.model_json_schema()["properties"]["policies"]["items"]
    assert "flexshard" in schema["anyOf"][0]["enum"]
    flexshard = next(
        each for each in schema["anyOf"][1:] if each["properties"]["name"] == {"const": "flexshard"}
    )
    assert {"memory", "budget", "dedup", "label"} <= set(flexshard["properties"])


def test_make_plan_names_the_plan_by_its_label_and_keeps_the_switches():
    entry = PolicyEntry.parse({"name": "row_wise", "dedup": "rank", "label": "mine"})
    plan = make_plan(entry, STATISTICS, TOPOLOGY, Execution(tiers="concurrent"))
    assert plan.policy == "mine"
    assert (plan.execution.dedup, plan.execution.tiers) == ("rank", "concurrent")


def test_a_new_policy_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "one_rank.py").write_text(
        '"""Everything on rank 0."""\n'
        "from simulator.sharding.layouts import single_owner\n"
        "from simulator.sharding.plan import Segment, ShardingPlan, TablePlan\n"
        "from simulator.sharding.registry import NoOptions, register\n\n\n"
        '@register("one_rank", "all on rank 0", options=NoOptions)\n'
        "def one_rank(statistics, topology, execution, options):\n"
        "    layout = single_owner(topology.world_size, 0)\n"
        "    tables = tuple(TablePlan(t.name, (Segment(0, t.rows, layout),)) for t in statistics.tables)\n"
        '    return ShardingPlan("one_rank", topology.world_size, tables, execution)\n'
    )
    monkeypatch.setattr(policies, "__path__", [*policies.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry._discover.cache_clear()
    try:
        plan = make_plan(PolicyEntry.parse("one_rank"), STATISTICS, TOPOLOGY, Execution())
    finally:
        sys.modules.pop("simulator.sharding.policies.one_rank", None)
    assert plan.tables[0].segments[0].layout.copies == ((0,),)


def test_a_name_is_registered_once():
    policy_named("row_wise")
    with pytest.raises(ValueError, match="'row_wise' is registered already"):
        register("row_wise", "again", options=NoOptions)(lambda *_: None)


def test_an_option_may_not_hide_a_switch():
    class Hiding(StrictModel):
        dedup: str = "none"

    with pytest.raises(ValueError, match="options may not be named"):
        register("hiding", "hides dedup", options=Hiding)(lambda *_: None)
