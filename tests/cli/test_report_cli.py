"""`shardsim report`: it knows what it is given, says what it wrote, and refuses the rest in a line."""

import shutil
from pathlib import Path

import pytest
from command import ROOT, shardsim

EXPERIMENT = f"""
name: small
topology: {ROOT / "topologies" / "teaching_2x2.yaml"}
workload: {ROOT / "workloads" / "tiny.yaml"}
policies: [row_wise, {{name: flexshard, memory: hbm, label: tiers}}]
"""
ITERATIONS = "iterations: 2\n"
VARY = "vary: {topology.scale_out.nic_bandwidth: [10 Gbit/s, 20 Gbit/s]}\n"


def done(*arguments: object) -> str:
    result = shardsim(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refused(*arguments: object) -> str:
    result = shardsim(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "e.yaml").write_text(EXPERIMENT + ITERATIONS)
    done("run", folder / "e.yaml", "--out", folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "s.yaml").write_text(EXPERIMENT + VARY)
    done("sweep", folder / "s.yaml", "--out", folder / "sweep", "--workers", 1)
    return folder / "sweep"


def test_a_run_is_drawn_again_the_same(run: Path) -> None:
    page = run / "report.html"
    before = page.read_bytes()
    page.unlink()
    shutil.rmtree(run / "plots")
    assert done("report", run) == f"{page}\n"
    assert page.read_bytes() == before
    assert (run / "plots" / "timeline.png").exists()


def test_a_run_has_a_page_with_its_script(run: Path) -> None:
    assert {"report.html", "plotly.min.js"} <= {path.name for path in run.iterdir()}


def test_a_sweep_by_its_folder_and_by_its_csv(sweep: Path, tmp_path: Path) -> None:
    before = (sweep / "report.html").read_bytes()
    assert done("report", sweep) == done("report", sweep / "sweep.csv") == f"{sweep / 'report.html'}\n"
    assert (sweep / "report.html").read_bytes() == before
    copy = tmp_path / "joined.csv"
    copy.write_bytes((sweep / "sweep.csv").read_bytes())
    assert done("report", copy) == f"{tmp_path / 'joined.html'}\n"


def test_the_figure_of_a_sweep_is_chosen(sweep: Path, tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    assert done("report", sweep, "--y", "bound_s", "--out", page) == f"{page}\n"
    assert "<option selected>bound</option><option>communication</option>" in page.read_text()


def test_two_runs_are_compared(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(run, other)
    assert done("report", run, other) == f"{other / 'against_run.html'}\n"
    assert "run and other agree in every figure" in (other / "against_run.html").read_text()
    page = tmp_path / "elsewhere" / "p.html"
    page.parent.mkdir()
    assert done("report", run, other, "--out", page) == f"{page}\n"
    assert (page.parent / "plotly.min.js").exists()


def test_explain_leaves_its_answer_in_the_page(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "explained"
    shutil.copytree(run, folder)
    assert "Most would help" not in (folder / "report.html").read_text()
    printed = done("explain", folder, "--workers", 1, "--policy", "tiers")
    assert printed.endswith(f"\nResults: {folder / 'report.html'}\n")
    page = (folder / "report.html").read_text()
    told = next(line for line in printed.splitlines() if line.startswith("Most would help: "))
    assert told[:40] in page
    assert page.count("What communication follows") == 2  # a caption, and the name of its box


def test_an_iteration_that_counts_a_part_of_a_synchronisation_is_explained(tmp_path: Path) -> None:
    """The iteration that is taken apart is one that synchronises, which takes longer than the results' mean."""
    experiment, folder = tmp_path / "e.yaml", tmp_path / "out"
    synchronising = "{name: data_parallel, sync_every: 4}"
    experiment.write_text(EXPERIMENT.replace("row_wise", synchronising) + "iterations: 1\n")
    done("run", experiment, "--out", folder)
    result = shardsim("explain", folder, "--workers", 1)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith(f"\nResults: {folder / 'report.html'}\n")


def test_an_explanation_of_other_results_is_not_kept(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "older"
    shutil.copytree(run, folder)
    path = folder / "iterations.csv"
    head, first, *rest = path.read_text().splitlines(keepends=True)
    column = head.split(",").index("communication_s")
    cells = first.split(",")
    cells[column] = "1.5"
    path.write_text("".join([head, ",".join(cells), *rest]))
    before = (folder / "report.html").read_bytes()
    result = shardsim("explain", folder, "--workers", 1, "--policy", "row_wise")
    assert result.returncode == 0
    assert "another version made them" in result.stderr
    assert (folder / "report.html").read_bytes() == before


class TestRefusals:
    def test_what_is_no_result(self, tmp_path: Path) -> None:
        said = refused("report", tmp_path)
        assert said == f"{tmp_path}: holds neither summary.json (a finished run) nor sweep.csv (a sweep)\n"
        assert refused("report", tmp_path / "none") == f"{tmp_path / 'none'}: no such file or directory\n"
        (tmp_path / "x.txt").write_text("")
        assert "the folder of a run or a sweep, or a sweep's CSV, is expected" in refused(
            "report", tmp_path / "x.txt"
        )
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        assert "is no CSV of a sweep" in refused("report", tmp_path / "x.csv")

    def test_a_run_against_a_sweep(self, run: Path, sweep: Path) -> None:
        expected = f"report: two runs can be compared, {sweep} is a sweep\n"
        assert refused("report", run, sweep) == refused("report", sweep, run) == expected

    def test_options_of_a_sweep_for_a_run(self, run: Path) -> None:
        assert refused("report", run, "--y", "bound_s").startswith("report: --x and --y are for a sweep")

    def test_a_key_or_figure_that_is_none(self, sweep: Path) -> None:
        assert "'nic' was not varied, allowed: topology.scale_out" in refused("report", sweep, "--x", "nic")
        assert "'speed' is no figure to draw, allowed: " in refused("report", sweep, "--y", "speed")

    def test_a_page_that_cannot_be_written(self, run: Path, tmp_path: Path) -> None:
        assert "none/p.html: cannot be written" in refused(
            "report", run, "--out", tmp_path / "none" / "p.html"
        )

    def test_a_run_that_lacks_a_file(self, run: Path, tmp_path: Path) -> None:
        folder = tmp_path / "broken"
        shutil.copytree(run, folder)
        (folder / "links.csv").unlink()
        assert "links.csv: cannot be read: No such file or directory" in refused("report", folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestAFolderIsOnlyOne:
    """A run and a sweep both have a manifest and a page: neither takes the folder of the other."""

    def test_a_sweep_does_not_take_the_folder_of_a_run(self, run: Path, tmp_path: Path) -> None:
        (tmp_path / "s.yaml").write_text(EXPERIMENT + VARY)
        before = contents(run)
        said = refused("sweep", tmp_path / "s.yaml", "--out", run)
        assert said.startswith(f"{run}: holds a run (summary.json), which a sweep would write over")
        assert contents(run) == before

    def test_nor_of_a_run_that_was_killed(self, tmp_path: Path) -> None:
        (tmp_path / "s.yaml").write_text(EXPERIMENT + VARY)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "iterations.jsonl").write_text("{}\n")
        assert "holds a run (iterations.jsonl)" in refused(
            "sweep", tmp_path / "s.yaml", "--out", tmp_path / "out"
        )

    def test_a_run_does_not_take_the_folder_of_a_sweep(self, sweep: Path, tmp_path: Path) -> None:
        (tmp_path / "e.yaml").write_text(EXPERIMENT + ITERATIONS)
        before = contents(sweep)
        said = refused("run", tmp_path / "e.yaml", "--out", sweep)
        assert said.startswith(f"{sweep}: holds a sweep (sweep.csv), which a run would write over")
        assert contents(sweep) == before

    @pytest.mark.parametrize("verb", ["report", "explain", "frontier"])
    def test_one_that_holds_both_is_refused(self, run: Path, sweep: Path, tmp_path: Path, verb: str) -> None:
        both = tmp_path / "both"
        shutil.copytree(run, both)
        shutil.copytree(sweep, both, dirs_exist_ok=True)
        assert refused(verb, both).startswith(f"{both}")
