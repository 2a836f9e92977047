"""A real results folder, small: the report reads it, and docs/results.md describes it."""

import csv
import json
import re
from pathlib import Path

import pytest

from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.run import run_experiment
from simulator.report.folder import TABLE_COLUMNS, read_results
from simulator.report.plots import latency, matrix, memory, traffic
from simulator.sharding.registry import PolicyEntry
from simulator.topology.load import load_topology
from simulator.workload.load import load_workload

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
POLICIES = ["row_wise", {"name": "flexshard", "label": "tiers/of rows"}]


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return make_experiment(
        name="small",
        topology=load_topology(ROOT / "topologies" / "teaching_2x2.yaml"),
        workload=load_workload(ROOT / "workloads" / "tiny.yaml"),
        policies=[PolicyEntry.parse(entry) for entry in POLICIES],
        iterations=2,
        seed=7,
    )


@pytest.fixture(scope="module")
def folder(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    run_experiment(experiment, folder)
    return folder


def section(heading: str) -> str:
    """The part of the page under a heading."""
    _, found, rest = PAGE.partition(f"\n## {heading}\n")
    assert found, heading
    return rest.partition("\n## ")[0]


def columns_of(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


def test_every_file_is_described(folder: Path) -> None:
    for path in folder.iterdir():
        name = re.sub(r"^(traffic|trace|timeline|explanation)_.*(\..*)$", r"\1_<policy>\2", path.name)
        name = name.replace("traffic_<policy>.txt", "traffic_<policy>_<phase>.txt").replace(
            "plots", "plots/*.png"
        )
        assert f"`{name}`" in PAGE, path.name


@pytest.mark.parametrize("name", TABLE_COLUMNS)
def test_tables_have_the_columns_that_are_read_and_described(folder: Path, name: str) -> None:
    assert tuple(columns_of(folder / name)) == TABLE_COLUMNS[name]
    described = re.findall(r"`([a-z_]+)`", section(f"`{name}`"))
    assert [column for column in TABLE_COLUMNS[name] if column not in described] == []


def test_the_summary_is_described(folder: Path) -> None:
    described = set(re.findall(r"`([a-z_]+)`", section("`summary.csv` and `summary.json`")))
    found = [column for column in columns_of(folder / "summary.csv") if not column.endswith("_std")]
    assert "longest_wait" not in found  # which is in the JSON, for it is no single figure
    assert set(found) <= described
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary) <= described
    assert set(summary["policies"][0]) <= described


def test_the_manifest_is_described(folder: Path) -> None:
    described = set(re.findall(r"`([a-z_]+)`", section("`manifest.json`")))
    assert set(json.loads((folder / "manifest.json").read_text())) <= described


def test_plots_agree_with_the_summary(folder: Path) -> None:
    results = read_results(folder)
    by_use = traffic.traffic_by_use(results).groupby("policy").sum()
    for row in results.summary["policies"]:
        policy = row["policy"]
        assert by_use.loc[policy, "inter_island_bytes"] == pytest.approx(row["inter_island_bytes"])
        assert by_use.loc[policy, "intra_island_bytes"] == pytest.approx(row["intra_island_bytes"])
        assert memory.totals(results)[policy] == row["memory_bytes_per_rank_max"]
        assert latency.time_by_phase(results).loc[policy, "transfer_s"].sum() >= 0.99 * row["bound_s"]


def test_a_label_with_a_slash_still_finds_its_matrix(folder: Path) -> None:
    results = read_results(folder)
    assert results.policies == ("row_wise", "tiers/of rows")
    assert matrix.embedding_matrix(results, "row_wise").sum() > 0
    assert (folder / "trace_tiers%2Fof rows.json").exists()


def test_the_page_shows_it(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "tiers/of rows" in text
    assert "Under these assumptions:" in text
