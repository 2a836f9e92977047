"""All figures, in the order of the page that walks through them."""

from simulator.figures.paper import (
    balance,
    clusters,
    drift,
    latency,
    length,
    memory,
    opponents,
    rows,
    scale,
    topology,
    traffic,
    where,
)

FIGURES = (
    length.FIGURE,
    rows.FIGURE,
    clusters.FIGURE,
    traffic.FIGURE,
    latency.FIGURE,
    memory.FIGURE,
    where.FIGURE,
    opponents.FIGURE,
    scale.FIGURE,
    topology.FIGURE,
    drift.FIGURE,
    balance.FIGURE,
)
