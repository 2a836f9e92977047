"""A `SteppedPart`: time goes in steps, as a tolerance allows.

Theory of operation. A step is that share of the port bound of what the part had to move when it was made or its
capacities changed; `steps.py` says what happens in one. When nobody would finish in a step, the rates hold exactly
until somebody does. Whoever comes in the middle of a step cuts it: those that had finished stay so, and what else
could be moved in the time that passed is shared out anew. A part stays whole until something touches a piece of
it, for few large steps are cheaper than many small ones.
"""

from dataclasses import dataclass, replace

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IndexArray
from simulator.network import solver, steps
from simulator.network.part import Conditions, Part
from simulator.network.plan import Finished, Plan
from simulator.network.table import Rows

_NO_LIMITS: FloatArray = np.empty(0)
_NOBODY: IndexArray = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class _Step(Plan):
    """A plan by the table's amounts, which flows move in `amounts_s`."""

    amounts_s: float
    is_shared_out: bool  # flows finish within the step; else the rates hold until the end


class SteppedPart(Part):
    """See the module."""

    def __init__(self, rows: Rows, time_s: float, conditions: Conditions) -> None:
        super().__init__(rows, time_s, conditions)
        self._joined: IndexArray | None = None
        self.capacity_changed()

    def capacity_changed(self) -> None:
        """Steps go by what there is to move now, at the present capacities."""
        self._step_s = self.conditions.tolerance * self._bound_s()

    def split(self, touched: BoolArray) -> Part | None:
        """See `Part.split`."""
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

    def _take(self, slots: IndexArray) -> Part:
        """The flows of `slots` as a part of their own."""
        table = self.table
        taken = SteppedPart(table.rows.pick(slots), self.time_s, self.conditions)
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

    def _make_plan(self, until_s: float) -> Plan:
        capacity = self.conditions.capacity_bytes_per_s
        step_s = min(self._step_s, until_s - self.time_s)
        if step_s <= 0:  # nothing can move, or not for any time
            self._solve(capacity, self.table.rows.caps_bytes_per_s if self.table.has_caps else _NO_LIMITS)
            return self._steady(1.0, until_s)
        levels = self._solve_step(capacity * step_s, step_s)
        slots = self._finishing_slots()
        return self._shared_out(slots, levels, step_s) if len(slots) else self._steady(step_s, until_s)

    def _shared_out(self, slots: IndexArray, levels: solver.Levels, step_s: float) -> _Step:
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
        return _Step(self.time_s, end_s, slots, Finished(rows.flows[slots], finish_s), step_s, True)

    def _steady(self, amounts_s: float, until_s: float) -> _Step:
        """The present rates, until the next flow finishes."""
        rows, amounts = self.table.rows, self.table.amounts
        multiple = solver.first_finish(rows.remaining_bytes, amounts)
        end_s, slots = self.time_s + multiple * amounts_s, _NOBODY
        if end_s <= until_s:
            slots = solver.finished(rows.remaining_bytes, amounts, multiple)
        finishing = Finished(rows.flows[slots], np.full(len(slots), end_s))
        return _Step(self.time_s, min(end_s, until_s), slots, finishing, amounts_s, False)

    def _complete(self, plan: Plan) -> Finished:
        assert isinstance(plan, _Step)
        self._move((plan.end_s - plan.start_s) / plan.amounts_s)
        self.table.retire(plan.slots)
        return plan.finishing

    def _cut(self, plan: Plan, time_s: float) -> Finished:
        assert isinstance(plan, _Step)
        if not plan.is_shared_out:
            self._move((time_s - plan.start_s) / plan.amounts_s)
            return Finished.none()
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

    def _bound_s(self) -> float:
        """The port bound of what is left to move, where anything moves."""
        capacity, rows = self.conditions.capacity_bytes_per_s, self.table.rows
        slots = np.flatnonzero(self.table.in_flight).astype(np.int32)
        backlog, running = self.table.backlog_bytes(slots), capacity > 0
        return max(
            float(np.max(backlog[running] / capacity[running], initial=0.0)),
            float(np.max(rows.remaining_bytes[slots] / rows.caps_bytes_per_s[slots], initial=0.0)),
        )

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
        solver.move(self.table.rows.remaining_bytes, self.table.amounts, multiple)
