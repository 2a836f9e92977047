"""All figures, in the order of the page that walks through them."""

from simulator.figures.paper import latency, length, rows, traffic

FIGURES = (length.FIGURE, rows.FIGURE, traffic.FIGURE, latency.FIGURE)
