"""The table of flows in flight: one row, its *slot*, for each, with the resources that it crosses."""

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.network import solver, steps
from simulator.topology.topology import Routes

_COMPACT_BELOW = 0.75  # of the slots in use


class FlowTable:
    """Columns are [slots] unless said otherwise. A flow that is through has infinite bytes left, so never again."""

    def __init__(self, resources: int) -> None:
        self.remaining_bytes: FloatArray = np.empty(0)
        self.caps_bytes_per_s: FloatArray = np.empty(0)
        self.amounts: FloatArray = np.empty(0)  # what the last solution gave
        self.flows: IndexArray = np.empty(0, np.int32)  # their numbers, ascending
        self.live: IntArray = np.zeros(resources, np.int64)  # [resources] flows in flight across each
        self.live_flows = 0
        self.has_caps = False
        self._routes: IndexArray = np.empty((0, 0), np.int32)  # [slots, hops]
        self._resources = resources
        self._index()

    def add(self, flows: IndexArray, routes: Routes, volume_bytes: FloatArray) -> None:
        """Append flows, which have higher numbers than all before."""
        self._keep_live()
        old = self._routes if len(self._routes) else np.empty((0, routes.resources.shape[1]), np.int32)
        self._routes = np.concatenate((old, routes.resources))
        self.remaining_bytes = np.concatenate((self.remaining_bytes, volume_bytes))
        self.caps_bytes_per_s = np.concatenate((self.caps_bytes_per_s, routes.cap_bytes_per_s))
        self.flows = np.concatenate((self.flows, flows))
        self._index()

    @property
    def members(self) -> solver.Members:
        return self._members

    def rises(self) -> NDArray[np.uint8]:
        """1 for every flow that is in flight."""
        return np.isfinite(self.remaining_bytes).view(np.uint8)

    def backlog_bytes(self, slots: IndexArray | None = None) -> FloatArray:
        """What flows, all in flight or those in `slots`, have still to move across each resource [resources]."""
        chosen = self.rises().nonzero()[0].astype(np.int32) if slots is None else slots
        return steps.backlog(chosen, self.remaining_bytes, self._routes, self._resources)

    def crossing(self, resource: int) -> IndexArray:
        """The numbers of the flows in flight across a resource."""
        slots = self._members.slots[self._members.offsets[resource] : self._members.offsets[resource + 1]]
        return self.flows[slots[np.isfinite(self.remaining_bytes[slots])]]

    def retire(self, slots: IndexArray) -> None:
        """Take out flows that are through."""
        steps.retire(slots, self.remaining_bytes, self.amounts, self._routes, self.live)
        self.live_flows -= len(slots)
        if self.live_flows < _COMPACT_BELOW * len(self.flows):
            self._keep_live()
            self._index()

    def _keep_live(self) -> None:
        live = np.isfinite(self.remaining_bytes)
        self.remaining_bytes, self.caps_bytes_per_s = self.remaining_bytes[live], self.caps_bytes_per_s[live]
        self.flows, self._routes = self.flows[live], self._routes[live]

    def _index(self) -> None:
        offsets, slots = solver.index_members(self._routes, self._resources)
        self._members = solver.Members(self._routes, offsets, slots)
        self.live = np.diff(offsets)
        self.live_flows = len(self.flows)
        self.amounts = np.zeros(len(self.flows))
        self.has_caps = bool(np.isfinite(self.caps_bytes_per_s).any())
