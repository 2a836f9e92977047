"""All plots, in the order in which the report shows them."""

from simulator.report.plots import latency, links, matrix, memory, popularity, traffic

PLOTS = (traffic.PLOT, latency.PLOT, memory.PLOT, popularity.PLOT, matrix.PLOT, links.PLOT)
