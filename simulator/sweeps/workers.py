"""Who computes a sweep's points: this process, processes of this machine, or (in `cluster.py`) a Dask cluster.

A worker process that dies (killed, out of memory) breaks its pool and takes the tasks in flight with it. Their
points are suspects: each runs again alone, so that the one at fault is known when it kills a worker once more. That
one has an error as its result; all others go on.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Protocol

from simulator import interrupt
from simulator.sweeps.bench import Bench, Result, compute
from simulator.sweeps.point import Point

Task = Sequence[Point]
Compute = Callable[[Task], list[Result]]

IN_FLIGHT_A_WORKER = 2
DIED = "its worker died, also when it ran alone: killed, or out of memory"


class Workers(Protocol):
    """Runs tasks in any order; in the end every point of every task has one result."""

    @property
    def count(self) -> int:
        """How many tasks run at a time."""

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Result]]:
        """Results as they come."""


class ThisProcess:
    """One point after another, here."""

    count = 1

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Result]]:
        bench = Bench()
        for task in tasks:
            for point in task:
                yield [bench.result(point)]


class LocalProcesses:
    """`count` processes, started afresh (spawn): nothing of this one is in them. `compute` must be importable."""

    def __init__(self, count: int, compute: Compute = compute) -> None:
        self.count = count
        self._compute = compute

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Result]]:
        waiting, suspects = deque(tasks), deque[Point]()
        while waiting:
            yield from self._together(waiting, suspects)
            yield from self._alone(suspects)

    def _together(self, waiting: deque[Task], suspects: deque[Point]) -> Iterator[list[Result]]:
        """Until nothing waits, or a worker dies: then what was in flight is suspect."""
        in_flight: dict[Future[list[Result]], Task] = {}
        with pool_of(self.count) as pool:
            try:
                while waiting or in_flight:
                    while waiting and len(in_flight) < IN_FLIGHT_A_WORKER * self.count:
                        in_flight[pool.submit(self._compute, waiting[0])] = waiting[0]
                        waiting.popleft()
                    for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                        results = future.result()
                        del in_flight[future]
                        yield results
            except BrokenProcessPool:
                suspects.extend(point for task in in_flight.values() for point in task)

    def _alone(self, suspects: deque[Point]) -> Iterator[list[Result]]:
        """One suspect at a time."""
        while suspects:
            with pool_of(1) as pool:
                try:
                    while suspects:
                        results = pool.submit(self._compute, [suspects[0]]).result()
                        suspects.popleft()
                        yield results
                except BrokenProcessPool:
                    yield [Result(suspects.popleft().key, {}, DIED)]


class _Worker(SpawnProcess):
    """A process that Ctrl-C never reaches, not even while it starts: its parent ends it."""

    def start(self) -> None:
        """Start with Ctrl-C blocked, which processes inherit."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Workers(SpawnContext):
    Process = _Worker


@contextmanager
def pool_of(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that, when it is left early, drops what has not begun and ends what has."""
    with interrupt.raised():
        pool = ProcessPoolExecutor(count, mp_context=_Workers(), initializer=follow_parent)
        try:
            yield pool
            pool.shutdown()
        except BaseException:
            for worker in active_children():
                if isinstance(worker, _Worker):
                    worker.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def follow_parent() -> None:
    """A worker leaves when its parent is gone."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=leave_after, args=[parent], daemon=True).start()


def leave_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
