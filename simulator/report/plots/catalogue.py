"""All plots, in the order in which the report shows them."""

from simulator.report.folder import Results
from simulator.report.plots import latency, links, made_of, matrix, memory, popularity, timeline, traffic
from simulator.report.plots.plot import Plot

OVERVIEW = (traffic.PLOT, latency.PLOT, memory.PLOT, popularity.PLOT, matrix.PLOT, links.PLOT)
PLOTS = (*OVERVIEW, timeline.PLOT, made_of.PLOT)


def plots_of(results: Results) -> tuple[Plot, ...]:
    """Those that can be drawn from a folder."""
    return tuple(plot for plot in PLOTS if results.has_first_iteration or not plot.needs_first_iteration)
