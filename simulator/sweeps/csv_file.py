"""The one CSV of a sweep: aligned, appended to as points finish, read back whatever happened to it.

Cells are padded on the left so that columns line up, so readers skip spaces after the comma
(`pandas.read_csv(path, skipinitialspace=True)`). A last line without its end was cut short by a kill: it is dropped.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from simulator.errors import UserError
from simulator.files import read_text, replace_file
from simulator.sweeps.rows import ERROR, FIGURES, KEY, OUTCOME, Row, columns, varied_columns

TOLD = ("policy", "engine", KEY)  # that every row has
NUMBERS = tuple(name for name in FIGURES if name != "bottleneck")
FIGURE_WIDTH = 18  # of figures that are not known yet
Table = tuple[list[str], list[Row]]  # columns and rows of a file

CLOSE = 1e-9  # relative; what two machines may differ by


class SweepFile:
    """A sweep CSV under way: `append` rows; each is whole in the file when it returns."""

    def __init__(
        self, path: Path, names: Sequence[str], known: Iterable[Row], planned: Iterable[Row]
    ) -> None:
        """`known` are written at once; `planned` rows, without their figures, say how wide columns will be."""
        self.path, self.names = path, names
        rows = list(known)
        self._widths = widths(names, [*rows, *planned])
        replace_file(path, "".join(line(names, row, self._widths) for row in [header(names), *rows]))
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        self._file = self.path.open("a", encoding="utf-8", newline="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, rows: Iterable[Row]) -> None:
        if self._file is None:
            raise ValueError("a sweep file must be entered before rows are appended")
        self._file.write("".join(line(self.names, row, self._widths) for row in rows))
        self._file.flush()


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    """A whole file at once, as narrow as its cells allow."""
    own = widths(names, rows, figures=0)
    replace_file(path, "".join(line(names, row, own) for row in [header(names), *rows]))


def read_rows(path: Path) -> Table:
    """Columns and rows of a sweep CSV, without empty cells. Raises UserError for anything else."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]), skipinitialspace=True)
    try:
        (_, names), *lines = [(reader.line_num, cells) for cells in reader] or [(1, [])]
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {error}") from None
    if not {*TOLD, ERROR} <= set(names):
        raise UserError(
            f"{path}: is no CSV of a sweep: its first line has no columns {', '.join(TOLD)} and {ERROR}"
        )
    rows = []
    for number, cells in lines:
        if len(cells) != len(names):
            raise UserError(f"{path}:{number}: {len(cells)} cells, the first line has {len(names)}")
        rows.append({name: text for name, text in zip(names, cells, strict=True) if text})
        if problem := row_problem(rows[-1]):
            raise UserError(f"{path}:{number}: {problem}")
    return names, rows


def row_problem(row: Row) -> str:
    """What makes a row none of a sweep's; "" where nothing does."""
    for name in TOLD:
        if name not in row:
            return f"a row without {'an' if name == 'engine' else 'a'} {name}"
    for name in NUMBERS:
        if name in row and not (numeric(row[name]) and math.isfinite(float(row[name]))):
            return f"{name}: found {row[name]!r}, allowed: a finite number"
    return ""


def combined(files: Mapping[str, Table]) -> Table:
    """Several files, by what they are called, as one: a point that several have stands once, where it stood first.

    Figures go before errors. Raises UserError where two files have different figures for one point.
    """
    varied = dict.fromkeys(name for names, _ in files.values() for name in varied_columns(names))
    rows: dict[str, Row] = {}
    for source, (_, own) in files.items():
        for row in own:
            known = rows.setdefault(row[KEY], row)
            if row.get(ERROR):
                continue
            if known.get(ERROR):
                rows[row[KEY]] = row
            elif column := differing(known, row):
                found = f"{row.get(column)}, another file {known.get(column)}"
                raise UserError(f"{source}: point {row[KEY]} has {column} {found}")
    return columns(varied), list(rows.values())


def differing(one: Row, other: Row) -> str:
    """The first outcome column in which two rows differ by more than rounding; empty if none."""
    for column in OUTCOME:
        left, right = one.get(column, ""), other.get(column, "")
        if left != right and not (numeric(left) and numeric(right) and _close(float(left), float(right))):
            return column
    return ""


def numeric(text: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _close(left: float, right: float) -> bool:
    return abs(left - right) <= CLOSE * max(abs(left), abs(right))


def header(names: Sequence[str]) -> Row:
    return {name: name for name in names}


def widths(names: Sequence[str], rows: Iterable[Row], *, figures: int = FIGURE_WIDTH) -> dict[str, int]:
    """Of each column; those that figures go into are at least so wide."""
    found = {
        name: max(len(quoted(name)), figures if name in OUTCOME and name != ERROR else 0) for name in names
    }
    for row in rows:
        for name, text in row.items():
            found[name] = max(found[name], len(quoted(text)))
    return found


def line(names: Sequence[str], row: Row, own: Mapping[str, int]) -> str:
    """One line of the file."""
    return ",".join(quoted(row.get(name, "")).rjust(own[name]) for name in names) + "\n"


def quoted(text: str) -> str:
    """A cell as CSV wants it."""
    if any(char in text for char in ',"') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
