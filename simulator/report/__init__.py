"""Plots, timelines and the HTML report."""
