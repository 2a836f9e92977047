"""Pictures of a page that are drawn into it alone, without files of their own."""

import io
from typing import TYPE_CHECKING

from simulator.report.page.content import Picture
from simulator.report.page.render import data_uri
from simulator.report.plots.bars import BarChart, bar_chart_picture, bar_figure
from simulator.report.plots.plot import View
from simulator.report.plots.style import house_style, save_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bar_picture(name: str, question: str, chart: BarChart, finding: str, reading: str) -> Picture:
    """A bar chart, still and interactive."""
    with house_style():
        source = svg_uri(bar_chart_picture(chart, question))
    return Picture(name, source, question, finding, reading, (View("all", bar_figure(chart)),))


def svg_uri(figure: "Figure") -> str:
    """A figure as an address that holds it; call it in the house style."""
    file = io.BytesIO()
    save_svg(figure, file)
    return data_uri(file.getvalue())
