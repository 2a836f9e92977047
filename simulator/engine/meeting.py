"""A `Meeting`: one collective or transfer, from the first rank that comes to the last that leaves.

    ranks come ... the last one comes = start -> start-up -> stage -> stage -> ... -> ranks leave

A stage is sent when all of the one before has arrived at every rank. A rank leaves when all that it sends and
receives in the last stage has arrived; without stages, at the end of the start-up. It is driven by callbacks
of the network's own events and needs no SimPy process.
"""

from functools import partial

import numpy as np
from simpy import Event

from simulator.collectives.stage import Stage
from simulator.engine.journal import Journal
from simulator.engine.program import Collective, Transfer
from simulator.network.flows import Flows
from simulator.network.network import Network


class Meeting:
    """Call `come` once for each rank. What happens is written to the journal."""

    def __init__(
        self, index: int, operation: Collective | Transfer, journal: Journal, network: Network
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
        self.under_way = 0  # ranks for which the stage just sent has not ended

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
            for rank in self.ranks:
                self.journal.end(self.index, rank)
            return
        stage = self.stages[self.stages_sent]
        self.stages_sent += 1
        self.under_way = len(self.ranks)
        sent = self.network.send(
            stage.flows, ranks=self.ranks, latency_steps=stage.latency_steps, name=self.name
        )
        is_last = self.stages_sent == len(self.stages)
        for rank in self.ranks:
            callback = partial(self._leave, rank) if is_last else self._arrive
            sent.rank_done[rank].callbacks.append(callback)

    def _arrive(self, _: Event) -> None:
        self.under_way -= 1
        if self.under_way == 0:
            self._go_on()

    def _leave(self, rank: int, _: Event) -> None:
        self.journal.end(self.index, rank)


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
