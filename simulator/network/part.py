"""A `Part`: flows in flight that share resources, and how far each has come. It owns no clock and never waits.

As long as nothing changes from outside, a part goes from plan to plan. Something may change in the middle of one:
`advance` then goes that far, and whoever had finished by then stays so. How a plan is made tells the two kinds
apart: `ExactPart` and `SteppedPart`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from simulator.arrays import BoolArray, FloatArray
from simulator.network.plan import Finished, Plan
from simulator.network.table import FlowTable, Rows


@dataclass(eq=False)
class Conditions:
    """What all parts of a network have in common."""

    capacity_bytes_per_s: FloatArray  # [resources] at present
    tolerance: float  # 0: exact
    solves: int = 0  # so far


class Part(ABC):
    """`rows` from `time_s` on."""

    def __init__(self, rows: Rows, time_s: float, conditions: Conditions) -> None:
        self.time_s = time_s
        self.table = FlowTable(rows, len(conditions.capacity_bytes_per_s))
        self.conditions = conditions
        self.made_plan: Plan | None = None

    def plan(self, until_s: float) -> Plan:
        """What happens next, at most until `until_s`."""
        if self.made_plan is None:
            self.made_plan = self._make_plan(until_s)
        return self.made_plan

    def rows(self) -> Rows:
        """Of the flows in flight, as of the time that was reached last."""
        return self.table.rows.pick(self.table.in_flight)

    def advance(self, time_s: float) -> Finished:
        """Go on to `time_s`, no further than the plan reaches; who finishes on the way."""
        plan, self.made_plan = self.made_plan, None
        self.time_s = max(time_s, self.time_s)
        if plan is None:
            return Finished.none()
        return self._complete(plan) if time_s >= plan.end_s else self._cut(plan, max(time_s, plan.start_s))

    @abstractmethod
    def split(self, touched: BoolArray) -> "Part | None":
        """Take out all flows that share a resource, directly or by way of others, with those `touched` [resources].

        They go on with their share of the plan; so do those that stay. It may be all of them, or none.
        """

    @abstractmethod
    def capacity_changed(self) -> None:
        """Some resource of the part is faster or slower from now on; no plan is under way."""

    @abstractmethod
    def _make_plan(self, until_s: float) -> Plan: ...

    @abstractmethod
    def _complete(self, plan: Plan) -> Finished:
        """All of the plan has happened."""

    @abstractmethod
    def _cut(self, plan: Plan, time_s: float) -> Finished:
        """Only what was to happen until `time_s` has."""
