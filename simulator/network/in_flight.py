"""All that is in flight on a network, in parts that share no resource.

Theory of operation. Max-min fair rates of flows that share nothing, directly or by way of others, do not depend on
each other, so each part has a plan of its own. What is added is put into one part with whatever it touches, the
rest goes on undisturbed: a collective inside an island does not concern the NICs. In exact mode parts are as small
as can be, since each finish costs a solution of its part. With a tolerance a part stays whole until something
touches a piece of it, for few large steps are cheaper than many small ones.
"""

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.network.exact_part import separate
from simulator.network.part import Conditions, Part
from simulator.network.plan import Finished, Plan
from simulator.network.stepped_part import SteppedPart
from simulator.network.table import Rows
from simulator.topology.topology import Routes


class InFlight:
    """Flows over resources of given capacities [resources], max-min fair. Times must not decrease."""

    def __init__(self, capacity_bytes_per_s: FloatArray, *, tolerance: float) -> None:
        self._conditions = Conditions(np.array(capacity_bytes_per_s, np.float64), tolerance)
        self._added = 0
        self.parts: list[Part] = []

    @property
    def solves(self) -> int:
        """How often the sharing was solved for."""
        return self._conditions.solves

    def add(self, routes: Routes, volume_bytes: FloatArray, time_s: float) -> tuple[int, list[Finished]]:
        """Start flows, each with `volume_bytes` to move (message gaps included).

        Returns the number of the first, the others following, and who else is found to be through by now.
        """
        first, self._added = self._added, self._added + len(volume_bytes)
        numbers = np.arange(first, self._added, dtype=np.int32)
        rows, finished = [], []
        for part in self._touched(routes.resources):
            finished.append(part.advance(time_s))
            rows.append(part.rows())
        rows.append(Rows(numbers, volume_bytes, routes.cap_bytes_per_s, routes.resources))
        if self._conditions.tolerance:
            self.parts.append(SteppedPart(Rows.join(rows), time_s, self._conditions))
        else:
            self.parts += separate(Rows.join(rows), time_s, self._conditions)
        return first, finished

    def plan(self, until_s: float) -> float:
        """Plan ahead wherever there is no plan, at most until `until_s`; when the first plan ends."""
        return min((part.plan(until_s).end_s for part in self.parts), default=np.inf)

    def early_plans(self) -> list[Plan]:
        """The present plans in which flows finish before the end."""
        plans = [part.made_plan for part in self.parts]
        return [plan for plan in plans if plan is not None and plan.finishes_early]

    def complete(self, time_s: float) -> list[Finished]:
        """See to the plans that end by `time_s`; who finished."""
        finished = []
        for part in self.parts:
            if part.made_plan is not None and part.made_plan.end_s <= time_s:
                finished.append(part.advance(time_s))
        self.parts = [part for part in self.parts if part.table.live_flows]
        return finished

    def set_capacity(self, resource: int, bytes_per_s: float) -> None:
        """A resource is faster or slower from now on; 0 when it has failed. All plans must have been completed."""
        self._conditions.capacity_bytes_per_s[resource] = bytes_per_s
        for part in self.parts:
            if part.table.live[resource]:
                part.capacity_changed()

    def crossing(self, resource: int) -> IndexArray:
        """The numbers of the flows in flight across a resource."""
        found = [part.table.crossing(resource) for part in self.parts]
        return np.concatenate((np.empty(0, np.int32), *found))

    def _touched(self, routes: IndexArray) -> list[Part]:
        """Take out of the parts whatever shares a resource with `routes` [flows, hops]."""
        touched = np.zeros(len(self._conditions.capacity_bytes_per_s) + 1, np.bool_)
        touched[routes] = True  # -1, the padding, is the extra one
        split = [(part, part.split(touched[:-1])) for part in self.parts]
        self.parts = [part for part, taken in split if taken is not part]
        return [taken for _, taken in split if taken is not None]
