"""Problems of a file, each with its place, and the one error that carries them all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from pydantic_core import PydanticCustomError

from simulator.errors import UserError

Path = tuple[str | int, ...]  # keys and list indices from the top of a file to a value

MOST_PROBLEMS = 100  # of one file that are told
FINDINGS = "findings"  # the type of the pydantic error that `refuse` raises


class Place(NamedTuple):
    """Where in a file, counted from 1."""

    line: int
    column: int


class Finding(NamedTuple):
    """Something wrong with the value at `path`, which is relative to the model that was checked."""

    path: Path
    text: str


@dataclass(frozen=True)
class Problem:
    """One line of a report: what is wrong at `path`, and where that is, if it came from a file."""

    path: Path
    text: str
    place: Place | None = None

    def line(self, source: str) -> str:
        """'file:line:column: key.path: text'."""
        parts = [source] if source else []
        if self.place is not None:
            parts = [f"{source}:{self.place.line}:{self.place.column}"]
        return printable(": ".join([*parts, *filter(None, [dotted(self.path)]), self.text]))


class ConfigError(UserError):
    """Everything that is wrong with one file, a line each, in the order of the file."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda problem: problem.place or Place(0, 0)))
        lines = [problem.line(source) for problem in self.problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            lines.append(printable(f"{source}: and more problems"))
        super().__init__("\n".join(lines))


def printable(text: str) -> str:
    """`text` with control characters and line ends escaped: what a file holds cannot break or colour a report."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def dotted(path: Path) -> str:
    """'overrides[0].target'."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def refuse(findings: Sequence[Finding]) -> NoReturn:
    """Raise from a model's validator what `load_model` reports as one line for each finding."""
    summary = "; ".join(f"{dotted(finding.path)}: {finding.text}" for finding in findings)
    raise PydanticCustomError(FINDINGS, "{summary}", {"summary": summary, FINDINGS: list(findings)})
