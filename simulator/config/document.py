"""A YAML file as plain data that still knows where everything stood.

PyYAML's parser (the C one where it is built in) yields events, `builder.py` puts them together. What is wrong with
keys and tags is reported together; what is no YAML at all ends the reading at once.
"""

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from simulator.config.builder import Builder
from simulator.config.errors import ConfigError, Path, Place, Problem
from simulator.errors import UserError
from simulator.units import format_bytes

MOST_BYTES = 4 * 2**20

_PLAINER = {
    "mapping values are not allowed in this context": "a second ': ' here; quote the text, or mind the indentation",
    "could not find expected ':'": "a line without 'key:', or less indented than it should be",
    "did not find expected key": "neither a key nor the end; mind the indentation and quotes",
}

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, eq=False)
class Document:
    """`data` of a file, the place of each value and key, and the text of each scalar as it was written."""

    source: str
    data: Any
    places: Mapping[Path, Place]
    key_places: Mapping[Path, Place]
    texts: Mapping[Path, str]

    def place(self, path: Path, *, of_key: bool = False) -> Place:
        """Where the value (or key) at `path` stands, or else the nearest thing around it."""
        if of_key and path in self.key_places:
            return self.key_places[path]
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(1, 1))


def load_document(path: FilePath) -> Document:
    """Read a YAML file that holds a mapping. Raises UserError: ConfigError with places for what is in the file."""
    source = str(path)
    document = parse_document(_decoded(_read(path), source), source)
    if not isinstance(document.data, dict):
        kind = "a list" if isinstance(document.data, list) else f"only {document.data!r}"
        raise ConfigError(source, [Problem((), f"found {kind}, expected a mapping of keys", Place(1, 1))])
    return document


def parse_document(text: str, source: str) -> Document:
    """The one document in a YAML text. Raises ConfigError."""
    builder = Builder(source)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.YAMLError as error:
        raise ConfigError(source, [*builder.problems, _syntax_problem(error, text)]) from None
    if builder.documents == 0:
        raise ConfigError(source, [Problem((), "the file is empty", Place(1, 1))])
    if builder.problems:
        raise ConfigError(source, builder.problems)
    return Document(source, builder.root, builder.places, builder.key_places, builder.texts)


def _read(path: FilePath) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path}: is a folder, expected a file")
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path}: is not a regular file")
        if status.st_size > MOST_BYTES:
            size = format_bytes(status.st_size)
            raise UserError(
                f"{path}: {size} are too much for a YAML file, at most {format_bytes(MOST_BYTES)}"
            )
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        raise UserError(f"{str(path)!r} cannot be the name of a file") from None


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        text = f"byte 0x{content[error.start]:02x} is not UTF-8: save the file as UTF-8"
        raise ConfigError(source, [Problem((), text, place)]) from None


def _syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position = getattr(error, "position", None)
        reason = getattr(error, "reason", None) or "not YAML"
        before = text[: position if isinstance(position, int) else 0]
        place = Place(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        return Problem((), f"not YAML: {reason}", place)
    place = Place(mark.line + 1, mark.column + 1)
    lines = re.split(r"\r\n|\r|\n", text)
    line = lines[mark.line] if mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return Problem((), "a tab in the indentation: use spaces", Place(place.line, line.index("\t") + 1))
    return Problem((), f"not YAML: {_said(error, mark.line)}", place)


def _said(error: yaml.YAMLError, line: int) -> str:
    """The parser's words, in plainer ones where it has some for what people do, and where it began what it was at."""
    problem, context = str(getattr(error, "problem", None) or ""), str(getattr(error, "context", None) or "")
    begin = getattr(error, "context_mark", None)
    where = f" that begins in line {begin.line + 1}" if begin is not None and begin.line != line else ""
    said = [_PLAINER.get(problem, problem), f"{context}{where}" if context else ""]
    return ", ".join(filter(None, said))
