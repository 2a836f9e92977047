"""A stage of a collective: flows that go at once, and how many latencies they take one after another."""

from dataclasses import dataclass

from simulator.network.flows import Flows


@dataclass(frozen=True, eq=False)
class Stage:
    """`flows` carries global rank numbers. A ring of n ranks is one stage of its total bytes and many steps:
    in the fluid model equal steps in a row move as one, and only their latencies add up."""

    flows: Flows
    latency_steps: int = 1
