"""The network as the engine sees it: `send` flows, then wait for the ranks to be served.

`FluidNetwork` shares the ports max-min fairly among all that is in flight. `BoundNetwork` gives each transmission
its port bound, as if it were alone.
"""

from typing import Protocol

from simulator.arrays import IntArray
from simulator.network.bound_network import BoundNetwork
from simulator.network.flows import Flows
from simulator.network.fluid_network import FluidNetwork
from simulator.network.transmission import Transmission

__all__ = ["BoundNetwork", "FluidNetwork", "Network", "Transmission"]


class Network(Protocol):
    """Carries flows within one SimPy environment."""

    resource_bytes: IntArray  # [resources] payload sent across each so far
    events: int  # alarms of its own that it has handled

    @property
    def solves(self) -> int:
        """How often the sharing was solved for."""

    def send(
        self, flows: Flows, *, ranks: tuple[int, ...], latency_steps: int = 1, name: str = ""
    ) -> Transmission:
        """Start `flows` among `ranks` now. Each is `latency_steps` messages, one after another, every one of
        which takes a latency and a message gap."""
        ...
