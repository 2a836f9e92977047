"""Writes a benchmark's rows as a CSV, and prints them in Markdown."""

import csv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"

Row = dict[str, str | int | float]


def write(rows: Iterable[Row], name: str) -> None:
    """To docs/data/`name`.csv and to the terminal."""
    table = list(rows)
    path = DATA / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    print(f"\n{path.relative_to(ROOT)}")
    print(markdown(list(table[0])))
    print(markdown(["---"] * len(table[0])))
    for row in table:
        print(markdown(row.values()))


def markdown(cells: Iterable[object]) -> str:
    """One line of a table."""
    return f"| {' | '.join(map(str, cells))} |"
