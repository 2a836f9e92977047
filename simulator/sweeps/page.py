"""The page of a sweep: what was varied, a figure over each varied key, all points, and those that failed."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulator.errors import UserError
from simulator.report.headline import Headline
from simulator.report.page.content import (
    Block,
    Cell,
    Fold,
    Gallery,
    Heading,
    Page,
    Picture,
    Section,
    Table,
    Terms,
)
from simulator.report.page.pictures import svg_uri
from simulator.report.page.run import configuration_folds, provenance_terms
from simulator.report.plots.style import house_style, policy_colours
from simulator.report.scales import time_text
from simulator.sweeps.csv_file import read_rows
from simulator.sweeps.names import short_names
from simulator.sweeps.page_table import points_table
from simulator.sweeps.plot import MOST_DOTS, figure_name, most_varied, sweep_picture, varied_keys
from simulator.sweeps.plot_views import key_views
from simulator.sweeps.rows import ERROR, INPUTS, Row, number
from simulator.sweeps.shared import shared_note
from simulator.sweeps.text import at_text, best_rows

SUBJECT = "points of a sweep compared"
METRIC = "communication_s"
MOST_PICTURES = 6
MOST_ROWS = 1_000  # of a table, which a browser still sorts and searches at once
ENGINES = {
    "bound": "bound: the port bound of each collective, no contention in time",
    "fluid": "fluid: max-min fair flows",
}
READING = (
    "A dot is a point, the line goes through the medians of a policy's points in settings "
    "that all values share; where more than one key is varied, "
    "points above each other differ in the others. A dashed line is a second engine's."
)


def sweep_page(path: Path, *, x: str | None = None, y: str = METRIC) -> Page:
    """The page of a sweep's CSV, `x` the key whose picture comes first. Raises UserError."""
    _, rows = read_rows(path)
    if not rows:
        raise UserError(f"{path}: has no points yet")
    answered = [row for row in rows if not row.get(ERROR)]
    failed = [row for row in rows if row.get(ERROR)]
    manifest = read_manifest(path)
    drawn = pictures(answered, x, y) if x or varied_keys(answered) else ()
    sections = (
        varied_section(rows),
        Section("Pictures", (Gallery(drawn),) if drawn else ()),
        Section("Points", points_blocks(answered, y, path.name)),
        Section("Failed points", failed_blocks(failed, path.name)),
        Section("Details", detail_folds(manifest)),
    )
    return Page(
        title=str(manifest.get("name", path.stem)),
        subject=SUBJECT,
        headline=Headline(sentence(rows, answered), assumptions(rows)),
        sections=tuple(section for section in sections if section.blocks),
    )


def read_manifest(path: Path) -> dict[str, Any]:
    """What stands beside a sweep's CSV; empty where a CSV lies alone, or beside another sweep's."""
    beside = path.with_name("manifest.json")
    if path.name != "sweep.csv" or not beside.exists():
        return {}
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{beside}: cannot be read: {error}") from error
    return found if isinstance(found, dict) and "sweep" in found else {}


def sentence(rows: Sequence[Row], answered: Sequence[Row]) -> str:
    """Which point communicates quickest, of how many."""
    counted = f"{len(rows):,} points, {len(rows) - len(answered):,} failed"
    if not answered:
        return f"{counted}: there is nothing to compare."
    fluid = [row for row in answered if row["engine"] == "fluid"]
    best = min(best_rows(fluid or answered).values(), key=lambda row: number(row, METRIC) or 0.0)
    names = short_names(varied_keys(answered))
    least = time_text(number(best, METRIC))
    return (
        f"{best['policy']} communicates quickest: {least} an iteration with the {best['engine']} engine, at "
        f"{at_text(best, names)} ({counted})."
    )


