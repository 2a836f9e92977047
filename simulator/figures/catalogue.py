"""All figures, in the order of the page that walks through them."""

from simulator.figures.paper import traffic

FIGURES = (traffic.FIGURE,)
