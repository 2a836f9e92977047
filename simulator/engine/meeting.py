"""A `Meeting`: one collective or transfer, from the first rank that comes to the last that leaves.

    ranks come ... the last one comes = start -> start-up -> stage -> stage -> ... -> ranks leave

A stage is sent when all of the one before has arrived at every rank. A rank leaves when all that it sends and
receives in the last stage has arrived; without stages, at the end of the start-up. It is driven by callbacks
of the network's own events and needs no SimPy process.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Generic

import numpy as np
from simpy import Event

from simulator.collectives.stage import Stage
from simulator.engine.journal import Journal, W
from simulator.engine.program import Collective, Transfer
from simulator.network.flows import Flows
from simulator.network.network import Network


class Meeting(Generic[W]):
    """Call `come` once for each rank. What happens is written to the journal."""

    def __init__(
        self, index: int, operation: Collective | Transfer, journal: Journal[W], network: Network
    ) -> None:
        self.index = index
        self.name = operation.name
        self.ranks = operation.ranks
        self.startup_s = operation.startup_s if isinstance(operation, Collective) else 0.0
        self.stages = operation.stages if isinstance(operation, Collective) else transfer_stages(operation)
        self.journal = journal
        self.network = network
        self.missing = len(operation.ranks)
        self.stages_sent = 0
        self.under_way = 0  # events of the stage just sent that have not come

    def come(self, rank: int) -> None:
        """`rank` takes part from now on; the last one to come starts the operation."""
        self.journal.enter(self.index, rank)
        self.missing -= 1
        if self.missing == 0:
            self.journal.start(self.index, self.ranks)
            self._start_up()

    def _start_up(self) -> None:
        if self.startup_s > 0:
            ready = self.journal.env.timeout(self.startup_s)
            ready.callbacks.append(lambda _: self._go_on())
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Send the next stage, or let all go when there is none to send."""
        if not self.stages:
            self.journal.end(self.index, self.ranks)
            return
        stage = self.stages[self.stages_sent]
        self.stages_sent += 1
        sent = self.network.send(
            stage.flows, ranks=self.ranks, latency_steps=stage.latency_steps, name=self.name
        )
        is_last = self.stages_sent == len(self.stages)
        arrivals = ranks_by_event(self.ranks, sent.rank_done)
        self.under_way = len(arrivals)
        for event, ranks in arrivals.items():
            event.callbacks.append(partial(self._leave, ranks) if is_last else self._arrive)

    def _arrive(self, _: Event) -> None:
        self.under_way -= 1
        if self.under_way == 0:
            self._go_on()

    def _leave(self, ranks: list[int], _: Event) -> None:
        self.journal.end(self.index, ranks)


def ranks_by_event(ranks: Sequence[int], rank_done: Mapping[int, Event]) -> dict[Event, list[int]]:
    """Ranks that are done together, in order: a network may give them one event."""
    together: dict[Event, list[int]] = {}
    for rank in ranks:
        together.setdefault(rank_done[rank], []).append(rank)
    return together


def transfer_stages(transfer: Transfer) -> tuple[Stage, ...]:
    """One flow; none at all for 0 bytes."""
    if transfer.bytes == 0:
        return ()
    flows = Flows(
        np.array([transfer.source], dtype=np.int32),
        np.array([transfer.destination], dtype=np.int32),
        np.array([transfer.bytes], dtype=np.int64),
    )
    return (Stage(flows),)
