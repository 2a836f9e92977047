"""`shardsim figures`: quick mode as CI uses it, and what is said when something is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.errors import UserError
from simulator.figures.catalogue import FIGURES
from simulator.figures.make import figures_named, make_figures

ROOT = Path(__file__).parents[2]
QUICK = ("length", "rows", "clusters", "balance")  # those whose smaller runs take seconds


def shardsim(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simulator.cli", *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_quick_figures_are_made_from_smaller_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    before = {path: path.read_bytes() for path in (ROOT / "experiments/figures").glob("*.csv")}
    told: list[str] = []
    pictures = make_figures(QUICK, quick=True, out=tmp_path, announce=told.append)
    assert [picture.name for picture in pictures] == [f"paper_{name}.png" for name in QUICK]
    assert all(picture.stat().st_size > 10_000 for picture in pictures)
    for name in QUICK:
        assert (tmp_path / f"{name}.csv").stat().st_size <= (
            ROOT / f"experiments/figures/{name}.csv"
        ).stat().st_size
        assert (tmp_path / f"{name}.json").exists()
    assert any(line.startswith("figure 1 length: ") for line in told)
    assert before == {path: path.read_bytes() for path in (ROOT / "experiments/figures").glob("*.csv")}


def test_pictures_are_the_same_to_the_byte_when_drawn_again(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    first, second = (make_figures(["rows"], out=tmp_path / name)[0].read_bytes() for name in ("a", "b"))
    assert first == second


def test_committed_data_are_taken_over_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    told: list[str] = []
    make_figures(["rows"], out=tmp_path, announce=told.append)
    assert told == []
    assert (tmp_path / "rows.csv").read_bytes() == (ROOT / "experiments/figures/rows.csv").read_bytes()


def test_names_choose_figures_in_their_own_order():
    assert [figure.name for figure in figures_named(["scale", "rows"])] == ["rows", "scale"]
    assert figures_named([]) == FIGURES


def test_an_unknown_name_is_told_with_the_nearest(tmp_path):
    result = shardsim("figures", "latencies", cwd=ROOT)
    assert result.returncode == 2
    assert "unknown figure 'latencies'" in result.stderr
    assert "did you mean 'latency'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_outside_the_projects_folder_it_says_where_it_looks(tmp_path):
    result = shardsim("figures", "rows", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.strip() == (
        "experiments/figures: not found; figures are made in the project's folder"
    )


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be made"):
        make_figures(["rows"], out=tmp_path / "file" / "below")
