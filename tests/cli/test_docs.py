"""Every command in the docs runs, and where its output is shown, the output is true.

A fenced block marked `console` shows commands after `$ ` and what they print; all of it is compared. A block
marked `sh` shows commands only; those of shardsim must exit with 0. Commands run in order, in one copy of the
project's data folders for each page.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATA_FOLDERS = ("topologies", "workloads", "experiments", "docs", "examples")
TIMEOUT_S = 300


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(kind: str, body: str) -> list[tuple[str, str | None]]:
    """Pairs of command and expected output (None: not shown)."""
    if kind == "sh":
        return [(line, None) for line in body.splitlines() if line.startswith("shardsim ")]
    pairs = []
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        pairs.append((command, output))
    return pairs


@pytest.fixture
def checkout(tmp_path):
    for name in DATA_FOLDERS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def execute(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(command)
    words = [sys.executable, "-m", "simulator.cli"] if program == "shardsim" else [program]
    if program == "python":
        words = [sys.executable]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "COLUMNS": "80", "HOME": str(folder)}
    return subprocess.run(
        [*words, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
    )


def test_the_docs_show_commands():
    assert sum(len(commands(*block)) for page in PAGES for block in blocks(page)) > 5


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_commands_of_a_page(page, checkout):
    for kind, body in blocks(page):
        for command, expected in commands(kind, body):
            result = execute(command, checkout)
            assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
            if expected is not None:
                shown = "\n".join(line.rstrip() for line in result.stdout.splitlines()).strip()
                assert shown == expected.strip(), command
