"""A `Transmission`: flows sent together, and the moment at which each rank has all that it sends and receives."""

from dataclasses import dataclass

import numpy as np
from simpy import Environment, Event

from simulator.arrays import BoolArray, FloatArray
from simulator.network.flows import Flows


@dataclass(frozen=True, eq=False)
class Transmission:
    """`rank_done[rank]` succeeds when all that the rank sends and receives has arrived, latency included.

    Ranks that are known to be done together have one event.
    """

    name: str
    flows: Flows
    rank_done: dict[int, Event]
    finish_s: FloatArray  # [flows] when each arrives; NaN until it is through

    @classmethod
    def begin(
        cls,
        env: Environment,
        flows: Flows,
        ranks: tuple[int, ...],
        name: str,
        *,
        arrived: Event | None = None,
    ) -> "Transmission":
        """Ranks without flows are done at once; the others when `arrived` succeeds, or each by itself."""
        busy, at_once = _busy_ranks(flows, ranks).tolist(), env.event()
        rank_done = {rank: (arrived or env.event()) if busy[rank] else at_once for rank in ranks}
        if not all(busy[rank] for rank in ranks):
            at_once.succeed()
        return cls(name, flows, rank_done, np.full(len(flows), np.nan))

    def rank_is_done(self, rank: int) -> bool:
        """Let `rank_done` succeed; False when it had before."""
        event = self.rank_done[rank]
        if event.triggered:
            return False
        event.succeed()
        return True


def _busy_ranks(flows: Flows, ranks: tuple[int, ...]) -> BoolArray:
    """Which ranks send or receive. Raises ValueError for one that has no part in the transmission."""
    last = max(
        max(ranks, default=0), int(flows.sources.max(initial=0)), int(flows.destinations.max(initial=0))
    )
    busy = np.zeros(last + 1, np.bool_)
    busy[flows.sources] = True
    busy[flows.destinations] = True
    strangers = busy.copy()
    strangers[list(ranks)] = False
    if strangers.any():
        raise ValueError(f"rank {int(strangers.argmax())} has flows but is not among the ranks {ranks}")
    return busy
