"""All figures, in the order of the page that walks through them."""

from simulator.figures.paper import latency, length, traffic

FIGURES = (length.FIGURE, traffic.FIGURE, latency.FIGURE)
