"""Locality histograms: how often rows are hit in one batch, as published with the DLRM data sets.

A file holds one or more sections, each of one batch over all its tables:

    fbgemm_t856_bs65536_0.pt                            t<number of tables>_bs<samples>
    Locality stats after processing 1 batches of size 65536
    Avg # of indices: 887017990
    Avg # of unique cols: 128435723
    Avg col size: 6.9
    Histogram of col sizes:                             share of the rows that are hit 1, 2, 3 to 4, ... times
    (0, 1]: 0.473
    ...
    (32768+: 0.000
    Ratio of index distribution at different column sizes:        share of the lookups that such rows hold
    (0, 1]: 0.068
    ...

Shares are rounded to three digits. Sections of a file are averaged, weighted by what they count.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.errors import UserError
from simulator.sums import added
from simulator.workload.traces.files import read_small_text

_TABLES = re.compile(r"\w+_t([1-9]\d{0,9})_bs\d+")
_BATCH = re.compile(r"Locality stats after processing \d+ batches of size (\d{1,15})\b")
_LOOKUPS = re.compile(r"Avg # of indices: (\d{1,18})\b")
_ROWS = re.compile(r"Avg # of unique cols: (\d{1,18})\b")
_ROW_SHARES = "Histogram of col sizes:"
_LOOKUP_SHARES = "Ratio of index distribution at different column sizes:"
_CLASS = re.compile(r"\((\d{1,15})(?:, \d+\]|\+): ([01]\.\d{1,15})")


@dataclass(frozen=True, eq=False)
class Locality:
    """Classes of rows by hits, ascending: rows of class k are hit more often than `lowest[k]` times.

    A class ends where the next begins; the last has no end.
    """

    tables: float  # that the counts are sums over
    samples: float
    lookups: float
    rows: float  # that are hit at all
    lowest: IntArray  # [classes]
    row_shares: FloatArray  # [classes]
    lookup_shares: FloatArray  # [classes]


@dataclass
class _Section:
    line: int
    tables: int
    samples: int
    lookups: int = 0
    rows: int = 0
    row_shares: dict[int, float] = field(default_factory=dict)
    lookup_shares: dict[int, float] = field(default_factory=dict)

    def classes(self) -> list[int]:
        """The classes' lower bounds, none where the section is incomplete."""
        counted = self.samples and self.lookups and self.rows
        hit = any(self.row_shares.get(low, 0) * share > 0 for low, share in self.lookup_shares.items())
        complete = counted and hit and set(self.row_shares) == set(self.lookup_shares)
        return sorted(self.row_shares) if complete else []


def read_locality(path: Path) -> Locality:
    """The mean of a file's sections; UserError with the line of a section that is not in the format."""
    sections = _sections(path)
    lowest = sections[0].classes()
    for section in sections:
        if not lowest or section.classes() != lowest:
            text = "the section lacks a count or a histogram, or its classes differ from the first's"
            raise UserError(f"{path}:{section.line}: {text}")

    def pooled(
        weight: Callable[[_Section], float], shares: Callable[[_Section], dict[int, float]]
    ) -> FloatArray:
        total = np.array([sum(weight(part) * shares(part)[low] for part in sections) for low in lowest])
        return np.asarray(total / total.sum())

    return Locality(
        tables=added(section.tables for section in sections) / len(sections),
        samples=added(section.samples for section in sections) / len(sections),
        lookups=added(section.lookups for section in sections) / len(sections),
        rows=added(section.rows for section in sections) / len(sections),
        lowest=np.array(lowest, np.int64),
        row_shares=pooled(lambda part: part.rows, lambda part: part.row_shares),
        lookup_shares=pooled(lambda part: part.lookups, lambda part: part.lookup_shares),
    )


def _sections(path: Path) -> list[_Section]:
    sections: list[_Section] = []
    shares: dict[int, float] = {}
    tables = 1
    for number, line in enumerate(read_small_text(path).splitlines(), start=1):
        if found := _TABLES.match(line):
            tables = int(found[1])
        elif found := _BATCH.match(line):
            sections.append(_Section(number, tables, int(found[1])))
            tables = 1
        elif not sections:
            continue
        elif found := _LOOKUPS.match(line):
            sections[-1].lookups = int(found[1])
        elif found := _ROWS.match(line):
            sections[-1].rows = int(found[1])
        elif line.startswith((_ROW_SHARES, _LOOKUP_SHARES)):
            shares = sections[-1].row_shares if line.startswith(_ROW_SHARES) else sections[-1].lookup_shares
        elif found := _CLASS.match(line):
            shares[int(found[1])] = float(found[2])
    if not sections:
        raise UserError(
            f"{path}: no line says 'Locality stats after processing', so it is no locality histogram"
        )
    return sections
