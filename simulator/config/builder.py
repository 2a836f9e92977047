"""Puts the events of a YAML parser together as plain data.

Theory of operation. A stack holds the mappings and lists that are still open, so that nothing recurses and no tag
makes an object. Depth and size are bounded before they are taken: an alias counts with all that it stands for, so
a bomb of aliases ends at `MOST_VALUES` like a long file. The value of a repeated key is read and dropped.
"""

from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from simulator.config.errors import MOST_PROBLEMS, ConfigError, Path, Place, Problem
from simulator.config.scalars import Scalar, resolve

MOST_VALUES = 100_000
MOST_DEPTH = 50


@dataclass
class _Frame:
    """A mapping or list that is still open."""

    value: dict[str, Any] | list[Any]
    path: Path
    place: Place
    anchor: str | None
    key: str | None = None  # the key that waits for its value
    is_repeated: bool = False  # whether that key stood before: its value is read and dropped
    size: int = 1
    depth: int = 1


@dataclass(frozen=True)
class _Anchored:
    """A finished value that an alias may name."""

    value: Any
    size: int
    depth: int


@dataclass
class Builder:
    """Puts events together; `root` is whole after the last."""

    source: str
    root: Any = None
    documents: int = 0
    places: dict[Path, Place] = field(default_factory=dict)
    key_places: dict[Path, Place] = field(default_factory=dict)
    texts: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _frames: list[_Frame] = field(default_factory=list)
    _anchored: dict[str, _Anchored] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        """Take in one event of the YAML parser. Raises ConfigError for what a strict file may not hold."""
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self._stop("a second document begins here, one is allowed", place)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event, place)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()
            case yaml.ScalarEvent():
                self._scalar(event, place)
            case yaml.AliasEvent():
                self._alias(event, place)

    def _open(self, event: Any, place: Place) -> None:
        self._refuse_tag(event, place)
        if self._expects_key():
            self._stop("a key must be text", place)
        if len(self._frames) >= MOST_DEPTH:
            self._stop(f"nested deeper than {MOST_DEPTH} levels", place)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._frames.append(_Frame({} if is_mapping else [], self._next_path(), place, event.anchor))

    def _close(self) -> None:
        frame = self._frames.pop()
        self._put(frame.value, frame.path, frame.place, frame.anchor, frame.size, frame.depth)

    def _scalar(self, event: Any, place: Place) -> None:
        self._refuse_tag(event, place)
        value = self._resolved(event, place)
        if self._expects_key():
            self._key(event.value, value, place)
            return
        path = self._next_path()
        if not self._dropping():
            self.texts[path] = event.value
        self._put(value, path, place, event.anchor, size=1, depth=0)

    def _alias(self, event: Any, place: Place) -> None:
        anchored = self._anchored.get(event.anchor)
        if anchored is None:
            self._stop(f"the alias *{event.anchor} has no finished anchor before it", place)
        if self._expects_key():
            self._stop("a key must be text, not an alias", place)
        self._put(anchored.value, self._next_path(), place, None, anchored.size, anchored.depth)

    def _resolved(self, event: Any, place: Place) -> Scalar:
        if not event.implicit[0]:  # quoted, a block, or tagged
            return str(event.value)
        try:
            return resolve(event.value)
        except ValueError as error:
            self._stop(str(error), place)

    def _key(self, text: str, value: Scalar, place: Place) -> None:
        frame = self._frames[-1]
        path = (*frame.path, text)
        frame.is_repeated = text in frame.value
        if refused := _refused_key(text, value):
            if not frame.is_repeated:
                self._note(path, refused, place)
        elif text == "<<":
            self._note(path, "merge keys are not supported: write the keys out", place)
        if not self._dropping():
            self.key_places[path] = place
        elif frame.is_repeated and path in self.key_places and not refused:
            self._note(path, f"the same key twice, first in line {self.key_places[path].line}", place)
        frame.key = text

    def _put(self, value: Any, path: Path, place: Place, anchor: str | None, size: int, depth: int) -> None:
        """Hand a finished value to what is around it."""
        if anchor is not None:
            self._anchored[anchor] = _Anchored(value, size, depth)
        if not self._dropping():
            self.places[path] = place
        if not self._frames:
            self.root = value
            return
        frame = self._frames[-1]
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if frame.size > MOST_VALUES:
            self._stop(f"more than {MOST_VALUES:,} values, aliases written out", place)
        if len(self._frames) + depth > MOST_DEPTH:
            self._stop(f"nested deeper than {MOST_DEPTH} levels, aliases written out", place)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is not None:
            if not frame.is_repeated:
                frame.value[frame.key] = value
            frame.key, frame.is_repeated = None, False

    def _expects_key(self) -> bool:
        return (
            bool(self._frames) and isinstance(self._frames[-1].value, dict) and self._frames[-1].key is None
        )

    def _dropping(self) -> bool:
        return any(frame.is_repeated for frame in self._frames)

    def _next_path(self) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (*frame.path, len(frame.value) if isinstance(frame.value, list) else frame.key or "")

    def _refuse_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None:
            self._note((), f"the tag {event.tag} is refused: YAML is plain data here", place)

    def _note(self, path: Path, text: str, place: Place) -> None:
        self.problems.append(Problem(path, text, place))
        if len(self.problems) > MOST_PROBLEMS:
            raise ConfigError(self.source, self.problems)

    def _stop(self, text: str, place: Place) -> NoReturn:
        raise ConfigError(self.source, [*self.problems, Problem((), text, place)])


def _refused_key(text: str, value: Scalar) -> str:
    """Why a plain key that is no text is none; "" for text. In braces `8,000` is an 8 and a key of three digits."""
    if isinstance(value, str):
        return ""
    if isinstance(value, bool):
        return "got a boolean as a key: quote it"
    if value is None:
        return "got nothing as a key: quote it"
    is_group = len(text) == 3 and text.isdecimal()
    return "got a number as a key: quote it" + (", or group digits as in 8_000_000" if is_group else "")
