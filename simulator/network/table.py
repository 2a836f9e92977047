"""Flows in flight as a table: one row, its *slot*, for each, with the resources that it crosses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, FloatArray, IndexArray, IntArray
from simulator.network import solver, steps

_COMPACT_BELOW = 0.75  # of the slots in use


@dataclass(frozen=True, eq=False)
class Rows:
    """Flows and what they have left; all are [rows], routes [rows, hops]."""

    flows: IndexArray  # their numbers
    remaining_bytes: FloatArray
    caps_bytes_per_s: FloatArray
    routes: IndexArray

    def pick(self, which: BoolArray | IndexArray) -> "Rows":
        """Some of the rows."""
        return Rows(
            self.flows[which], self.remaining_bytes[which], self.caps_bytes_per_s[which], self.routes[which]
        )

    @staticmethod
    def join(parts: Sequence["Rows"]) -> "Rows":
        """All rows of at least one part, in order."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(
            *((rows.flows, rows.remaining_bytes, rows.caps_bytes_per_s, rows.routes) for rows in parts),
            strict=True,
        )
        return Rows(*(np.concatenate(column) for column in columns))


class FlowTable:
    """`rows` and who crosses what. A flow that is through has infinite bytes left, so it is never next."""

    def __init__(self, rows: Rows, resources: int) -> None:
        self._resources = resources
        self._set(rows)

    def _set(self, rows: Rows) -> None:
        offsets, slots = solver.index_members(rows.routes, self._resources)
        self.rows = rows
        self.members = solver.Members(rows.routes, offsets, slots)
        self.live: IntArray = np.diff(offsets)  # [resources] flows in flight across each
        self.live_flows = len(rows.flows)
        self.amounts: FloatArray = np.zeros(len(rows.flows))  # what the last solution gave
        self.has_caps = bool(np.isfinite(rows.caps_bytes_per_s).any())

    @property
    def in_flight(self) -> BoolArray:
        """Which slots are not through."""
        return np.isfinite(self.rows.remaining_bytes)

    def rises(self) -> NDArray[np.uint8]:
        """1 for every slot that is in flight."""
        return self.in_flight.view(np.uint8)

    def backlog_bytes(self, slots: IndexArray) -> FloatArray:
        """What the flows of `slots` have still to move across each resource [resources]."""
        return steps.backlog(slots, self.rows.remaining_bytes, self.rows.routes, self._resources)

    def crossing(self, resource: int) -> IndexArray:
        """The numbers of the flows in flight across a resource."""
        slots = self.members.slots[self.members.offsets[resource] : self.members.offsets[resource + 1]]
        return self.rows.flows[slots[self.in_flight[slots]]]

    def retire(self, slots: IndexArray) -> None:
        """Take out flows that are through."""
        self.leave(slots)
        self._close_gaps()

    def go_on(self, remaining_bytes: FloatArray, live: IntArray, through: int) -> None:
        """Take over what is left after `through` more flows are."""
        self.rows = replace(self.rows, remaining_bytes=remaining_bytes)
        self.live = live
        self.live_flows -= through
        self._close_gaps()

    def leave(self, slots: IndexArray) -> None:
        """Take flows out; the others keep their slots."""
        rows = self.rows
        solver.retire(slots, rows.remaining_bytes, self.amounts, rows.routes, self.live)
        self.live_flows -= len(slots)

    def _close_gaps(self) -> None:
        if self.live_flows < _COMPACT_BELOW * len(self.rows.flows):
            self._set(self.rows.pick(self.in_flight))

    def joined(self) -> IndexArray:
        """[resources] Those between which flows lead, directly or by way of others, have the same number."""
        return steps.components(self.rows.routes, self._resources)
