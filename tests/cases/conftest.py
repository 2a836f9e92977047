"""A user for the practitioners' cases."""

from pathlib import Path

import pytest
from as_user import User


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> User:
    """In an empty folder, at a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return User(monkeypatch, capsys)
