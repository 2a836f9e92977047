"""Benchmarks: each module prints tables, and writes those that the docs show to docs/data/."""
