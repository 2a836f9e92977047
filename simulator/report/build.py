"""Draws the pages of results folders. They are read from files alone, so they can be drawn again at any time."""

from pathlib import Path

from simulator.errors import UserError
from simulator.report.folder import file_stem, read_results

PLOTS = "plots"
PAGE = "report.html"


def build_report(folder: Path, page: Path | None = None) -> Path:
    """Write `plots/*.png`, `plots/*.svg`, `report.html` and plotly.js into a results folder. The page's path.

    `page` is where the page goes instead; its links to timelines lead into the folder from there.
    The same files give the same bytes. Raises UserError when one is missing or the folder cannot be written.
    """
    from simulator.report.page.render import write_page
    from simulator.report.page.run import run_page
    from simulator.report.plots.catalogue import plots_of
    from simulator.report.plots.style import house_style, save

    results = read_results(folder)
    try:
        (folder / PLOTS).mkdir(exist_ok=True)
        with house_style():
            for plot in plots_of(results):
                save(plot.draw(results), folder / PLOTS / plot.name)
        path = page or folder / PAGE
        write_page(run_page(results, folder / PLOTS, path.parent), path)
    except OSError as error:
        raise UserError(f"{folder}: the report cannot be written: {error.strerror}") from error
    return path


def build_comparison(one: Path, other: Path, page: Path | None = None) -> Path:
    """Write the page that compares the runs in two folders, and plotly.js beside it. The page's path.

    By default it goes into the second folder, named after the first. Raises UserError when a file is missing or the
    page cannot be written.
    """
    from simulator.report.page.comparison import comparison_page
    from simulator.report.page.render import write_page

    made = comparison_page(read_results(one), read_results(other))
    path = page or other / f"against_{file_stem(one.resolve().name)}.html"
    write_page(made, path)
    return path
