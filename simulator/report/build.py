"""Draws the report of a results folder. It reads the folder's files alone, so it can be drawn again at any time."""

from pathlib import Path

from simulator.errors import UserError
from simulator.report.folder import read_results

PLOTS = "plots"
PAGE = "report.html"


def build_report(folder: Path) -> None:
    """Write `plots/*.png`, `plots/*.svg` and `report.html` into a results folder.

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
        write_page(run_page(results, folder / PLOTS), folder / PAGE)
    except OSError as error:
        raise UserError(f"{folder}: the report cannot be written: {error.strerror}") from error
