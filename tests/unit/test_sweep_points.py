"""Points of a sweep: what they hold, what is in their keys, and what makes none."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from sweep_inputs import TOPOLOGY, WORKLOAD, small_sweep, write_sweep

from simulator.errors import UserError
from simulator.sharding.registry import PolicyEntry
from simulator.sweeps.point import Point, Refused, one_line
from simulator.sweeps.sweep import load_sweep

ROOT = Path(__file__).parents[2]
NIC = "topology.scale_out.nic_bandwidth"
TIERS = {"name": "flexshard", "label": "tiers"}


def points(folder: Path, **changes) -> tuple[Point | Refused, ...]:
    return small_sweep(folder, **changes).points("bound")


def only(folder: Path, key: str, value, policies=("row_wise",)) -> Point:
    (point,) = points(folder, vary={key: [value]}, policies=list(policies))
    assert isinstance(point, Point)
    return point


def test_every_combination_meets_every_policy_in_order(tmp_path):
    made = points(tmp_path)
    assert [(point.values[NIC], point.values["workload.batch_per_rank"], point.label) for point in made] == [
        (nic, batch, label)
        for nic in ("100 Gbit/s", "200 Gbit/s")
        for batch in (16, 32)
        for label in ("row_wise", "tiers")
    ]
    assert made[-1].topology.scale_out.nic_bandwidth == 25e9
    assert made[-1].workload.batch_per_rank == 32


def test_a_policy_has_no_part_in_what_varies_in_another(tmp_path):
    made = points(tmp_path, vary={"policies.tiers.memory": ["baseline", "hbm"], "seed": [1, 2]})
    assert [(point.label, point.values) for point in made] == [
        ("row_wise", {"seed": 1}),
        ("tiers", {"policies.tiers.memory": "baseline", "seed": 1}),
        ("row_wise", {"seed": 2}),
        ("tiers", {"policies.tiers.memory": "baseline", "seed": 2}),
        ("tiers", {"policies.tiers.memory": "hbm", "seed": 1}),
        ("tiers", {"policies.tiers.memory": "hbm", "seed": 2}),
    ]


def test_a_policy_can_be_named_by_its_name_too(tmp_path):
    made = points(tmp_path, vary={"policies.flexshard.memory": ["baseline"]})
    assert made[1].policy.options.memory == "baseline"
    assert made[1].label == "tiers"


def test_switches_of_all_policies_and_of_one(tmp_path):
    both = points(tmp_path, vary={"execution.dedup": ["rank"]}, execution={"tiers": "concurrent"})
    assert [point.execution.dedup for point in both] == ["rank", "rank"]
    assert both[0].execution.tiers == "concurrent"
    one = points(tmp_path, vary={"policies.tiers.dedup": ["rank"]})
    switched = [point.policy.execution_over(point.execution).dedup for point in one]
    assert switched == ["none", "rank"]


def test_whole_files_can_vary_and_be_edited(tmp_path):
    (tmp_path / "other.yaml").write_text(TOPOLOGY.replace("four", "six").replace("islands: 2", "islands: 3"))
    made = points(
        tmp_path, vary={"topology": ["four.yaml", "other.yaml"], NIC: ["200 Gbit/s"]}, policies=["row_wise"]
    )
    assert [sum(point.topology.island_sizes) for point in made] == [4, 6]
    assert all(point.topology.scale_out.nic_bandwidth == 25e9 for point in made)


def test_files_of_one_name_cannot_be_told_apart(tmp_path):
    (tmp_path / "copy.yaml").write_text(TOPOLOGY.replace("100 GB/s", "200 GB/s"))
    with pytest.raises(UserError, match=r"vary.topology: four.yaml and copy.yaml are both named 'four'"):
        points(tmp_path, vary={"topology": ["four.yaml", "copy.yaml"]})


class TestKeys:
    def test_every_input_that_changes_an_answer_is_in_it(self, tmp_path):
        variants = [
            only(tmp_path, NIC, "100 Gbit/s"),
            only(tmp_path, NIC, "200 Gbit/s"),
            only(tmp_path, "workload.batch_per_rank", 31),
            only(tmp_path, "workload.tables.items.popularity.s", 1.0),
            only(tmp_path, "workload.tables.users.name", "people"),  # ids lie elsewhere
            only(tmp_path, "execution.dedup", "rank"),
            only(tmp_path, "seed", 5),
            only(tmp_path, NIC, "100 Gbit/s", ["table_wise"]),
            only(tmp_path, NIC, "100 Gbit/s", [{"name": "flexshard", "memory": "hbm"}]),
            only(tmp_path, NIC, "100 Gbit/s", [{"name": "flexshard"}]),
        ]
        variants.append(replace(variants[0], engine="fluid"))
        variants.append(replace(variants[0], engine="fluid", tolerance=None))
        variants.append(replace(variants[0], iterations=2))
        assert len({point.key for point in variants}) == len(variants)

    def test_names_spellings_defaults_and_places_are_not(self, tmp_path):
        key = only(tmp_path, NIC, "100 Gbit/s").key
        assert only(tmp_path, NIC, "12.5 GB/s").key == key
        assert only(tmp_path, "topology.name", "another").key == key
        assert only(tmp_path, "topology.source", "somewhere").key == key
        assert only(tmp_path, "topology.world_size", 4).key == key
        assert only(tmp_path, "workload.name", "another").key == key
        assert only(tmp_path, "workload.drift", None).key == key
        assert only(tmp_path, "execution.dedup", "none").key == key
        assert only(tmp_path, "seed", 0).key == key
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        assert only(elsewhere, NIC, "100 Gbit/s").key == key
        labelled = only(tmp_path, NIC, "100 Gbit/s", [{"name": "row_wise", "label": "mine"}])
        assert labelled.key == key

    def test_a_switch_counts_wherever_it_is_set(self, tmp_path):
        in_entry = only(tmp_path, "seed", 0, [{"name": "row_wise", "dedup": "rank"}])
        assert in_entry.key == only(tmp_path, "execution.dedup", "rank").key

    def test_bound_has_no_tolerance(self, tmp_path):
        point = only(tmp_path, "seed", 0)
        assert replace(point, tolerance=0.5).key == point.key
        fluid = replace(point, engine="fluid")
        assert replace(fluid, tolerance=0.5).key != fluid.key
        assert replace(fluid, tolerance=0).key == replace(fluid, tolerance=None).key

    def test_a_trace_counts_by_its_content(self, tmp_path):
        workload = yaml.safe_load(WORKLOAD)
        workload["tables"][0] = {
            "name": "items",
            "rows": 10,
            "dim": 4,
            "trace": {"path": "clicks.txt", "format": "sessions"},
        }
        path = write_sweep(tmp_path, vary={"seed": [0]}, policies=["row_wise"])
        (tmp_path / "load.yaml").write_text(yaml.safe_dump(workload))

        def key(text: str) -> str:
            (tmp_path / "clicks.txt").write_text(text)
            return load_sweep(path).points("bound")[0].key

        assert key("1 2 3\n") == key("1 2 3\n")
        assert key("1 2 3\n") != key("1 2 4\n")
        (tmp_path / "clicks.txt").unlink()
        with pytest.raises(UserError, match=r"clicks\.txt: no such file"):
            load_sweep(path).points("bound")

    def test_they_are_the_same_in_every_process(self, tmp_path):
        path = write_sweep(
            tmp_path, vary={"policies.tiers.budget": ["5 %", "1 kB"]}, policies=["row_wise", TIERS]
        )
        code = (
            "import sys; from pathlib import Path; from simulator.sweeps.sweep import load_sweep\n"
            "print(*(point.key for point in load_sweep(Path(sys.argv[1])).points('bound')))"
        )
        own = [point.key for point in load_sweep(path).points("bound")]
        for hash_seed in ("1", "77"):
            environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
            words = [sys.executable, "-c", code, str(path)]
            said = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
            assert said.split() == own

    def test_a_point_can_be_told_from_an_experiment(self, tmp_path):
        point = only(tmp_path, "seed", 3)
        from simulator.topology.build import build_topology
        from simulator.workload.build import build_workload

        experiment = point.experiment(
            build_topology(point.topology), build_workload(point.workload, point.folder)
        )
        assert Point.of(experiment, PolicyEntry.parse("row_wise")).key == point.key


class TestRefused:
    def test_what_a_file_would_be_refused_for_is_told_in_a_line_and_the_others_go_on(self, tmp_path):
        made = points(tmp_path, vary={NIC: ["100 Gbit/s", 100]}, policies=["row_wise"])
        assert [type(point) for point in made] == [Point, Refused]
        assert "bare number" in made[1].error
        assert "\n" not in made[1].error

    def test_values_that_do_not_fit_together(self, tmp_path):
        made = points(
            tmp_path,
            vary={"topology.gpus_per_island": [2, 4], "topology.world_size": [4, 8]},
            policies=["row_wise"],
        )
        assert [isinstance(point, Refused) for point in made] == [False, True, True, False]

    def test_an_option_that_a_policy_has_not(self, tmp_path):
        made = points(tmp_path, vary={"policies.tiers.memory": ["hbm", "disk"]})
        assert [point.label for point in made if isinstance(point, Refused)] == ["tiers"]
        assert "disk" in made[-1].error

    @pytest.mark.parametrize("seed", [-1, 1.5, True, "x"])
    def test_a_seed_that_is_none(self, tmp_path, seed):
        made = points(tmp_path, vary={"seed": [0, seed]}, policies=["row_wise"])
        assert "no whole number" in made[1].error

    def test_when_no_combination_makes_a_point_the_sweep_is_refused(self, tmp_path):
        with pytest.raises(UserError) as error:
            points(tmp_path, vary={"topology.scale_out.nic_bandwith": ["1 GB/s", "2 GB/s"]})
        place = f"{tmp_path / 'sweep.yaml'}:10:3: vary.topology.scale_out.nic_bandwith: "
        assert str(error.value).startswith(place)
        assert "did you mean" in str(error.value)

    def test_a_missing_base_file(self, tmp_path):
        sweep = small_sweep(tmp_path, topology="absent.yaml")
        with pytest.raises(UserError, match=r"absent\.yaml: no such file"):
            sweep.points("bound")


def test_an_error_that_is_no_users_says_its_kind():
    assert one_line(UserError("a\n  b\n")) == "a; b"
    assert one_line(ZeroDivisionError("by zero")) == "ZeroDivisionError: by zero"


BAD = {
    "key": "{workload.batch_per_rank: [8],\n  topology.nic_bandwith: [1 GB/s]}",
    "unit": "{workload.batch_per_rank: [8],\n  topology.nic_bandwidth: [1 Gbot/s]}",
    "empty": "{workload.batch_per_rank: [8],\n  topology.nic_bandwidth: []}",
    "no_list": "{workload.batch_per_rank: [8],\n  topology.nic_bandwidth: 5}",
    "part": "{workload.batch_per_rank: [8],\n  topologie.nic_bandwidth: [1]}",
    "policy": "{workload.batch_per_rank: [8],\n  policies.other.memory: [hbm]}",
}


@pytest.mark.parametrize("vary", BAD.values(), ids=BAD)
def test_what_is_wrong_in_vary_has_its_line_and_the_key_as_the_file_has_it(tmp_path, vary):
    path = write_sweep(tmp_path, vary=None)
    path.write_text(path.read_text() + f"vary: {vary}\n")
    line = len(path.read_text().splitlines())
    key = vary.split("\n  ")[1].partition(":")[0]
    with pytest.raises(UserError) as caught:
        load_sweep(path).points("bound")
    (said,) = str(caught.value).splitlines()
    assert said.startswith(f"{path}:{line}:")
    assert f": vary.{key}: " in said


@pytest.mark.parametrize(
    ("vary", "place"),
    [
        ("{grid: {topology.nic: [1]}}", ("grid", "topology.nic")),
        ("{list: [{seed: 1}, {topology.nic: 1}]}", ("list", 1, "topology.nic")),
        ("{random: {count: 2, keys: {topology.nic: [1]}}}", ("random", "keys", "topology.nic")),
    ],
)
def test_the_other_ways_to_vary_have_their_places(tmp_path, vary, place):
    path = write_sweep(tmp_path, vary=None)
    path.write_text(path.read_text() + f"vary: {vary}\n")
    assert load_sweep(path).spec.vary.path_of("topology.nic") == place


def test_a_policy_without_a_point_is_told_before_anything_is_computed(tmp_path):
    """A misspelled option makes all of its policy's points invalid; those of others must not hide it."""
    with pytest.raises(UserError) as caught:
        small_sweep(tmp_path, vary={"policies.tiers.memry": ["hbm", "baseline"]}).points("bound")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{tmp_path / 'sweep.yaml'}:10:3: vary.policies.tiers.memry: ")
    assert "memry" in line
    assert "memory" in line


def test_a_policy_with_one_valid_value_goes_on(tmp_path):
    made = small_sweep(tmp_path, vary={"policies.tiers.memory": ["hbm", "all of it"]}).points("bound")
    assert [isinstance(point, Refused) for point in made] == [False, False, True]
