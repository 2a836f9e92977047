"""Finished iterations on disk, so that a killed run loses none of them.

The file is JSON lines: a header with the experiment's digest, then one `IterationRecord` a line, each flushed to
the disk as it finishes. A line cut short by a kill is dropped when the file is read again; a file of another
experiment is started anew.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from simulator.errors import UserError
from simulator.files import replace_file
from simulator.metrics.records import IterationRecord

FILE_NAME = "iterations.jsonl"


class Checkpoint:
    """Opens (or resumes) the checkpoint of one experiment; `done` holds what was finished before."""

    def __init__(self, folder: Path, digest: str) -> None:
        self.path = folder / FILE_NAME
        self.digest = digest
        self.done: dict[tuple[str, int], IterationRecord] = {}
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        for record in read_records(self.path, self.digest):
            self.done[record.policy, record.iteration] = record
        lines = [json.dumps({"digest": self.digest})]
        lines += [json.dumps(record.to_json()) for record in self.done.values()]
        replace_file(self.path, "\n".join(lines) + "\n")
        try:
            self._file = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # what could not be flushed has been told
                self._file.close()

    def append(self, record: IterationRecord) -> None:
        """Keep one more finished iteration; it is on the disk when this returns. Raises UserError when it cannot be."""
        if self._file is None:
            raise ValueError("a checkpoint must be entered before records are appended")
        self.done[record.policy, record.iteration] = record
        try:
            self._file.write(json.dumps(record.to_json()) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: cannot be written: {error.strerror}")


def holds_another(folder: Path, digest: str) -> bool:
    """Whether a folder has the checkpoint of another experiment, or of other inputs."""
    try:
        with (folder / FILE_NAME).open("rb") as file:
            return parse_line(file.readline()) != {"digest": digest}
    except OSError:
        return False


def read_records(path: Path, digest: str) -> list[IterationRecord]:
    """The whole records of a checkpoint of this digest; none when it is absent or another experiment's."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    if not lines or parse_line(lines[0]) != {"digest": digest}:
        return []
    found = [parse_record(line) for line in lines[1:]]
    return [record for record in found if record is not None]


def parse_record(line: bytes) -> IterationRecord | None:
    """The record of one line, or None for what is no whole record."""
    data = parse_line(line)
    try:
        return None if data is None else IterationRecord.from_json(data)
    except (KeyError, TypeError):
        return None


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The object of one line, or None for a line that a kill cut short."""
    try:
        data = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
