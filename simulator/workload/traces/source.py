"""Which trace to read, in which declared format, and what to do with ids that are no rows."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from simulator.errors import UserError

Format = Literal["user_item", "sessions", "user_items"]
Part = Literal["all", "first_half", "second_half"]


@dataclass(frozen=True)
class TraceSource:
    """A trace file and how to read it.

    `user_item`: a user and an item a line, a user's lines in time order. `sessions`: the items of one session
    a line. `user_items`: a user and then its items a line. Ids are whole numbers below 2^64.
    """

    path: Path
    format: Format
    ids: Literal["strict", "modulo"] = "strict"
    padding_id: int | None = None  # dropped and counted
    part: Part = "all"  # sequences that begin in this half of the file's bytes
    table: str = ""  # named in errors
    rows: int | None = None  # ids are rows of a table of this many; None: any id will do

    @cached_property
    def middle(self) -> int:
        """The byte at which the second half of the file begins."""
        return self.path.stat().st_size // 2

    @property
    def allowed_ids(self) -> str:
        """What an id outside is told."""
        if self.rows is None:
            return "is negative: padding_id says which one to drop"
        return f"is outside the table's {self.rows} rows (ids: modulo wraps them, padding_id drops one)"

    def error(self, line: int | None, text: str) -> UserError:
        """`file:line: table: text`; None: the whole file is meant."""
        place = f"{self.path}" if line is None else f"{self.path}:{line}"
        table = f"table {self.table}: " if self.table else ""
        return UserError(f"{place}: {table}{text}")
