"""`FlowState`: flows in flight and how far each has come. It owns no clock and does no waiting.

Theory of operation. As long as nothing changes from outside, the state goes from *plan* to plan. A plan says how
long the present sharing lasts, who finishes in it, and when. With tolerance 0 it lasts until the next flow
finishes, and flows that finish at one instant finish together: one solution for each such instant, exact. With a
tolerance it lasts for a step, that share of the port bound of the traffic in flight when it last changed (see
`steps.py`), or, when nobody would finish in the step, exactly until somebody does. Something outside may change
in the middle of a plan: `advance` then goes that far, and whoever had finished by then stays so.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.network import solver, steps
from simulator.network.table import FlowTable
from simulator.topology.topology import Routes

_NO_LIMITS: FloatArray = np.empty(0)
_NOBODY: IndexArray = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Finished:
    """Flows that are through, in order of time. Flows are numbered in the order in which they were added."""

    flows: IndexArray
    finish_s: FloatArray


@dataclass(frozen=True, eq=False)
class Plan:
    """What happens from `start_s` to `end_s` if nothing changes from outside."""

    start_s: float
    end_s: float
    amounts_s: float  # the time in which each flow moves its amount
    stepped: bool  # flows may finish before the end; else the rates hold until the end
    slots: IndexArray
    finishing: Finished  # the flows of `slots`


class FlowState:
    """Flows over resources of given capacities [resources], max-min fair."""

    def __init__(self, capacity_bytes_per_s: FloatArray, *, tolerance: float) -> None:
        self.time_s = 0.0
        self.solves = 0
        self.table = FlowTable(len(capacity_bytes_per_s))
        self._capacity = np.array(capacity_bytes_per_s, np.float64)
        self._tolerance = tolerance
        self._step_s = 0.0
        self._added = 0
        self._plan: Plan | None = None

    def add(self, routes: Routes, volume_bytes: FloatArray) -> int:
        """Start flows now, each with `volume_bytes` to move (message gaps included); the number of the first."""
        first, self._added = self._added, self._added + len(volume_bytes)
        self.table.add(np.arange(first, self._added, dtype=np.int32), routes, volume_bytes)
        self._changed()
        return first

    def set_capacity(self, resource: int, bytes_per_s: float) -> None:
        """A resource is faster or slower from now on; 0 when it has failed."""
        self._capacity[resource] = bytes_per_s
        self._changed()

    @property
    def live_flows(self) -> int:
        """How many are in flight."""
        return self.table.live_flows

    def crossing(self, resource: int) -> IndexArray:
        """The numbers of the flows in flight across a resource."""
        return self.table.crossing(resource)

    def plan(self, until_s: float) -> Plan:
        """What happens next, at most until `until_s`."""
        if self._plan is None:
            self._plan = self._make_plan(until_s)
        return self._plan

    def advance(self, time_s: float) -> Finished:
        """Go on to `time_s`, no further than the plan reaches; who finishes on the way."""
        plan = self._plan
        self._plan = None
        if plan is None or not self.table.live_flows:
            finished = Finished(_NOBODY, np.empty(0))
        elif time_s >= plan.end_s:
            finished = self._complete(plan)
        elif plan.stepped:
            finished = self._cut(plan, time_s)
        else:
            self._move((time_s - plan.start_s) / plan.amounts_s)
            finished = Finished(_NOBODY, np.empty(0))
        self.time_s = max(time_s, self.time_s)
        return finished

    def _changed(self) -> None:
        self._plan = None
        self._step_s = self._tolerance * self._bound_s() if self._tolerance else 0.0

    def _bound_s(self) -> float:
        backlog, remaining = self.table.backlog_bytes(), self.table.remaining_bytes
        running = self._capacity > 0
        capped = np.isfinite(remaining)
        return max(
            np.max(backlog[running] / self._capacity[running], initial=0.0),
            np.max(remaining[capped] / self.table.caps_bytes_per_s[capped], initial=0.0),
        )

    def _solve(self, budget: FloatArray, limits: FloatArray) -> solver.Levels:
        self.solves += 1
        table = self.table
        return solver.fill(table.members, table.live, budget, limits, table.amounts, table.rises())

    def _solve_step(self, budget_bytes: FloatArray, step_s: float) -> solver.Levels:
        limits = self.table.remaining_bytes
        if self.table.has_caps:
            limits = np.minimum(limits, self.table.caps_bytes_per_s * step_s)
        return self._solve(budget_bytes, limits)

    def _make_plan(self, until_s: float) -> Plan:
        step_s = min(self._step_s, until_s - self.time_s)
        if step_s <= 0:
            self._solve(self._capacity, self.table.caps_bytes_per_s if self.table.has_caps else _NO_LIMITS)
            return self._steady_plan(1.0, until_s)
        levels = self._solve_step(self._capacity * step_s, step_s)
        slots = self._finishing_slots()
        return self._stepped_plan(slots, levels, step_s) if len(slots) else self._steady_plan(step_s, until_s)

    def _stepped_plan(self, slots: IndexArray, levels: solver.Levels, step_s: float) -> Plan:
        """Everyone moves its amount by the end of the step; `slots` are through before."""
        table = self.table
        slots = slots[np.argsort(table.remaining_bytes[slots], kind="stable")]
        within_s = steps.finish_within(
            slots, table.remaining_bytes, table.caps_bytes_per_s, table.members.routes, levels, step_s
        )
        order = np.argsort(within_s, kind="stable")
        slots, finish_s = slots[order], self.time_s + within_s[order]
        end_s = float(finish_s[-1]) if len(slots) == table.live_flows else self.time_s + step_s
        return Plan(self.time_s, end_s, step_s, True, slots, Finished(table.flows[slots], finish_s))

    def _steady_plan(self, amounts_s: float, until_s: float) -> Plan:
        """The present rates, until the next flow finishes."""
        table = self.table
        multiple = steps.first_finish(table.remaining_bytes, table.amounts)
        end_s, slots = self.time_s + multiple * amounts_s, _NOBODY
        if end_s <= until_s:
            slots = steps.finished(table.remaining_bytes, table.amounts, multiple)
        finishing = Finished(table.flows[slots], np.full(len(slots), end_s))
        return Plan(self.time_s, min(end_s, until_s), amounts_s, False, slots, finishing)

    def _finishing_slots(self) -> IndexArray:
        return np.flatnonzero(self.table.amounts == self.table.remaining_bytes).astype(np.int32)

    def _complete(self, plan: Plan) -> Finished:
        self._move((plan.end_s - plan.start_s) / plan.amounts_s)
        self.table.retire(plan.slots)
        return plan.finishing

    def _cut(self, plan: Plan, time_s: float) -> Finished:
        """End a step early: who has finished stays so, and the time that has passed is shared out anew."""
        table, step_s = self.table, time_s - plan.start_s
        past = int(np.searchsorted(plan.finishing.finish_s, time_s, side="right"))
        flows, finish_s = plan.finishing.flows[:past], plan.finishing.finish_s[:past]
        used_bytes = table.backlog_bytes(plan.slots[:past])
        table.retire(plan.slots[:past])
        self._solve_step(np.maximum(self._capacity * step_s - used_bytes, 0.0), step_s)
        slots = self._finishing_slots()
        also = table.flows[slots]
        self._move(1.0)
        table.retire(slots)
        return Finished(np.concatenate((flows, also)), np.concatenate((finish_s, np.full(len(also), time_s))))

    def _move(self, multiple: float) -> None:
        steps.move(self.table.remaining_bytes, self.table.amounts, multiple)
