"""Ctrl-C, as the command line takes it.

Theory of operation. Files are replaced whole, or appended to a line at a time, so a process may end at any moment
and nothing that was finished is lost. Ctrl-C therefore ends the process where it is, with a line that says how to
go on. An exception would have to find its way out through compiled code, parsers and libraries, which turn it into
errors of their own, take it for a result or crash. Only where other processes compute for this one is it raised
(within `raised`), so that they are ended first.

Nothing here is imported that takes time: the first moments of a command are covered too.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from simulator.files import discard_partial_files

STATUS = 130
SHOW_CURSOR = "\x1b[?25h\n"  # progress bars hide it


class _State:
    """Of this process."""

    advice = ""  # how to go on
    raises = False
    came = False


@contextmanager
def handled() -> Iterator[None]:
    """Within it, Ctrl-C ends the process. Only the main thread can ask for that; for others nothing changes.

    Nor does anything for a process that was started to ignore Ctrl-C, as a script's jobs in the background are.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, _came)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed within `raised`: what is being raised now, whatever it is, comes of that."""
    return _State.came


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Within it, Ctrl-C says that the same command goes on from what is in `folder`."""
    _State.advice = f"what is finished is kept in {folder}, and the same command goes on from there"
    try:
        yield
    finally:
        if not _State.came:
            _State.advice = ""


@contextmanager
def raised() -> Iterator[None]:
    """Within it, Ctrl-C is a KeyboardInterrupt; a second one ends the process all the same."""
    before, _State.raises = _State.raises, True
    try:
        yield
    finally:
        _State.raises = before


def text() -> str:
    """What is told of an interruption."""
    return ": ".join(filter(None, ["interrupted", _State.advice]))


def _came(number: int, frame: FrameType | None) -> None:
    if _State.raises and not _State.came:
        _State.came = True
        raise KeyboardInterrupt
    discard_partial_files()
    cursor = SHOW_CURSOR if os.isatty(2) else ""
    with suppress(OSError):  # whoever read it may be gone, by the same Ctrl-C
        os.write(2, f"{cursor}{text()}\n".encode(errors="backslashreplace"))
    os._exit(STATUS)
