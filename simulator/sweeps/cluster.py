"""Runs tasks on a Dask cluster. Its workers need this package and, for workloads with traces, the traces' files.

Dask runs a task again on another worker when its worker dies, up to its `distributed.scheduler.allowed-failures`
(3). A task that fails more often is cut into its points, and a point that does has an error as its result.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulator.errors import UserError
from simulator.sweeps.bench import Result, compute
from simulator.sweeps.point import one_line
from simulator.sweeps.workers import IN_FLIGHT_A_WORKER, Task

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT_S = 20


class DaskCluster:
    """The workers of a client's cluster, as many as they are at any time."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    @property
    def count(self) -> int:
        return max(1, sum(map(int, self._client.nthreads().values())))

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Result]]:
        """Results in the order in which they come; a task whose worker died is handed out again."""
        from distributed import as_completed

        waiting, running = deque(tasks), as_completed()
        in_flight: dict[Any, Task] = {}
        while waiting or in_flight:
            while waiting and len(in_flight) < IN_FLIGHT_A_WORKER * self.count:
                future = self._client.submit(compute, placed(waiting[0]), pure=False)
                in_flight[future] = waiting.popleft()
                running.add(future)
            future = next(running)
            task = in_flight.pop(future)
            error = future.exception()
            if error is None:
                yield future.result()
            elif len(task) > 1:
                waiting.extend([point] for point in task)
            else:
                yield [Result(task[0].key, {}, one_line(error))]


def placed(task: Task) -> Task:
    """A task whose files have whole paths: a worker's current folder is another."""
    return [replace(point, folder=point.folder.absolute()) for point in task]


def connected(address: str) -> "Client":
    """A client of the scheduler at `address`. Raises UserError when there is none, or Dask is not installed."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError("--dask needs the package distributed: pip install 'shardsim[cluster]'") from None
    try:
        return Client(address, timeout=CONNECT_TIMEOUT_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--dask: no scheduler answers at {address}: {one_line(error)}") from None
