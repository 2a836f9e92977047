"""Policies edited by a sweep, and the memory that FlexShard's rule allows, scaled."""

import pytest

from simulator.errors import UserError
from simulator.sharding.memory_rule import Budget, MemoryRule
from simulator.sharding.registry import PolicyEntry, available
from simulator.sweeps.policy import edited_entry, entry_settings

ENTRIES = [
    "row_wise",
    "flexshard",
    {"name": "flexshard", "budget": "7 %", "label": "mine"},
    {"name": "flexshard", "budget": "200 MB"},
    {"name": "flexshard", "memory": "hbm", "hbm_share": 0.3, "dedup": "rank", "pipelining": True},
    {"name": "two_dimensional", "group_size": 4, "sync_every": 3},
    {"name": "hybrid", "all_to_all_bandwidth": "12.5 GB/s"},
]


@pytest.mark.parametrize("value", ENTRIES, ids=str)
def test_an_entry_is_made_again_from_what_it_says_of_itself(value):
    entry = PolicyEntry.parse(value)
    again = PolicyEntry.parse(entry_settings(entry.configuration()))
    assert again == entry


@pytest.mark.parametrize("policy", available(), ids=lambda policy: policy.name)
def test_what_a_policy_has_by_default_is_not_said(policy):
    if any(field.is_required() for field in policy.options.model_fields.values()):
        pytest.skip("it has no defaults")
    entry = PolicyEntry.parse(policy.name)
    assert entry_settings(entry.configuration()) == {"name": policy.name, "label": policy.name}


def test_a_saved_plan_is_made_again(tmp_path):
    from pathlib import Path

    import simulator
    from simulator.sharding.policies.saved_plan import saved_plan_entry

    root = Path(__file__).parents[2]
    topology, workload = root / "topologies" / "teaching_2x2.yaml", root / "workloads" / "tiny.yaml"
    simulator.plan(topology, workload, {"name": "flexshard", "memory": "hbm"}).save(tmp_path / "mine.yaml")
    entry = saved_plan_entry(tmp_path / "mine.yaml")
    again = PolicyEntry.parse(entry_settings(entry.configuration()))
    assert again.configuration() == entry.configuration()
    assert again.label == "mine"


def test_an_edit_keeps_the_label_and_what_else_was_set():
    entry = PolicyEntry.parse({"name": "flexshard", "memory": "hbm", "label": "mine", "dedup": "rank"})
    edited = edited_entry(entry, {"hbm_share": 0.5, "dedup": "none"})
    assert edited.label == "mine"
    assert (edited.options.memory, edited.options.hbm_share) == ("hbm", 0.5)
    assert edited.switches == {"dedup": "none"}
    assert entry.options.hbm_share == 0.85


def test_an_edit_that_makes_no_policy_is_refused():
    with pytest.raises(UserError, match="unknown key 'memry'"):
        edited_entry(PolicyEntry.parse("flexshard"), {"memry": "hbm"})
    with pytest.raises(UserError, match="not both"):
        edited_entry(PolicyEntry.parse({"name": "flexshard", "memory": "hbm"}), {"budget": "5 %"})


@pytest.mark.parametrize("text", ["7 %", "33.3 %", "0.1 %", "200 MB", "1 B", "3 GiB"])
def test_a_budget_is_spelled_as_it_reads(text):
    budget = Budget.parse(text)
    assert Budget.parse(budget.spelled()) == budget


def test_a_rule_is_scaled():
    rule = MemoryRule(1000, True, "row-wise's 1 kB a rank")
    assert rule.scaled(1.0) is rule
    assert rule.scaled(1.5) == MemoryRule(1500, True, "1.5 times row-wise's 1 kB a rank")


class TestScaledPlans:
    @staticmethod
    def plan(scale: float):
        from pathlib import Path

        import simulator

        root = Path(__file__).parents[2]
        workload = simulator.load_workload(root / "workloads" / "tiny.yaml").with_(batch_per_rank=64)
        policy = {"name": "flexshard", "memory_scale": scale}
        return simulator.plan(root / "topologies" / "teaching_2x2.yaml", workload, policy)

    def test_more_memory_is_used_where_it_pays_and_never_more_than_allowed(self):
        row_wise = self.plan(1.0).memory_bytes_per_rank_max
        used = [self.plan(scale).memory_bytes_per_rank_max for scale in (1.1, 1.2, 1.3)]
        assert used == sorted(used)
        assert row_wise < used[-1]
        assert all(bytes_ <= scale * row_wise for bytes_, scale in zip(used, (1.1, 1.2, 1.3), strict=True))

    def test_less_than_the_rows_take_is_refused(self):
        with pytest.raises(UserError, match=r"0\.5 times row-wise's 16\.8 kB a rank.* is too little"):
            self.plan(0.5)
