"""Chooses who computes."""

import os

from simulator.errors import UserError
from simulator.sweeps.cluster import DaskCluster
from simulator.sweeps.workers import LocalProcesses, ThisProcess, Workers


def workers_for(count: int | None, dask: str | None) -> Workers:
    """A Dask cluster, or `count` processes (None: one a core), or this process if that is one. Raises UserError."""
    if dask is not None:
        if count is not None:
            raise UserError("give a number of workers or a Dask cluster, not both")
        return DaskCluster(dask)
    processes = count or cores()
    return ThisProcess() if processes == 1 else LocalProcesses(processes)


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
