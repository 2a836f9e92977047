"""Explanations in words and tables."""

from pathlib import Path

import pytest

import simulator
from simulator.anatomy.elasticity import Elasticities, Elasticity
from simulator.explanation.text import explanation_text
from simulator.report.explanation_words import by_effect, help_lines, summary

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def explanations():
    topology = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml").with_(
        perturb=[{"target": "rank/1", "kind": "late", "by": "1 ms"}]
    )
    workload = simulator.load_workload(ROOT / "workloads" / "tiny.yaml").with_(batch_per_rank=64)
    policies = [
        "row_wise",
        {"name": "flexshard", "memory": "hbm", "label": "a label that is quite long " * 3},
    ]
    return simulator.explain(topology, workload, policies)


def test_it_fits_into_80_columns_and_cuts_nothing(explanations):
    text = explanation_text(explanations, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_the_first_sentence_adds_up(explanations):
    said = summary(explanations[0])
    assert "of communication on rank" in said
    assert "waiting 1.00 ms" in said
    assert said.endswith(".")


def test_the_path_says_who_waited_for_whom(explanations):
    lines = [line.split() for line in explanation_text(explanations[:1], width=80).splitlines()]
    (ids,) = [line for line in lines if line[1:2] == ["ids_global"]]
    assert ids[-2] == "1"  # for rank 1
    text = " ".join(explanation_text(explanations[:1], width=80).split())
    assert "1.00 ms before a late rank began" in text


def test_a_single_rank_has_nothing_to_say():
    topology = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml").with_(
        islands=1, gpus_per_island=1
    )
    workload = simulator.load_workload(ROOT / "workloads" / "tiny.yaml")
    text = explanation_text(simulator.explain(topology, workload, ["row_wise"]), width=80)
    assert "no communication" in text
    assert "nan" not in text.lower()


class TestHelp:
    @staticmethod
    def lines(*of: tuple[str, float], refused=()):
        found = tuple(Elasticity(knob, 2.0, 1.0, 2.0**value) for knob, value in of)
        return help_lines(Elasticities(found, refused))

    def test_the_largest_of_the_cluster_helps_most(self):
        lines = self.lines(
            ("NIC bandwidth", -0.5),
            ("batch a rank", 0.9),
            ("scale-out latency", 0.6),
            ("HBM bandwidth", 0.001),
        )
        assert lines == [
            "Most would help: less scale-out latency (elasticity +0.60).",
            "No difference: HBM bandwidth.",
        ]

    def test_what_could_not_be_turned_is_told(self):
        lines = self.lines(refused=(("NIC bandwidth", "too fast"),))
        assert lines == ["Not turned: NIC bandwidth: too fast"]

    def test_effects_are_sorted(self):
        found = [
            Elasticity(name, 2.0, 1.0, 2.0**value) for name, value in (("a", 0.1), ("b", -0.7), ("c", 0.0))
        ]
        assert [each.knob for each in by_effect(found)] == ["b", "a"]

    def test_without_communication_there_is_no_value(self):
        assert Elasticity("a", 2.0, 0.0, 0.0).value is None
