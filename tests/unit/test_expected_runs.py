"""`run_of`: blocks of a run are worked out once a popularity, and kept no longer than it."""

import gc
import weakref

import numpy as np

from simulator.sharding.expected import RUNS_KEPT, run_of
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import TableStatistics


def table(name: str, popularity: ZipfMandelbrot) -> TableStatistics:
    return TableStatistics(name, popularity.rows, 4, 2, popularity.rows, popularity, 10.0)


def test_tables_of_equal_popularity_share_a_run() -> None:
    one, other = (table(name, ZipfMandelbrot(5_000, 1.01)) for name in "ab")
    assert run_of(one, 0, 700) is run_of(other, 0, 700)
    assert run_of(one, 0, 700) is not run_of(one, 0, 701)


def test_a_run_that_was_forgotten_is_what_it_was() -> None:
    of = table("a", ZipfMandelbrot(5_000, 1.02))
    first = run_of(of, 0, 600)
    for stop in range(1, RUNS_KEPT + 1):
        run_of(of, 0, stop)
    again = run_of(of, 0, 600)
    assert again is not first
    assert np.array_equal(again.shares, first.shares)


def test_no_popularity_outlives_its_workload() -> None:
    """A popularity has a megabyte of its own, and a sweep of skews has one a point."""
    of = table("a", ZipfMandelbrot(5_000, 1.03))
    run_of(of, 0, 600)
    gone = weakref.ref(of.popularity)
    del of
    gc.collect()
    assert gone() is None
