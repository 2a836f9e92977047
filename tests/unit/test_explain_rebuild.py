"""An experiment made again from the manifest of its results is the same experiment."""

import json
from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.experiment.experiment import load_experiment, make_experiment
from simulator.experiment.results import manifest
from simulator.experiment.simulate import simulate
from simulator.explanation.rebuild import differences, rebuild
from simulator.sharding.registry import PolicyEntry
from simulator.topology.load import load_topology
from simulator.workload.load import load_workload

ROOT = Path(__file__).parents[2]
TOPOLOGIES = sorted((ROOT / "topologies").glob("*.yaml"))
WORKLOADS = sorted((ROOT / "workloads").glob("*.yaml"))
POLICIES = [
    "row_wise",
    {"name": "flexshard", "budget": "7 %", "label": "with more"},
    {"name": "flexshard", "memory": "hbm", "hbm_share": 0.5, "dedup": "rank"},
    {"name": "recshard", "nodes": 10},
    {"name": "two_dimensional", "group_size": 2},
]


def written(experiment, folder: Path) -> Path:
    """A results folder with nothing but the manifest, which needs no replay."""
    from simulator.experiment.simulate import Comparison

    folder.mkdir(exist_ok=True)
    data = manifest(Comparison(experiment, (), (), ()))
    (folder / "manifest.json").write_text(json.dumps(data))
    return folder


def experiment(**changes):
    values = {
        "name": "x",
        "topology": load_topology(ROOT / "topologies" / "teaching_2x2.yaml"),
        "workload": load_workload(ROOT / "workloads" / "tiny.yaml"),
        "policies": [PolicyEntry.parse(policy) for policy in POLICIES],
    }
    return make_experiment(**{**values, **changes})


@pytest.mark.parametrize("path", TOPOLOGIES, ids=lambda path: path.stem)
def test_every_topology_comes_back(path, tmp_path):
    own = experiment(topology=load_topology(path))
    assert rebuild(written(own, tmp_path)).digest() == own.digest()


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_every_workload_comes_back(path, tmp_path):
    own = experiment(workload=load_workload(path))
    again = rebuild(written(own, tmp_path), files=path.parent)
    assert again.digest() == own.digest()
    assert again.workload.configuration() == own.workload.configuration()


def test_policies_settings_and_perturbations_come_back(tmp_path):
    perturbed = load_topology(ROOT / "topologies" / "teaching_2x2.yaml").with_(
        perturb=[
            {"target": "rank/1", "kind": "late", "by": "1 ms"},
            {"target": "nic/0", "from": "1 us", "until": "2 us", "factor": 0.5},
        ],
        overrides=[{"target": "nic/1", "bandwidth": "1 GB/s"}],
    )
    own = experiment(topology=perturbed, iterations="auto", seed=9, tolerance=0.0, baseline="with more")
    again = rebuild(written(own, tmp_path))
    assert again.digest() == own.digest()
    assert [entry.configuration() for entry in again.policies] == [
        entry.configuration() for entry in own.policies
    ]


def test_the_quickstart_comes_back_and_answers_alike(tmp_path):
    own = load_experiment(ROOT / "experiments" / "quickstart.yaml")
    assert rebuild(written(own, tmp_path)).digest() == own.digest()
    small = experiment(iterations=1, policies=[PolicyEntry.parse("row_wise")])
    again = rebuild(written(small, tmp_path))
    assert simulate(again).records == simulate(small).records


class TestTraces:
    @pytest.fixture
    def own(self, tmp_path):
        (tmp_path / "clicks.txt").write_text("1 2 3\n2 2\n")
        (tmp_path / "w.yaml").write_text(
            "name: traced\nbatch_per_rank: 4\ntables:\n"
            "  - {name: t, rows: 10, dim: 4, trace: {path: clicks.txt, format: sessions}}\n"
        )
        return experiment(workload=load_workload(tmp_path / "w.yaml"))

    def test_their_folder_must_be_given(self, own, tmp_path):
        folder = written(own, tmp_path / "results")
        with pytest.raises(UserError, match=r"reads clicks\.txt: give the folder they are in \(--files\)"):
            rebuild(folder)
        assert rebuild(folder, files=tmp_path).digest() == own.digest()

    def test_they_must_not_have_changed(self, own, tmp_path):
        folder = written(own, tmp_path / "results")
        (tmp_path / "clicks.txt").write_text("1 2 3\n")
        with pytest.raises(UserError, match=r"clicks\.txt changed since"):
            rebuild(folder, files=tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no JSON", "is no JSON"),
        ("[]", "is no manifest of a run"),
        ("{}", "experiment, inputs, topology, workload missing"),
        ('{"topology": {}, "workload": {}, "inputs": {}, "experiment": {}}', "baseline, engine"),
    ],
)
def test_what_is_no_manifest(tmp_path, text, words):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UserError, match=words):
        rebuild(tmp_path)


@pytest.mark.parametrize(
    ("part", "key", "value", "words"),
    [
        ("experiment", "policies", None, "inputs or policies are in another form"),
        ("experiment", "policies", [3], "a policy in it is 3"),
        ("experiment", "policies", [{"name": "row_wise"}], "a policy in it is {'name': 'row_wise'}"),
        ("", "inputs", None, "inputs or policies are in another form"),
    ],
)
def test_a_manifest_that_somebody_edited(tmp_path, part, key, value, words):
    folder = written(experiment(), tmp_path)
    data = json.loads((folder / "manifest.json").read_text())
    (data[part] if part else data)[key] = value
    (folder / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(UserError, match=rf"manifest\.json: is no manifest of a run: {words}"):
        rebuild(folder)


def test_a_manifest_with_an_unknown_key_is_told(tmp_path):
    folder = written(experiment(), tmp_path)
    data = json.loads((folder / "manifest.json").read_text())
    data["topology"]["colour"] = "blue"
    (folder / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(UserError, match=r"manifest\.json: colour: unknown key"):
        rebuild(folder)


class TestDifferences:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "iterations.csv").write_text(
            "policy,iteration,communication_s\nrow_wise,0,0.01\nrow_wise,1,0.02\ntiers,0,0.005\n"
        )
        return tmp_path

    def test_equal_times_are_none(self, folder):
        assert differences(folder, {"row_wise": 0.01 * (1 + 1e-12), "tiers": 0.005}) == []

    def test_policies_that_were_not_asked_for_are_none(self, folder):
        assert differences(folder, {"tiers": 0.005}) == []

    def test_other_times_are_told(self, folder):
        (line,) = differences(folder, {"row_wise": 0.02, "tiers": 0.005})
        assert line == "row_wise: 10.0 ms in the results, 20.0 ms now: another version made them"

    def test_a_label_that_a_spreadsheet_would_run_is_known(self, tmp_path):
        (tmp_path / "iterations.csv").write_text("policy,iteration,communication_s\n'=a,0,0.01\n")
        (line,) = differences(tmp_path, {"=a": 0.02})
        assert line.startswith("=a: 10.0 ms in the results")

    @pytest.mark.parametrize(
        "content", [b"\xff\n", b"policy,iteration\na,0\n", b"policy,iteration,communication_s\na,0\n"]
    )
    def test_what_is_no_table_says_nothing(self, tmp_path, content):
        (tmp_path / "iterations.csv").write_bytes(content)
        assert differences(tmp_path, {"a": 1.0}) == []

    def test_without_the_file_there_is_nothing_to_say(self, tmp_path):
        assert differences(tmp_path, {"row_wise": 1.0}) == []
