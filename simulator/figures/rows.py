"""Rows of a figure's data: one CSV a dataset, written whole, and what is finished of it while it is being made.

A dataset is made task by task. Rows of finished tasks go to a file of JSON lines beside the CSV, each line flushed
as it is finished; a line that a kill cut short is dropped. When all tasks are done the CSV is written whole, in the
order of the tasks, and the lines are removed.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from simulator.errors import UserError
from simulator.files import replace_file

Row = dict[str, str]
Rows = dict[str, list[Row]]  # of tasks, by their keys

KEY = "key"
KEY_DIGITS = 12
DIGITS = 7
MOST_WHOLE = 1e15  # floats that are whole are written so up to here


def cell(value: Any) -> str:
    """A value as text: numbers to seven digits, None empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < MOST_WHOLE else f"{value:.{DIGITS}g}"
    return str(value)


def read_csv(path: Path) -> Rows:
    """The rows of a dataset by key; none when there is no such file. Raises UserError for another kind of file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    reader = csv.DictReader(io.StringIO(text))
    if KEY not in (reader.fieldnames or ()):
        raise UserError(f"{path}: is no data of a figure: its first line has no column {KEY}")
    rows: Rows = {}
    for row in reader:
        if None in row or None in row.values():
            raise UserError(f"{path}:{reader.line_num}: has other cells than its first line")
        rows.setdefault(row.pop(KEY), []).append(row)
    return rows


def write_csv(path: Path, tasks: Iterable[tuple[str, Sequence[Row]]]) -> None:
    """Write the rows of tasks by key, in this order. Columns are those of the rows, the key last."""
    pairs = [(key, row) for key, rows in tasks for row in rows]
    names = list(dict.fromkeys(name for _, row in pairs for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*names, KEY], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, KEY: key} for key, row in pairs)
    replace_file(path, text.getvalue())


class Unfinished:
    """The finished tasks of a dataset that is being made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = _read_lines(path)
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        lines = [_line(key, rows) for key, rows in self.rows.items()]
        replace_file(self.path, "".join(lines))
        self._file = self.path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
        if error is None:
            self.path.unlink()

    def append(self, key: str, rows: list[Row]) -> None:
        """Keep one more finished task; it is on the disk when this returns."""
        if self._file is None:
            raise ValueError("unfinished data must be entered before rows are appended")
        self.rows[key] = rows
        self._file.write(_line(key, rows))
        self._file.flush()
        os.fsync(self._file.fileno())


def _line(key: str, rows: Sequence[Mapping[str, str]]) -> str:
    return json.dumps({KEY: key, "rows": list(rows)}) + "\n"


def _read_lines(path: Path) -> Rows:
    """The whole lines of a file that may have been cut short anywhere; none when it is absent."""
    if not path.exists():
        return {}
    rows: Rows = {}
    for line in path.read_bytes().splitlines():
        try:
            task = json.loads(line)
        except ValueError:
            break
        rows[task[KEY]] = task["rows"]
    return rows
