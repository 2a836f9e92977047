"""What a workload asks for while a plan grows old.

Theory of operation. A table changes in one of two ways, each spread over `over` iterations:

    drift     what its `drift` declares. A share r moved in `over` iterations is a share 1 - (1 - r)^(a / over) in a
              iterations. The law of popularity stays: which rows carry it changes
    epochs    its `planning` and its own popularity are the start and the end of `over` iterations. In between
              lookups are a mixture of both, in proportion to the time; after the end nothing changes

In either case rows keep the order that the plan knows them by, and `Table.popularity` is what the plan was made from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from simulator.arrays import FloatArray
from simulator.errors import UserError
from simulator.workload.popularity.blend import Blend
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.table import Table
from simulator.workload.workload import Workload


@dataclass(frozen=True, eq=False)
class Ageing:
    """A workload whose tables' changes take `over` iterations. See `ageing`."""

    workload: Workload
    over: int

    def at(self, age: float) -> Workload:
        """What is asked for `age` iterations after the plan was made. 0 is what the plan was made for."""
        tables = tuple(self._aged(table, age) for table in self.workload.tables)
        return replace(self.workload, tables=tables)

    def moved_share(self, table: Table, age: float) -> float:
        """The share of a table's lookups that has moved since the plan, or that follows the later epoch."""
        if table.replayed is None:
            return 0.0
        if isinstance(table.replayed, Drifted):
            return float(1.0 - (1.0 - table.replayed.share) ** (age / self.over))
        return min(age / self.over, 1.0)

    def progress(self, ages: FloatArray) -> FloatArray:
        """The mean of `moved_share` over the tables that change, at each age. It never falls."""
        shares = [self._share_at(table) for table in self.workload.tables if table.replayed is not None]
        return np.array([float(np.mean([share(age) for share in shares])) for age in ages.tolist()])

    def _share_at(self, table: Table) -> Callable[[float], float]:
        return lambda age: self.moved_share(table, age)

    def _aged(self, table: Table, age: float) -> Table:
        share = self.moved_share(table, age)
        if share == 0.0 or table.replayed is None:
            return replace(table, replayed=None)
        if isinstance(table.replayed, Drifted):
            return replace(table, replayed=replace(table.replayed, share=share))
        return replace(table, replayed=Blend(table.popularity, table.replayed, share))


def ageing(workload: Workload, *, over: int) -> Ageing:
    """How the workload changes in time. Raises UserError when it does not, or in two ways at once."""
    for table in workload.tables:
        if isinstance(table.replayed, Drifted) and table.replayed.base is not table.popularity:
            raise UserError(
                f"workload {workload.name}: table {table.name} has `planning` and `drift`; a plan that grows old "
                "needs one of them"
            )
    if all(table.replayed is None for table in workload.tables):
        raise UserError(
            f"workload {workload.name}: no table has a `drift` above 0, or `planning`, so a plan never grows old; "
            "give one of them, or --drift"
        )
    return Ageing(workload, over)
