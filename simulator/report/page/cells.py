"""Tables of a run's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.report.columns import COLUMNS, Column, Row, Units
from simulator.report.folder import Results
from simulator.report.page.content import Cell, Heading, Table
from simulator.report.scales import MISSING, Scale, byte_scale, share_text, time_scale

SORTING = "The shaded row is the baseline. A heading sorts; n/a means that there is nothing to compare."
PHASE_BYTES = {"bytes": "sent", "inter_island_bytes": "on NICs", "intra_island_bytes": "on NVLink"}
PHASE_TIMES = {
    "mean_wait_s": "wait, mean",
    "max_wait_s": "wait, longest",
    "transfer_s": "transfer",
    "bound_s": "bound",
}


def comparison(results: Results) -> Table:
    """The whole of `summary.json`, one row a policy."""
    rows = results.summary["policies"]
    units = Units(rows)
    return Table(
        caption="Policies compared: means an iteration, ± the half width of the 95 % confidence interval",
        headings=tuple(figure_heading(column, units) for column in COLUMNS),
        rows=tuple(tuple(figure_cell(column, units, row) for column in COLUMNS) for row in rows),
        marked=results.policies.index(results.baseline),
        note=SORTING,
    )


def figure_heading(column: Column, units: Units) -> Heading:
    """The heading of a figure of `summary.json`, with its unit."""
    return Heading(column.title, units.unit(column), column.meaning, numeric=column.kind != "text")


def figure_cell(column: Column, units: Units, row: Row) -> Cell:
    """A figure, with its interval where a time has one."""
    text, spread = units.text(column, row), row.get("spread", {}).get(column.key, {})
    if column.kind == "time" and spread.get("half_width") is not None:
        text = f"{text} ± {units.number(column, spread['half_width'])}"
    return Cell(text, row[column.key])


def phases(results: Results, policy: str) -> Table:
    """The collectives of one policy in the order of the program, means over the iterations."""
    frame = results.phases[results.phases["policy"] == policy]
    numbers = [*PHASE_BYTES, *PHASE_TIMES]
    means = frame.groupby("phase", sort=False)[numbers].mean()
    bottlenecks = frame.groupby("phase", sort=False)["bottleneck"].first()
    scales = _phase_scales({name: means[name].tolist() for name in numbers})
    rows = []
    for phase, values, bottleneck in zip(means.index, means.to_numpy().tolist(), bottlenecks, strict=True):
        cells = [Cell(scales[name].text(value), value) for name, value in zip(numbers, values, strict=True)]
        rows.append((Cell(str(phase), str(phase)), *cells, Cell(str(bottleneck), str(bottleneck))))
    names = {**PHASE_BYTES, **PHASE_TIMES}
    headings = tuple(Heading(names[name], scales[name].unit) for name in numbers)
    return Table(
        caption=policy,
        headings=(Heading("phase", numeric=False), *headings, Heading("bottleneck", numeric=False)),
        rows=tuple(rows),
    )


def _phase_scales(columns: Mapping[str, Sequence[float]]) -> dict[str, Scale]:
    """One unit for all bytes and one for all times of a table."""
    size = byte_scale(value for name in PHASE_BYTES for value in columns[name])
    time = time_scale(value for name in PHASE_TIMES for value in columns[name])
    return dict.fromkeys(PHASE_BYTES, size) | dict.fromkeys(PHASE_TIMES, time)


def tiers(results: Results) -> Table:
    """Where each policy cuts each table."""
    rows = []
    for policy, table, tier, start, stop, share in results.tiers.itertuples(index=False):
        count = int(stop) - int(start)
        numbers = [Cell(f"{value:,}", value) for value in (int(start), int(stop), count)]
        rows.append((*(Cell(text, text) for text in (policy, table, tier)), *numbers, _share_cell(share)))
    texts = tuple(Heading(text, numeric=False) for text in ("policy", "table", "tier"))
    counts = tuple(Heading(text) for text in ("first row", "up to row", "rows"))
    return Table(
        caption="Where each policy cuts each table; rows in order of planned frequency, from 0",
        headings=(*texts, *counts, Heading("planned share of lookups")),
        rows=tuple(rows),
    )


def _share_cell(share: Any) -> Cell:
    value = None if share is None else float(share)
    return Cell(MISSING if value is None else share_text(value), value)
