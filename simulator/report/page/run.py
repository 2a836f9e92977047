"""The page of a run."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simulator.report.folder import Results, trace_name
from simulator.report.headline import headline
from simulator.report.page import cells
from simulator.report.page.content import Code, Fold, Gallery, Links, Page, Picture, Points, Section, Terms
from simulator.report.page.explanation import explanation_folds
from simulator.report.page.render import data_uri
from simulator.report.plots import made_of, timeline
from simulator.report.plots.catalogue import OVERVIEW
from simulator.report.plots.plot import Plot
from simulator.report.remarks import short_of_precision

SUBJECT = "sharding policies compared"
TRACES = "Up to 64 ranks with every byte count, for ui.perfetto.dev:"


def run_page(results: Results, plots: Path, place: Path) -> Page:
    """The page of `results` that will lie in the folder `place`, with the SVG files in the folder `plots`."""
    sections = (
        comparison_section(results),
        Section("Pictures", (Gallery(tuple(picture(plot, results, plots) for plot in OVERVIEW)),)),
        *(first_iteration_sections(results, plots, place) if results.has_first_iteration else ()),
        notes_section(results),
        details_section(results),
    )
    return Page(
        title=results.manifest["name"],
        subject=SUBJECT,
        headline=headline(results.summary, results.manifest["assumptions"]),
        sections=tuple(section for section in sections if section.blocks),
    )


def comparison_section(results: Results) -> Section:
    """All figures of all policies, and which of them are known less well than was asked."""
    table = cells.comparison(results)
    short = tuple(short_of_precision(results.summary))
    meanings = Terms(tuple((heading.text, (heading.meaning,)) for heading in table.headings))
    warnings = (Points(short),) if short else ()
    return Section("Comparison", (table, *warnings, Fold("What the columns mean", (meanings,))))


def notes_section(results: Results) -> Section:
    """What the planners say; no block when they say nothing."""
    said = tuple((policy, tuple(notes)) for policy, notes in results.manifest["notes"].items() if notes)
    return Section("What the planners say", (Terms(said),) if said else ())


def first_iteration_sections(results: Results, plots: Path, place: Path) -> tuple[Section, ...]:
    """Its timeline, and where its time goes."""
    traces = tuple(
        (policy, quote(relative(results.folder / trace_name(policy), place))) for policy in results.policies
    )
    return (
        Section(
            "Timeline of the first iteration", (picture(timeline.PLOT, results, plots), Links(TRACES, traces))
        ),
        Section("Why it takes so long", (picture(made_of.PLOT, results, plots), *explanation_folds(results))),
    )


def relative(path: Path, place: Path) -> str:
    """The way to a file from a folder, as an address has it."""
    return Path(os.path.relpath(path.resolve(), place.resolve())).as_posix()


def picture(plot: Plot, results: Results, plots: Path) -> Picture:
    """One plot with its file's content inside."""
    views = plot.views(results)
    labels = [view.label for view in views]
    return Picture(
        name=plot.name,
        source=data_uri((plots / f"{plot.name}.svg").read_bytes()),
        question=plot.question,
        finding=plot.finding(results),
        reading=plot.reading,
        views=views,
        choice=plot.choice,
        begin=labels.index(plot.subject(results)) if plot.subject and views else 0,
    )


def details_section(results: Results) -> Section:
    """Tables that few need, the configuration and where all of it comes from."""
    phases = tuple(cells.phases(results, policy) for policy in results.policies)
    return Section(
        "Details",
        (
            Fold("Collectives of an iteration, by policy", phases),
            Fold("Tiers of each table, by policy", (cells.tiers(results),)),
            *configuration_folds(results.configuration),
            Fold("Provenance", (provenance_terms(results.manifest),)),
        ),
    )


def configuration_folds(configuration: Mapping[str, Any]) -> tuple[Fold, ...]:
    """Each part of a configuration as YAML."""
    import yaml

    def text(content: Any) -> str:
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)

    return tuple(Fold(f"Effective {part}", (Code(text(content)),)) for part, content in configuration.items())


def provenance_terms(manifest: Mapping[str, Any]) -> Terms:
    """What made some results, flattened to names and texts."""
    lines: list[tuple[str, tuple[str, ...]]] = []
    for part in ("provenance", "versions", "inputs"):
        prefix = "" if part == "provenance" else f"{part}: "
        lines += ((name, (text,)) for name, text in flattened(manifest.get(part, {}), prefix))
    return Terms(tuple(lines))


def flattened(content: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Nested mappings as lines."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}: ")
        else:
            yield f"{prefix}{key}", str(value)
