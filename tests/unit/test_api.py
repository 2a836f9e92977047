"""The Python API: the same answers as the command line, in frames."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simulator
from simulator.errors import UserError
from simulator.experiment.spec import Precision
from simulator.sharding.execution import Execution
from simulator.sharding.plan_file import load_plan
from simulator.workload.workload import Workload

ROOT = Path(__file__).parents[2]
TOPOLOGY, WORKLOAD = ROOT / "topologies" / "teaching_2x2.yaml", ROOT / "workloads" / "tiny.yaml"
POLICIES = ["row_wise", {"name": "flexshard", "memory": "hbm", "label": "tiers"}]


@pytest.fixture(scope="module")
def compared():
    return simulator.compare(TOPOLOGY, WORKLOAD, POLICIES, iterations=2, seed=5)


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    ).stdout


class TestImport:
    def test_the_package_is_light_until_it_is_used(self):
        code = "import sys, simulator; print(sorted({'numpy', 'pandas', 'simpy', 'pydantic'} & set(sys.modules)))"
        assert run_python(code) == "[]\n"

    def test_functions_are_functions_whatever_was_imported_before(self):
        code = (
            "import simulator.sweeps.sweep, simulator.explanation.explanation, simulator.api, simulator\n"
            "print([callable(getattr(simulator, name)) for name in simulator.__all__])"
        )
        assert run_python(code) == f"{[True] * len(simulator.__all__)}\n"

    def test_names_are_listed_and_others_are_errors(self):
        assert set(simulator.__all__) <= set(dir(simulator))
        with pytest.raises(AttributeError, match="no attribute 'simulat'"):
            simulator.simulat  # noqa: B018


class TestCompare:
    def test_it_is_what_the_command_writes(self, compared, tmp_path):
        target = tmp_path / "c.json"
        command = ["compare", TOPOLOGY, WORKLOAD, "--policy", "row_wise", "--iterations", 2, "--seed", 5]
        command += ["--policy", "{name: flexshard, memory: hbm, label: tiers}", "--json", target]
        subprocess.run(
            [sys.executable, "-m", "simulator.cli", *map(str, command)],
            cwd=ROOT,
            capture_output=True,
            check=True,
            timeout=120,
        )
        written, own = json.loads(target.read_text()), compared.to_json()
        assert own["policies"] == written["policies"]
        assert own["baseline"] == written["baseline"] == "row_wise"

    def test_frames_have_a_row_for_each(self, compared):
        assert compared.summary["policy"].tolist() == ["row_wise", "tiers"]
        assert len(compared.iterations) == 4
        assert set(compared.phases["policy"]) == {"row_wise", "tiers"}
        assert (compared.links["utilisation"] <= 1 + 1e-9).all()
        assert (compared.memory["bytes"] >= 0).all()
        shares = compared.tiers.groupby(["policy", "table"])["lookup_share"].sum()
        assert shares.to_numpy() == pytest.approx(1)

    def test_means_are_the_iterations_means(self, compared):
        means = compared.iterations.groupby("policy")["communication_s"].mean()
        for label in ("row_wise", "tiers"):
            assert compared.policy(label).mean("communication_s") == pytest.approx(means[label])

    def test_printed_it_is_the_table(self, compared):
        assert str(compared).startswith("Bytes an iteration")
        assert max(map(len, str(compared).splitlines())) <= 80

    def test_an_unknown_label(self, compared):
        with pytest.raises(UserError, match="did you mean 'tiers'"):
            compared.policy("tier")

    def test_until_it_is_known_well_enough(self):
        found = simulator.compare(TOPOLOGY, WORKLOAD, ["row_wise"], iterations="auto", engine="bound")
        assert Precision().minimum <= len(found.iterations) <= Precision().maximum

    def test_who_stays_short_of_the_precision_is_told(self):
        wanted = {"relative_half_width": 1e-6, "maximum": 5}
        found = simulator.compare(
            TOPOLOGY, WORKLOAD, ["row_wise"], iterations="auto", precision=wanted, engine="bound"
        )
        assert len(found.iterations) == 5
        assert "after 5 iterations" in " ".join(str(found).split())
        assert "the `maximum`; wanted were ± 0.0001 %." in " ".join(str(found).split())
        with pytest.raises(
            UserError, match="precision: only `iterations: auto` stops by it; iterations is 8"
        ):
            simulator.compare(TOPOLOGY, WORKLOAD, ["row_wise"], precision=wanted)


class TestOptimizerState:
    POLICIES = ("row_wise", {"name": "row_wise", "optimizer": "adam", "label": "with state"})

    def test_it_is_counted_apart_and_adds_up(self):
        found = simulator.compare(TOPOLOGY, WORKLOAD, self.POLICIES, iterations=1, engine="bound")
        held = found.memory.groupby("policy")["bytes"].sum()
        for label in ("row_wise", "with state"):
            assert held[label] == found.policy(label).memory_bytes_per_rank_max
        state = found.memory.query("tier == 'optimizer'")
        assert state["policy"].tolist() == ["with state"]
        assert state["bytes"].item() == held["with state"] - held["row_wise"] > 0

    @pytest.mark.parametrize(
        ("policies", "execution", "told"),
        [
            (["row_wise"], {}, "Memory counts embedding weights; "),
            (["row_wise"], {"optimizer": "adam"}, "Memory counts embedding weights and the state of adam; "),
            (POLICIES, {}, "Memory counts embedding weights and the state of adam (with state); "),
        ],
    )
    def test_the_assumption_says_whether_it_counts(self, policies, execution, told):
        found = simulator.compare(
            TOPOLOGY, WORKLOAD, policies, iterations=1, engine="bound", execution=execution
        )
        assert [each for each in found.to_json()["assumptions"] if each.startswith(told)]


class TestSimulate:
    def test_it_is_one_policy_of_a_comparison(self, compared):
        run = simulator.simulate(TOPOLOGY, WORKLOAD, POLICIES[1], iterations=2, seed=5)
        expected = compared.iterations.query("policy == 'tiers'").reset_index(drop=True)
        pd.testing.assert_frame_equal(run.iterations, expected)
        assert run.communication_s == compared.policy("tiers").mean("communication_s")
        assert run.iteration_s == compared.policy("tiers").mean("iteration_s")

    def test_the_first_iteration_can_be_looked_into(self):
        run = simulator.simulate(TOPOLOGY, WORKLOAD)
        assert run.timeline.iteration_s == run.iteration_s
        sent = {phase.name: int(phase.matrix.sum()) for phase in run.traffic.phases}
        assert sent["embeddings_global"] == sent["gradients_global"] > 0

    def test_switches_may_be_a_mapping_or_a_value(self):
        one = simulator.simulate(TOPOLOGY, WORKLOAD, execution={"dedup": "rank"})
        two = simulator.simulate(TOPOLOGY, WORKLOAD, execution=Execution(dedup="rank"))
        none = simulator.simulate(TOPOLOGY, WORKLOAD)
        assert one.communication_s == two.communication_s < none.communication_s

    def test_what_if_without_yaml(self):
        topology, workload = simulator.load_topology(TOPOLOGY), simulator.load_workload(str(WORKLOAD))
        before = simulator.simulate(topology, workload, engine="bound")
        faster = simulator.simulate(topology.with_(nic_bandwidth="200 Gbit/s"), workload, engine="bound")
        larger = simulator.simulate(topology, workload.with_(batch_per_rank=64), engine="bound")
        assert faster.communication_s < before.communication_s < larger.communication_s


class TestPlan:
    def test_rows_memory_and_notes(self, tmp_path):
        made = simulator.plan(TOPOLOGY, WORKLOAD, POLICIES[1])
        assert set(made.runs["table"]) == {"movies", "tags"}
        rows = (made.runs["stop"] - made.runs["start"]).groupby(made.runs["table"]).sum()
        assert rows.to_dict() == {table.name: table.rows for table in made.statistics.tables}
        assert made.memory_bytes_per_rank_max == int(made.memory.total_bytes.max())
        assert made.notes == made.plan.notes
        made.save(tmp_path / "plan.yaml")
        again = load_plan(tmp_path / "plan.yaml", made.statistics, made.topology)
        assert [len(table.segments) for table in again.tables] == [
            len(table.segments) for table in made.plan.tables
        ]

    def test_one_that_does_not_fit(self):
        small = simulator.load_topology(TOPOLOGY).with_(**{"gpu.hbm_capacity": "1 kB"})
        with pytest.raises(UserError, match="does not fit"):
            simulator.plan(small, WORKLOAD, "row_wise")


class TestSweep:
    VARY = {"topology.nic_bandwidth": ["10 Gbit/s", "20 Gbit/s"], "workload.batch_per_rank": [8, 16]}  # noqa: RUF012

    def test_a_frame_of_points(self):
        found = simulator.sweep(TOPOLOGY, WORKLOAD, POLICIES, self.VARY)
        frame = found.frame
        assert len(frame) == 8
        assert frame["workload.batch_per_rank"].dtype.kind == "i"
        assert (frame["communication_s"] > 0).all()
        assert "8 points, 0 failed" in str(found)
        assert len(found.settings()) == 4

    def test_a_csv_is_gone_on_from(self, tmp_path):
        path = tmp_path / "s.csv"
        first = simulator.sweep(TOPOLOGY, WORKLOAD, POLICIES, self.VARY, csv=path)
        before = path.read_bytes()
        second = simulator.sweep(TOPOLOGY, WORKLOAD, POLICIES, self.VARY, csv=str(path))
        assert first.rows == second.rows
        assert path.read_bytes() == before
        second.plot(tmp_path / "p.png", x="workload.batch_per_rank")
        assert (tmp_path / "p.png").exists()

    def test_edits_of_the_base_are_its_base(self):
        topology = simulator.load_topology(TOPOLOGY).with_(nic_bandwidth="20 Gbit/s")
        varied = simulator.sweep(TOPOLOGY, WORKLOAD, ["row_wise"], self.VARY).frame
        edited = simulator.sweep(topology, WORKLOAD, ["row_wise"], {"workload.batch_per_rank": [8, 16]}).frame
        assert edited["key"].tolist() == varied["key"].tolist()[2:]

    def test_a_file(self, tmp_path):
        path = tmp_path / "s.yaml"
        path.write_text(
            f"name: s\ntopology: {TOPOLOGY}\nworkload: {WORKLOAD}\npolicies: [row_wise]\n"
            "vary: {workload.batch_per_rank: [8, 16]}\nthen: {for: best 1}\n"
        )
        assert simulator.sweep_file(path).frame["engine"].tolist() == ["bound", "bound", "fluid"]

    def test_mistakes_are_told_as_of_a_file(self):
        with pytest.raises(
            UserError, match=r"sweep: vary\.batch: the key 'batch' is none that can be varied"
        ):
            simulator.sweep(TOPOLOGY, WORKLOAD, POLICIES, {"batch": [1]})
        with pytest.raises(UserError, match="sweep: engine: found 'quick', allowed: 'fluid' or 'bound'"):
            simulator.sweep(TOPOLOGY, WORKLOAD, POLICIES, self.VARY, engine="quick")
        built = Workload("bare", 1, 4, simulator.load_workload(WORKLOAD).tables)
        with pytest.raises(UserError, match="bare: built in code"):
            simulator.sweep(TOPOLOGY, built, POLICIES, self.VARY)


def command(*arguments):
    """What a command prints."""
    line = [sys.executable, "-m", "simulator.cli", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120).stdout


class TestPrinted:
    """What `print` shows is what the command line shows."""

    def test_a_plan(self):
        made = simulator.plan(TOPOLOGY, WORKLOAD, POLICIES[1])
        asked = "{name: flexshard, memory: hbm, label: tiers}"
        assert f"{made}\n" == command("plan", TOPOLOGY, WORKLOAD, "-p", asked)

    def test_a_simulation(self):
        run = simulator.simulate(TOPOLOGY, WORKLOAD, "hybrid", seed=3)
        told = command("compare", TOPOLOGY, WORKLOAD, "-p", "hybrid", "--iterations", 1, "--seed", 3)
        assert len(str(run).splitlines()) > 10
        assert told.startswith(f"{run}\n")

    def test_an_explanation(self):
        found = simulator.explain(TOPOLOGY, WORKLOAD, ["row_wise"], engine="bound")
        assert str(found).startswith("row_wise: ")
        assert "What communication follows" in str(found)
        assert [each["policy"] for each in found.to_json()] == ["row_wise"]

    def test_a_study_of_drift(self):
        figures = simulator.replan(TOPOLOGY, WORKLOAD, "hybrid", drift=0.3, every=[10], engine="bound")
        asked = ("-p", "hybrid", "--drift", 0.3, "--every", 10, "--engine", "bound")
        assert f"{figures}\n" == command("replan", TOPOLOGY, WORKLOAD, *asked)
        for drift in (0, 1.5, float("nan")):
            with pytest.raises(UserError, match=f"drift: found {drift:g}, allowed: more than 0, at most 1"):
                simulator.replan(TOPOLOGY, WORKLOAD, "hybrid", drift=drift)


class TestWithoutAPolicy:
    def test_an_all_to_all(self, tmp_path):
        even = simulator.all_to_all(TOPOLOGY, "64 MB", tolerance=None)
        matrix = tmp_path / "m.txt"
        matrix.write_text("\n".join([" ".join(["16000000"] * 4)] * 4))
        given = simulator.all_to_all(str(TOPOLOGY), matrix, tolerance=0)
        assert even.time_s == given.time_s >= even.bound_s > 0
        with pytest.raises(UserError, match="sent: the bare number"):
            simulator.all_to_all(TOPOLOGY, "64")
        for wrong in ({"engine": "quick"}, {"algorithm": "ring"}, {"tolerance": 2}):
            with pytest.raises(UserError, match=f"all-to-all: {next(iter(wrong))}: found"):
                simulator.all_to_all(TOPOLOGY, "64 MB", **wrong)

    def test_a_trace(self, tmp_path):
        (tmp_path / "t.txt").write_text("1 2 2 3\n3 3 4\n")
        assert simulator.profile(tmp_path / "t.txt", "sessions").rows_touched == 4
        with pytest.raises(UserError, match="format: found 'csv', allowed: 'user_item'"):
            simulator.profile(tmp_path / "t.txt", "csv")

    def test_terms_of_logs(self):
        with pytest.raises(UserError, match="absent"):
            simulator.fit_terms(["absent.log"])


def test_mistakes_are_user_errors():
    with pytest.raises(UserError, match=r"absent\.yaml"):
        simulator.load_topology("absent.yaml")
    with pytest.raises(UserError, match="did you mean 'row_wise'"):
        simulator.simulate(TOPOLOGY, WORKLOAD, "row_wse")
    with pytest.raises(UserError, match=r"execution\.dedupe: unknown key"):
        simulator.simulate(TOPOLOGY, WORKLOAD, execution={"dedupe": "rank"})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"iterations": 0}, "iterations: found 0, allowed: at least 1"),
        ({"seed": -1}, "seed: found -1, allowed: at least 0"),
        ({"engine": "quick"}, "engine: found 'quick', allowed: 'fluid' or 'bound'"),
        ({"tolerance": -0.1}, "tolerance: found -0.1, allowed: at least 0"),
        ({"tolerance": 5}, "tolerance: found 5, allowed: at most 1"),
        ({"tolerance": float("nan")}, "tolerance: found nan"),
    ],
)
def test_settings_are_those_of_an_experiments_file(settings, told):
    for run in (simulator.simulate, lambda *files, **how: simulator.compare(*files, POLICIES, **how)):
        with pytest.raises(UserError, match=f"^arguments: {told}"):
            run(TOPOLOGY, WORKLOAD, **settings)


def test_numbers_may_be_numpys_and_policies_may_not_be_none():
    plain, numpys = (
        simulator.simulate(TOPOLOGY, WORKLOAD, engine="bound", iterations=count, seed=count)
        for count in (2, np.int64(2))
    )
    assert plain.metrics.estimates == numpys.metrics.estimates
    with pytest.raises(UserError, match="policies: found an empty list: at least 1 entry is needed"):
        simulator.compare(TOPOLOGY, WORKLOAD, [])
    with pytest.raises(UserError, match="policies: found 'row_wise', allowed: a list"):
        simulator.compare(TOPOLOGY, WORKLOAD, "row_wise")


def test_arguments_that_changed_places_are_told():
    topology, workload = simulator.load_topology(TOPOLOGY), simulator.load_workload(WORKLOAD)
    with pytest.raises(UserError, match="topology: found Workload, allowed: a Topology or"):
        simulator.simulate(workload, topology)
    with pytest.raises(UserError, match="workload: found int, allowed: a Workload or"):
        simulator.plan(topology, 3, "row_wise")
    with pytest.raises(UserError, match="execution: found 'rank', allowed: a mapping with"):
        simulator.plan(topology, workload, "row_wise", execution="rank")


def test_the_step_of_an_explanation_is_checked():
    for step in (0, -0.1, 1.5, float("nan")):
        with pytest.raises(UserError, match=f"^step: found {step}, allowed: more than 0, at most 1"):
            simulator.explain(TOPOLOGY, WORKLOAD, ["row_wise"], step=step)


class TestResultsFolders:
    EXPERIMENT = (
        "name: small\ntopology: {topology}\nworkload: {workload}\npolicies: [row_wise]\niterations: 2\n"
    )

    def experiment(self, tmp_path):
        file = tmp_path / "small.yaml"
        file.write_text(self.EXPERIMENT.format(topology=TOPOLOGY, workload=WORKLOAD))
        return file

    def test_a_run_is_that_of_the_command_and_its_page_can_be_written_again(self, tmp_path):
        file = self.experiment(tmp_path)
        result = simulator.run_file(file, out=tmp_path / "own")
        command = [sys.executable, "-m", "simulator.cli", "run", str(file), "--out", str(tmp_path / "theirs")]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=120)
        own, theirs = (
            {path.name: path.read_bytes() for path in (tmp_path / name).iterdir() if path.is_file()}
            for name in ("own", "theirs")
        )
        assert own == theirs
        assert result.to_json()["policies"] == json.loads(own["summary.json"])["policies"]
        assert simulator.write_report(tmp_path / "own") == tmp_path / "own" / "report.html"
        assert (tmp_path / "own" / "report.html").read_bytes() == theirs["report.html"]

    def test_two_runs_are_compared_and_what_is_none_is_refused(self, tmp_path):
        file = self.experiment(tmp_path)
        for name in ("a", "b"):
            simulator.run_file(file, out=tmp_path / name)
        page = simulator.write_report(tmp_path / "a", tmp_path / "b", out=tmp_path / "both.html")
        assert page == tmp_path / "both.html"
        assert "two runs compared" in page.read_text(encoding="utf-8")
        with pytest.raises(UserError, match=r"holds neither summary\.json"):
            simulator.write_report(tmp_path)
