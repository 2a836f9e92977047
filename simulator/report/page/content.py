"""What a page consists of, as plain values: the template knows these kinds and nothing of runs or sweeps.

A `Page` opens with its claim, then has sections of blocks. Everything here is text as people read it; escaping is the
template's work.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from simulator.report.headline import Headline
from simulator.report.plots.plot import View

Tone = Literal["", "better", "worse"]


@dataclass(frozen=True)
class Cell:
    """What people read, and what sorting goes by; `value` None (n/a) sorts last."""

    text: str
    value: str | float | None
    tone: Tone = ""


@dataclass(frozen=True)
class Heading:
    """One column's heading; `meaning` is empty where the heading says all."""

    text: str
    unit: str = ""
    meaning: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings; `marked` is the row that others are compared with."""

    kind: ClassVar[str] = "table"

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: int | None = None
    note: str = ""  # what is cut, or how to read it

    @property
    def searchable(self) -> bool:
        """Whether it has so many rows that people will look for one."""
        return len(self.rows) > MOST_AT_A_GLANCE


MOST_AT_A_GLANCE = 12


@dataclass(frozen=True)
class Picture:
    """A plot: interactive where plotly.js lies beside the page, else (and in print) the picture at `source`."""

    kind: ClassVar[str] = "picture"

    name: str
    source: str  # a data URI
    question: str
    finding: str
    reading: str
    views: tuple[View, ...] = ()
    choice: str = "policy"  # what the views differ in
    begin: int = 0  # the view that is shown first, of which the finding speaks


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side where there is room."""

    kind: ClassVar[str] = "gallery"

    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    kind: ClassVar[str] = "prose"

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    kind: ClassVar[str] = "points"

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """Names, each with what is said of it."""

    kind: ClassVar[str] = "terms"

    entries: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Code:
    """A text whose line ends and blanks count."""

    kind: ClassVar[str] = "code"

    text: str


@dataclass(frozen=True)
class Links:
    """Files beside the page: text and relative address."""

    kind: ClassVar[str] = "links"

    introduction: str
    entries: tuple[tuple[str, str], ...]


Block = Table | Gallery | Picture | Prose | Points | Terms | Code | Links


@dataclass(frozen=True)
class Fold:
    """Blocks that a click shows."""

    kind: ClassVar[str] = "fold"

    summary: str
    blocks: tuple[Block, ...]
    open: bool = False


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block | Fold, ...]


@dataclass(frozen=True)
class Page:
    """A whole page. The claim stands first, and its assumptions with it."""

    title: str
    subject: str  # what kind of page it is, in a line
    headline: Headline
    sections: tuple[Section, ...]
