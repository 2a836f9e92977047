"""`simulate_flows`: given flows from start to finish, without an engine around them."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.network.capacities import Capacities
from simulator.network.errors import stalled_error
from simulator.network.flows import Flows
from simulator.network.in_flight import InFlight
from simulator.network.load import volume_bytes
from simulator.network.plan import Finished
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class FlowResult:
    """When each flow arrives, its latency included."""

    finish_s: FloatArray  # [flows]
    time_s: float  # from 0 until the last arrives
    solves: int  # how often the sharing was solved for


def simulate_flows(
    topology: Topology, flows: Flows, *, tolerance: float | None, start_s: FloatArray | None = None
) -> FlowResult:
    """Run `flows` on a quiet cluster, each from its `start_s` [flows] (default: all at 0).

    `tolerance` is the step as a share of the port bound; None is exact. Raises StalledError for flows across a
    resource that has failed and never returns.
    """
    run = _Run(topology, flows, tolerance or 0.0)
    if len(flows):
        for when_s, started in _starts(len(flows), start_s):
            run.go_to(when_s)
            run.start(started, when_s)
    run.go_to(np.inf)
    time_s = float(run.finish_s.max(initial=0.0))
    return FlowResult(run.finish_s, time_s, run.in_flight.solves)


def _starts(count: int, start_s: FloatArray | None) -> list[tuple[float, IndexArray]]:
    """Which flows start when, in order of time."""
    everyone = np.arange(count, dtype=np.int32)
    if start_s is None:
        return [(0.0, everyone)]
    times_s, group = np.unique(start_s, return_inverse=True)
    by_group = np.argsort(group, kind="stable").astype(np.int32)
    edges = np.searchsorted(group[by_group], np.arange(1, len(times_s)))
    return list(zip(times_s.tolist(), np.split(by_group, edges), strict=True))


class _Run:
    """Flows under way on one topology."""

    def __init__(self, topology: Topology, flows: Flows, tolerance: float) -> None:
        self.finish_s = np.zeros(len(flows))
        self._topology, self._flows = topology, flows
        self._capacities = Capacities(topology)
        self.in_flight = InFlight(self._capacities.now_bytes_per_s, tolerance=tolerance)
        self._latency_s = np.empty(0)
        self._started = np.empty(0, np.int32)  # the flows in the order in which they started

    def start(self, which: IndexArray, time_s: float) -> None:
        """At `time_s`, which has been reached."""
        self._change_capacities(time_s)
        flows = self._flows
        if len(which) < len(flows):
            flows = Flows(flows.sources[which], flows.destinations[which], flows.bytes[which])
        routes = self._topology.routes(flows.sources, flows.destinations)
        self._started = np.concatenate((self._started, which))
        self._latency_s = np.concatenate((self._latency_s, routes.latency_s))
        _, finished = self.in_flight.add(routes, volume_bytes(routes, flows.bytes), time_s)
        self._note(finished)
        self._check_stalled()

    def go_to(self, time_s: float) -> None:
        """See to all that ends by `time_s`."""
        while self.in_flight.parts:
            end_s = self.in_flight.plan(self._capacities.next_change_s)
            if end_s > time_s:
                break
            self._note(self.in_flight.complete(end_s))
            self._change_capacities(end_s)

    def _note(self, finished: list[Finished]) -> None:
        for some in finished:
            self.finish_s[self._started[some.flows]] = some.finish_s + self._latency_s[some.flows]

    def _change_capacities(self, time_s: float) -> None:
        due = self._capacities.take_changes(time_s)
        for change in due:
            self.in_flight.set_capacity(change.resource, self._capacities.now_bytes_per_s[change.resource])
        if due:
            self._check_stalled()

    def _check_stalled(self) -> None:
        for resource, failed_s in self._capacities.failed_s.items():
            waiting = self._started[self.in_flight.crossing(resource)]
            if len(waiting):
                ranks = np.union1d(self._flows.sources[waiting], self._flows.destinations[waiting])
                raise stalled_error(self._topology.resources.names[resource], failed_s, ranks.tolist())
