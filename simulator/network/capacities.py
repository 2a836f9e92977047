"""The capacities of a topology's resources as time goes by."""

import numpy as np

from simulator.arrays import FloatArray
from simulator.topology.topology import CapacityChange, Topology


class Capacities:
    """What each resource gives now, when that changes next, and what has failed for good."""

    def __init__(self, topology: Topology) -> None:
        self.full_bytes_per_s = topology.resources.capacity_bytes_per_s
        self.now_bytes_per_s: FloatArray = np.array(self.full_bytes_per_s, np.float64)
        self.failed_s: dict[int, float] = {}  # resources that are down for good, and since when
        self._changes = topology.capacity_changes
        self._next = 0

    @property
    def next_change_s(self) -> float:
        """inf when there is none."""
        return self._changes[self._next].time_s if self._next < len(self._changes) else np.inf

    def take_changes(self, time_s: float) -> list[CapacityChange]:
        """The changes that are due, applied."""
        due = []
        while self.next_change_s <= time_s:
            change = self._changes[self._next]
            self._next += 1
            self.now_bytes_per_s[change.resource] = self.full_bytes_per_s[change.resource] * change.factor
            if self.fails_for_good_s(change.resource) == change.time_s:
                self.failed_s[change.resource] = change.time_s
            due.append(change)
        return due

    def fails_for_good_s(self, resource: int) -> float:
        """When a resource fails and never returns; inf if it does not."""
        last = [change for change in self._changes if change.resource == resource][-1:]
        return last[0].time_s if last and last[0].factor == 0 else np.inf

    def busy_until_s(self, start_s: float, work_s: FloatArray) -> FloatArray:
        """When each resource [resources] ends what takes it `work_s` at full capacity; inf if it never does."""
        end_s = start_s + work_s
        for resource in {change.resource: None for change in self._changes}:
            if work_s[resource] > 0:
                end_s[resource] = self._end_s(resource, start_s, float(work_s[resource]))
        return end_s

    def _end_s(self, resource: int, start_s: float, work_s: float) -> float:
        now_s, factor = start_s, 1.0
        for change in self._changes:
            if change.resource != resource:
                continue
            if change.time_s > now_s:
                if work_s <= factor * (change.time_s - now_s):
                    break
                work_s -= factor * (change.time_s - now_s)
                now_s = change.time_s
            factor = change.factor
        return now_s + work_s / factor if factor else np.inf
