"""`report.html`: one file that holds all it shows, so that it can be sent and read anywhere, offline.

Everything a user may have named passes through the template's escaping. Pictures are data URIs of the SVG files,
which keeps their parts apart from each other and from the page.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.report import cells
from simulator.report.folder import Results
from simulator.report.headline import INTRODUCTION, headline
from simulator.report.plots.catalogue import PLOTS
from simulator.report.plots.plot import Plot

PARTS = Path(__file__).parent


@dataclass(frozen=True)
class Picture:
    """A plot as the page shows it; `source` is a data URI."""

    name: str
    source: str
    question: str
    finding: str
    reading: str


def page(results: Results, plots: Path) -> str:
    """The page of `results`, with the SVG files that lie in the folder `plots`."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PARTS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html").render(
        name=results.manifest["name"],
        headline=headline(results.summary, results.manifest["assumptions"]),
        introduction=INTRODUCTION,
        comparison=cells.comparison(results),
        pictures=[picture(plot, results, plots) for plot in PLOTS],
        notes={policy: notes for policy, notes in results.manifest["notes"].items() if notes},
        phases=[cells.phases(results, policy) for policy in results.policies],
        tiers=cells.tiers(results),
        configuration=configuration_texts(results),
        provenance=list(provenance(results)),
        style=Markup((PARTS / "page.css").read_text(encoding="utf-8")),
        script=Markup((PARTS / "page.js").read_text(encoding="utf-8")),
    )


def picture(plot: Plot, results: Results, plots: Path) -> Picture:
    """One plot with its file's content inside."""
    content = base64.b64encode((plots / f"{plot.name}.svg").read_bytes()).decode("ascii")
    source = f"data:image/svg+xml;base64,{content}"
    return Picture(plot.name, source, plot.question, plot.finding(results), plot.reading)


def configuration_texts(results: Results) -> dict[str, str]:
    """Topology, workload and experiment as YAML."""
    import yaml

    return {
        part: yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        for part, content in results.configuration.items()
    }


def provenance(results: Results) -> Iterator[tuple[str, str]]:
    """What made the results, flattened to names and texts."""
    for part in ("provenance", "versions", "inputs"):
        content = results.manifest.get(part, {})
        yield from flattened(content, "" if part == "provenance" else f"{part}: ")


def flattened(content: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Nested mappings as lines."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}: ")
        else:
            yield f"{prefix}{key}", str(value)