def assumptions(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the points were computed from and how."""
    found = {key: ", ".join(dict.fromkeys(row[key] for row in rows if row.get(key))) for key in INPUTS}
    engines = dict.fromkeys(row["engine"] for row in rows if row.get("engine"))
    return (
        f"Clusters: {found['topology']} ({found['world_size']} GPUs), with the varied keys changed.",
        f"Workloads: {found['workload']}; synthetic or empirical skew, not the paper's tables, which are not public.",
        f"Network: {'; '.join(ENGINES.get(engine, engine) for engine in engines)}.",
        f"Iterations of a point, over which its figures are means: {found['iterations']}; seed {found['seed']}.",
        "Memory counts embedding weights and optimizer state, if any; FlexShard's tiers and planner are ours.",
    )


def varied_section(rows: Sequence[Row]) -> Section:
    """Every varied key with its values; of many, the ends."""
    entries = []
    for key in varied_keys(rows):
        values = list(dict.fromkeys(row[key] for row in rows if key in row))
        listed = ", ".join(values) if len(values) <= 12 else f"{', '.join(values[:5])}, ... {values[-1]}"
        entries.append((key, (f"{listed} ({len(values):,} values)",)))
    return Section("What was varied", (Terms(tuple(entries)),) if entries else ())


def pictures(rows: Sequence[Row], x: str | None, y: str) -> tuple[Picture, ...]:
    """A picture for each varied key: that asked for first, else that with most numbers."""
    keys = varied_keys(rows)
    first = x or most_varied(rows, keys)
    ordered = [first, *(key for key in keys if key != first)][:MOST_PICTURES]
    names = short_names(keys)
    colours = policy_colours(row["policy"] for row in rows)
    made = []
    for place, key in enumerate(ordered):
        own = [row for row in rows if key in row]
        with house_style():
            source = svg_uri(sweep_picture(rows, key, y))
        question = f"How does each policy follow {names.get(key, key)}?"
        cut = f", {MOST_DOTS:,} of them dots" if len(own) > MOST_DOTS else ""
        finding = (
            f"Over {names.get(key, key)}: {len(own):,} points{cut}. {shared_note(own, key, keys)}".rstrip()
        )
        views = key_views(own, key, y, colours)
        made.append(Picture(f"over_{place}", source, question, finding, READING, views, "figure"))
    return tuple(made)


def points_blocks(rows: Sequence[Row], y: str, name: str) -> tuple[Block, ...]:
    """Each policy's best, then all points; of too many the quickest."""
    if not rows:
        return ()
    best = points_table("Each policy's quickest point, by engine", list(best_rows(rows).values()))
    shown, note = rows, ""
    if len(rows) > MOST_ROWS:
        figure = figure_name(y)
        shown = sorted(rows, key=lambda row: number(row, y) or 0.0)[:MOST_ROWS]
        note = f"The {MOST_ROWS:,} points of {len(rows):,} with least {figure} are shown; {name} has all."
    return (best, points_table("All points", shown, note=note))


def failed_blocks(failed: Sequence[Row], name: str) -> tuple[Block, ...]:
    """The kinds of errors, then the points."""
    if not failed:
        return ()
    counts = Counter(row[ERROR] for row in failed)
    kinds = Table(
        caption="Errors, and how many points have them",
        headings=(Heading("error", numeric=False), Heading("points")),
        rows=tuple(
            (Cell(text, text), Cell(f"{count:,}", count)) for text, count in counts.most_common(MOST_ROWS)
        ),
    )
    note = (
        f"The first {MOST_ROWS:,} of {len(failed):,} are shown; {name} has all."
        if len(failed) > MOST_ROWS
        else ""
    )
    points = points_table("Points without an answer", failed[:MOST_ROWS], failed=True, note=note)
    return (kinds, points)


def detail_folds(manifest: dict[str, Any]) -> tuple[Fold, ...]:
    """The sweep, its base and what made it; nothing without a manifest."""
    parts: dict[str, Any] = {
        part: manifest[part] for part in ("sweep", "topology", "workload") if part in manifest
    }
    provenance = (Fold("Provenance", (provenance_terms(manifest),)),) if manifest else ()
    return (*configuration_folds(parts), *provenance)
