"""Chooses who computes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from simulator.errors import UserError
from simulator.sweeps.cluster import DaskCluster, connected
from simulator.sweeps.workers import LocalProcesses, ThisProcess, Workers


@contextmanager
def workers_for(count: int | None, dask: str | None) -> Iterator[Workers]:
    """A Dask cluster, or `count` processes (None: one a core), or this process if that is one. Raises UserError."""
    if dask is None:
        processes = count or cores()
        yield ThisProcess() if processes == 1 else LocalProcesses(processes)
        return
    if count is not None:
        raise UserError("give a number of workers or a Dask cluster, not both")
    with connected(dask) as client:
        yield DaskCluster(client)


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
