"""Every example runs and prints what is recorded beside it.

To record again: for each file, python examples/NAME.py > examples/NAME.out
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples_and_no_recording_without_one():
    assert len(EXAMPLES) >= 5
    assert {path.stem for path in (ROOT / "examples").glob("*.out")} == {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_prints_what_is_recorded(path):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    result = subprocess.run(
        [sys.executable, path], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == path.with_suffix(".out").read_text()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_says_what_it_is_for_and_fits_on_a_screen(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith('"""')
    assert lines[0].endswith('"""')
    assert len(lines) <= 40
