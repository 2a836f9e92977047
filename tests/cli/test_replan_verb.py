"""`shardsim replan` as a person meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPOLOGY, WORKLOAD = ROOT / "topologies" / "teaching_2x2.yaml", ROOT / "workloads" / "tiny.yaml"


def replan(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simulator.cli", "replan", TOPOLOGY, WORKLOAD, *arguments]
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_prints_and_writes_what_each_interval_costs(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    result = replan(
        "--policy", "{name: flexshard, memory: hbm}", "--drift", 0.2, "--every", 10, "--json", figures
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "every 10" in result.stdout
    assert "never" in result.stdout
    written = json.loads(figures.read_text())
    assert [row["every"] for row in written["renewals"]] == [10, None]
    assert (written["over_iterations"], written["horizon_iterations"]) == (1000, 100)
    renewed = written["renewals"][0]
    assert renewed["net_s"] == pytest.approx(
        renewed["communication_s"] + renewed["move"]["transfer_s"] / renewed["every"]
    )
    assert {rate["tier"] for rate in renewed["hit_rates"]} >= {"global", "reclaimed"}


def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ab"]
    for file in files:
        assert replan("--policy", "hybrid", "--drift", 0.2, "--every", 10, "--json", file).returncode == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_policy_that_never_changes_says_so() -> None:
    result = replan("--policy", "row_wise", "--drift", 0.2, "--every", 10)
    assert "row_wise places all rows as before, however popularity moves" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            [],
            "workload tiny: no table has a `drift` above 0, or `planning`, so a plan never grows old; give one of "
            "them, or --drift\n",
        ),
        (
            ["--drift", 0],
            "drift: found 0, allowed: more than 0, at most 1; at 0 a plan never grows old\n",
        ),
        (
            ["--drift", 0.1, "--every", 30, "--horizon", 20],
            "replan: every 30 iterations, allowed: 1 to the horizon, 20\n",
        ),
        (["--drift", 0.1, "--pause", "10"], "--pause: the bare number 10 has no unit"),
    ],
)
def test_mistakes_are_one_line(arguments: list[object], text: str) -> None:
    result = replan("--policy", "hybrid", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(text)
    assert len(result.stderr.splitlines()) == 1
