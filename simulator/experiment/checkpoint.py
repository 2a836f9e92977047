"""Finished iterations on disk, so that a killed run loses none of them.

The file is JSON lines: a header with the experiment's digest, then one `IterationRecord` a line, each flushed to
the disk as it finishes. A line cut short by a kill is dropped when the file is read again; a file of another
experiment is started anew.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Self

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
        self._file = self.path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, record: IterationRecord) -> None:
        """Keep one more finished iteration; it is on the disk when this returns."""
        if self._file is None:
            raise ValueError("a checkpoint must be entered before records are appended")
        self.done[record.policy, record.iteration] = record
        self._file.write(json.dumps(record.to_json()) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def read_records(path: Path, digest: str) -> list[IterationRecord]:
    """The whole records of a checkpoint of this digest; none when it is absent or another experiment's."""
    if not path.exists():
        return []
    records = []
    with path.open(encoding="utf-8") as file:
        if parse_line(file.readline()) != {"digest": digest}:
            return []
        for line in file:
            data = parse_line(line)
            if data is not None:
                records.append(IterationRecord.from_json(data))
    return records


def parse_line(line: str) -> dict[str, object] | None:
    """The object of one line, or None for a line that a kill cut short."""
    try:
        data = json.loads(line) if line.endswith("\n") else None
    except json.JSONDecodeError:
        return None
    return data if isinstance(data, dict) else None
