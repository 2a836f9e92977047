"""Experiment files, runs and their results folders."""
