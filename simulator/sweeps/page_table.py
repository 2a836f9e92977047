"""Points of a sweep as a table of a page: what was varied, what told apart, and every figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.report.columns import COLUMNS, Units
from simulator.report.page.cells import figure_cell, figure_heading
from simulator.report.page.content import Cell, Heading, Table
from simulator.sweeps.names import as_numbers, short_names
from simulator.sweeps.plot import varied_keys
from simulator.sweeps.rows import ERROR, FIGURES, INPUTS, Row, number

SHOWN = tuple(column for column in COLUMNS if column.key in FIGURES)


def points_table(caption: str, rows: Sequence[Row], *, failed: bool = False, note: str = "") -> Table:
    """A row a point. Inputs that all points share are left out, figures too where there are none (`failed`)."""
    keys = varied_keys(rows)
    told = {"policy", *keys}
    inputs = ["policy", *(key for key in INPUTS if key not in told and distinct(rows, key) > 1)]
    places = {key: places_of(rows, key) for key in keys}
    figures = [figure_row(row) for row in rows]
    units = Units(figures)

    def cells(row: Row, values: Mapping[str, Any]) -> tuple[Cell, ...]:
        ends = (
            [Cell(row[ERROR], row[ERROR])] if failed else [figure_cell(each, units, values) for each in SHOWN]
        )
        return (
            *(Cell(row.get(key, ""), row.get(key)) for key in inputs),
            *(Cell(row.get(key, ""), places[key].get(row.get(key, ""))) for key in keys),
            *ends,
        )

    ends = [Heading("error", numeric=False)] if failed else [figure_heading(each, units) for each in SHOWN]
    return Table(
        caption=caption,
        headings=(*input_headings(inputs), *key_headings(places), *ends),
        rows=tuple(cells(row, values) for row, values in zip(rows, figures, strict=True)),
        note=note,
    )


def input_headings(inputs: Sequence[str]) -> list[Heading]:
    """Of what points were computed from."""
    return [
        Heading(key.replace("_", " "), numeric=key in ("world_size", "iterations", "seed")) for key in inputs
    ]


def key_headings(places: Mapping[str, Mapping[str, float | str]]) -> list[Heading]:
    """Of varied keys, by their short names; one whose values are numbers sorts by them."""
    names = short_names(list(places))
    return [
        Heading(names[key], meaning=key, numeric=all(isinstance(place, float) for place in own.values()))
        for key, own in places.items()
    ]


def distinct(rows: Sequence[Row], key: str) -> int:
    return len({row.get(key) for row in rows})


def places_of(rows: Sequence[Row], key: str) -> dict[str, float | str]:
    """What each value of a key sorts by: its number, or its text."""
    texts = list(dict.fromkeys(row[key] for row in rows if key in row))
    numbers = as_numbers(texts)
    return dict(zip(texts, texts if numbers is None else numbers[0], strict=True))


def figure_row(row: Row) -> dict[str, Any]:
    """A row's figures as numbers."""
    texts = {column.key: row.get(column.key) for column in SHOWN if column.kind == "text"}
    return {column.key: number(row, column.key) for column in COLUMNS if column.kind != "text"} | texts
