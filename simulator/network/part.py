"""A `Part`: flows in flight that share resources, and how far each has come. It owns no clock and never waits.

Theory of operation. As long as nothing changes from outside, a part goes from plan to plan. With tolerance 0 a
plan lasts until the next flow finishes, and flows that finish at one instant finish together: one solution for
each such instant, exact. With a tolerance it lasts for a step, that share of the port bound of what the part had
to move when it was made (see `steps.py`), or, when nobody would finish in the step, exactly until somebody does.
Something outside may change in the middle of a plan: `advance` then goes that far, and whoever had finished by
then stays so.
"""

from dataclasses import dataclass, replace

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IndexArray
from simulator.network import solver, steps
from simulator.network.plan import Finished, Plan
from simulator.network.table import FlowTable, Rows

_NO_LIMITS: FloatArray = np.empty(0)
_NOBODY: IndexArray = np.empty(0, np.int32)


@dataclass(eq=False)
class Conditions:
    """What all parts of a network have in common."""

    capacity_bytes_per_s: FloatArray  # [resources] at present
    tolerance: float
    solves: int = 0


class Part:
    """`rows` from `time_s` on."""

    def __init__(self, rows: Rows, time_s: float, conditions: Conditions) -> None:
        self.time_s = time_s
        self.table = FlowTable(rows, len(conditions.capacity_bytes_per_s))
        self.conditions = conditions
        self.made_plan: Plan | None = None
        self._joined: IndexArray | None = None
        self.set_step()

    def set_step(self) -> None:
        """Steps go by what there is to move now, at the present capacities."""
        self._step_s = self.conditions.tolerance * self._bound_s() if self.conditions.tolerance else 0.0

    def plan(self, until_s: float) -> Plan:
        """What happens next, at most until `until_s`."""
        if self.made_plan is None:
            self.made_plan = self._make_plan(until_s)
        return self.made_plan

    def advance(self, time_s: float) -> Finished:
        """Go on to `time_s`, no further than the plan reaches; who finishes on the way."""
        plan, self.made_plan = self.made_plan, None
        self.time_s = max(time_s, self.time_s)
        if plan is None:
            return Finished.none()
        if time_s >= plan.end_s:
            self._move((plan.end_s - plan.start_s) / plan.amounts_s)
            self.table.retire(plan.slots)
            return plan.finishing
        if plan.stepped:
            return self._cut(plan, max(time_s, plan.start_s))
        self._move(max(time_s - plan.start_s, 0.0) / plan.amounts_s)
        return Finished.none()

    def rows(self) -> Rows:
        """Of the flows in flight, as of the last time that was reached."""
        return self.table.rows.pick(self.table.in_flight)

    def split(self, touched: BoolArray) -> "Part | None":
        """Take out all flows that share a resource, directly or by way of others, with those `touched` [resources].

        They go on with their share of the plan; so do those that stay. It may be all of them, or none.
        """
        touched = touched & (self.table.live > 0)
        if not touched.any():
            return None
        if self._joined is None:
            self._joined = self.table.joined()
        is_reached = np.zeros(len(touched), np.bool_)
        is_reached[self._joined[touched]] = True
        leaves = is_reached[self._joined[self.table.rows.routes[:, 0]]] & self.table.in_flight
        if np.count_nonzero(leaves) == self.table.live_flows:
            return self
        return self._take(np.flatnonzero(leaves).astype(np.int32))

    def separate(self) -> "list[Part]":
        """The same flows in as many parts as share nothing. To be asked before anything is planned."""
        rows = self.table.rows
        number = self.table.joined()[rows.routes[:, 0]]
        order = np.argsort(number, kind="stable").astype(np.int32)
        edges = np.flatnonzero(np.diff(number[order])) + 1
        if not len(edges):
            return [self]
        return [Part(rows.pick(slots), self.time_s, self.conditions) for slots in np.split(order, edges)]

    def _take(self, slots: IndexArray) -> "Part":
        """The flows of `slots` as a part of their own."""
        table = self.table
        taken = Part(table.rows.pick(slots), self.time_s, self.conditions)
        taken.table.amounts = table.amounts[slots]
        table.leave(slots)
        if self.made_plan is not None:
            plan, is_taken = self.made_plan, np.isin(self.made_plan.slots, slots)
            theirs, ours = plan.slots[is_taken], plan.slots[~is_taken]
            taken.made_plan = replace(
                plan,
                slots=np.searchsorted(slots, theirs).astype(np.int32),
                finishing=plan.finishing.pick(is_taken),
            )
            self.made_plan = replace(plan, slots=ours, finishing=plan.finishing.pick(~is_taken))
        return taken

    def _bound_s(self) -> float:
        """The port bound of what is left to move, where anything moves."""
        capacity, rows = self.conditions.capacity_bytes_per_s, self.table.rows
        slots = np.flatnonzero(self.table.in_flight).astype(np.int32)
        backlog, running = self.table.backlog_bytes(slots), capacity > 0
        return max(
            float(np.max(backlog[running] / capacity[running], initial=0.0)),
            float(np.max(rows.remaining_bytes[slots] / rows.caps_bytes_per_s[slots], initial=0.0)),
        )

    def _make_plan(self, until_s: float) -> Plan:
        step_s = min(self._step_s, until_s - self.time_s)
        if step_s <= 0:
            table = self.table
            limits = table.rows.caps_bytes_per_s if table.has_caps else _NO_LIMITS
            self._solve(self.conditions.capacity_bytes_per_s, limits)
            return self._steady_plan(1.0, until_s)
        levels = self._solve_step(self.conditions.capacity_bytes_per_s * step_s, step_s)
        slots = self._finishing_slots()
        return self._stepped_plan(slots, levels, step_s) if len(slots) else self._steady_plan(step_s, until_s)

    def _stepped_plan(self, slots: IndexArray, levels: solver.Levels, step_s: float) -> Plan:
        """Everyone moves its amount by the end of the step; `slots` are through before."""
        rows = self.table.rows
        slots = slots[np.argsort(rows.remaining_bytes[slots], kind="stable")]
        within_s = steps.finish_within(
            slots,
            rows.remaining_bytes,
            rows.caps_bytes_per_s,
            rows.routes,
            self.table.live,
            self.conditions.capacity_bytes_per_s,
            levels,
            step_s,
        )
        order = np.argsort(within_s, kind="stable")
        slots, finish_s = slots[order], self.time_s + within_s[order]
        is_last = len(slots) == self.table.live_flows
        end_s = float(finish_s[-1]) if is_last else self.time_s + step_s
        return Plan(self.time_s, end_s, step_s, True, slots, Finished(rows.flows[slots], finish_s))

    def _steady_plan(self, amounts_s: float, until_s: float) -> Plan:
        """The present rates, until the next flow finishes."""
        rows, amounts = self.table.rows, self.table.amounts
        multiple = steps.first_finish(rows.remaining_bytes, amounts)
        end_s, slots = self.time_s + multiple * amounts_s, _NOBODY
        if end_s <= until_s:
            slots = steps.finished(rows.remaining_bytes, amounts, multiple)
        finishing = Finished(rows.flows[slots], np.full(len(slots), end_s))
        return Plan(self.time_s, min(end_s, until_s), amounts_s, False, slots, finishing)

    def _cut(self, plan: Plan, time_s: float) -> Finished:
        """End a step early: who has finished stays so, and the time that has passed is shared out anew."""
        table, step_s = self.table, time_s - plan.start_s
        past = np.arange(len(plan.slots)) < np.searchsorted(plan.finishing.finish_s, time_s, side="right")
        gone, gone_slots = plan.finishing.pick(past), plan.slots[past]
        used_bytes = table.backlog_bytes(gone_slots)
        table.retire(gone_slots)
        budget_bytes = self.conditions.capacity_bytes_per_s * step_s - used_bytes
        self._solve_step(np.maximum(budget_bytes, 0.0), step_s)
        slots = self._finishing_slots()
        flows = table.rows.flows[slots]
        self._move(1.0)
        table.retire(slots)
        ends_s = np.full(len(flows), time_s)
        return Finished(np.concatenate((gone.flows, flows)), np.concatenate((gone.finish_s, ends_s)))

    def _solve(self, budget: FloatArray, limits: FloatArray) -> solver.Levels:
        self.conditions.solves += 1
        table = self.table
        return solver.fill(table.members, table.live, budget, limits, table.amounts, table.rises())

    def _solve_step(self, budget_bytes: FloatArray, step_s: float) -> solver.Levels:
        rows = self.table.rows
        limits = rows.remaining_bytes
        if self.table.has_caps:
            limits = np.minimum(limits, rows.caps_bytes_per_s * step_s)
        return self._solve(budget_bytes, limits)

    def _finishing_slots(self) -> IndexArray:
        return np.flatnonzero(self.table.amounts == self.table.rows.remaining_bytes).astype(np.int32)

    def _move(self, multiple: float) -> None:
        steps.move(self.table.rows.remaining_bytes, self.table.amounts, multiple)
