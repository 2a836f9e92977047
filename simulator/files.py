"""Files are written whole or not at all."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from simulator.errors import UserError

PARTIAL = ".partial"
MOST_TEXT_BYTES = 2**32
_under_way: list[Path] = []  # partial files


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file to write that takes the place of `path` in one step when the block ends.

    Raises UserError when it cannot be written; what was there stays, and nothing is left beside it. A device or a
    pipe is written as it is.
    """
    partial = path if is_special(path) else path.with_name(path.name + PARTIAL)
    if partial != path:
        _under_way.append(partial)
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
        if partial != path:
            partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        if partial != path:
            with suppress(OSError):
                partial.unlink()
            _under_way.remove(partial)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """A folder that no other process holds meanwhile. Raises UserError when one does; ends with the process.

    A file system that knows no locks is trusted.
    """
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another shardsim is writing its results there") from None
        except OSError:
            pass
        yield
    finally:
        os.close(handle)


def discard_partial_files() -> None:
    """Leave nothing half-written, for a process that ends here and now."""
    for partial in list(_under_way):
        with suppress(OSError):
            partial.unlink()


def replace_file(path: Path, text: str) -> None:
    """Put `text` at `path` in one step. Raises UserError when it cannot be written; what was there stays."""
    with replacing(path) as file:
        file.write(text)


def read_text(path: Path) -> str:
    """A file's UTF-8 text without a byte-order mark. Raises UserError for what is gone, too large or no text."""
    try:
        if is_special(path) or path.is_dir():
            raise UserError(f"{path}: is not a regular file")
        if path.stat().st_size > MOST_TEXT_BYTES:
            raise UserError(f"{path}: {path.stat().st_size:,} bytes, at most {MOST_TEXT_BYTES:,} are allowed")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UserError(f"{path}: byte 0x{byte:02x} is not UTF-8: save the file as UTF-8") from error


def read_json(path: Path) -> Any:
    """The value in a JSON file. Raises UserError for what is gone, no JSON, or nested too deeply to be ours."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise UserError(f"{path}: is no JSON") from None


def writable(path: Path | None) -> Path | None:
    """`path`, after making sure that a file can be put there, so that no long work is lost. Raises UserError."""
    if path is None:
        return None
    if path.is_dir():
        raise UserError(f"{path}: is a folder, expected a file")
    if not is_special(path):
        partial = path.with_name(path.name + PARTIAL)
        try:
            partial.touch()
            partial.unlink()
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def is_special(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()
