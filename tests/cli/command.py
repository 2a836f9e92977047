"""The command line for tests: in a process of its own, which can be ended early, or in this one."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from simulator.cli import main

ROOT = Path(__file__).parents[2]
WITHOUT_REPORT = """
import simulator.experiment.run as run
run.build_report = lambda folder: None
from simulator.cli import main
main()
"""
Process = subprocess.Popen[str]


def start(*arguments: object, report: bool = True, program: Sequence[str] = (), **options: object) -> Process:
    """The command line; without `report` it draws none, which takes most of a small run's time."""
    program = program or (("-m", "simulator.cli") if report else ("-c", WITHOUT_REPORT))
    command = [sys.executable, *program, *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command,
        **{
            "cwd": ROOT,
            "env": environment,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        | options,
    )


def finish(process: Process) -> tuple[int, str, str]:
    """Status, and what was printed."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def finished(*arguments: object, report: bool = True) -> str:
    """What a command prints that has to succeed."""
    code, printed, err = finish(start(*arguments, report=report))
    assert code == 0, err
    return printed


def shardsim(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in this process, which saves the seconds that a new one takes to begin."""
    words, out, err = ["shardsim", *map(str, arguments)], io.StringIO(), io.StringIO()
    status: object = 0
    with (
        patch.object(sys, "argv", words),
        patch.dict(os.environ, {"COLUMNS": "80"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    return subprocess.CompletedProcess(words, int(str(status)), out.getvalue(), err.getvalue())


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def lines_of(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_until_lines(file: Path, count: int, process: Process) -> None:
    """Until a file has so many lines, or the process has ended."""
    wait_for(lambda: lines_of(file) >= count or process.poll() is not None)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def members_of(session: int) -> list[int]:
    """Processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in ("Z", "X"):
            found.append(int(stat.parent.name))
    return found
