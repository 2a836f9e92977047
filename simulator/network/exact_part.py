"""An `ExactPart`: every finish is followed by a new solution of the sharing.

Theory of operation. Between finishes the rates hold, so the part goes from finish to finish; flows that finish at
one instant finish together. A plan looks some finishes ahead, on a copy, and is thrown away and made again as far
as it holds when something comes between. The price of a solution grows with the part, so parts are small: a part
starts as flows that share resources, directly or by way of others, and is not split again.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IntArray
from simulator.network import solver, steps
from simulator.network.part import Conditions, Part
from simulator.network.plan import Finished, Plan
from simulator.network.table import Rows

_SOLVES_AHEAD = 64
_NO_LIMITS: FloatArray = np.empty(0)


@dataclass(frozen=True, eq=False)
class _Ahead(Plan):
    """A plan, and how the table looks at its end."""

    remaining_bytes: FloatArray
    live: IntArray


def separate(rows: Rows, time_s: float, conditions: Conditions) -> list[Part]:
    """Flows as parts that share nothing."""
    number = steps.components(rows.routes, len(conditions.capacity_bytes_per_s))[rows.routes[:, 0]]
    order = np.argsort(number, kind="stable").astype(np.int32)
    edges = np.flatnonzero(np.diff(number[order])) + 1
    picked = [rows.pick(slots) for slots in np.split(order, edges)] if len(edges) else [rows]
    return [ExactPart(part, time_s, conditions) for part in picked]


class ExactPart(Part):
    """See the module."""

    def split(self, touched: BoolArray) -> Part | None:
        """See `Part.split`."""
        return self if (touched & (self.table.live > 0)).any() else None

    def capacity_changed(self) -> None:
        """The next plan is made with it."""

    def _make_plan(self, until_s: float) -> Plan:
        return self._run(until_s, _SOLVES_AHEAD)

    def _complete(self, plan: Plan) -> Finished:
        assert isinstance(plan, _Ahead)
        self.table.go_on(plan.remaining_bytes, plan.live, len(plan.slots))
        return plan.finishing

    def _cut(self, plan: Plan, time_s: float) -> Finished:
        self.time_s = plan.start_s
        finished = self._complete(self._run(time_s, len(plan.slots) + 1))
        self.time_s = time_s
        return finished

    def _run(self, until_s: float, most_solves: int) -> _Ahead:
        table, rows = self.table, self.table.rows
        remaining, live = rows.remaining_bytes.copy(), table.live.copy()
        limits = rows.caps_bytes_per_s if table.has_caps else _NO_LIMITS
        slots, finish_s, end_s, solves = solver.run(
            table.members,
            live,
            self.conditions.capacity_bytes_per_s,
            limits,
            remaining,
            table.amounts,
            self.time_s,
            until_s,
            most_solves,
        )
        self.conditions.solves += solves
        return _Ahead(self.time_s, end_s, slots, Finished(rows.flows[slots], finish_s), remaining, live)
