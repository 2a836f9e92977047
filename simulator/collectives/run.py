"""Stages on a quiet cluster, one after another: the next begins when all of the one before has arrived."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from simpy import AllOf, Environment, Event

from simulator.arrays import FloatArray
from simulator.collectives.stage import Stage
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.topology.topology import Topology

Engine = Literal["fluid", "bound"]


@dataclass(frozen=True, eq=False)
class StagesRun:
    """Times count from 0, when the cluster's capacities begin to change if they do."""

    starts_s: tuple[float, ...]  # [stages]
    finish_s: tuple[FloatArray, ...]  # [stages] of [flows]: when each has arrived, latency included
    end_s: float
    solves: int


def run_stages(
    topology: Topology,
    stages: Sequence[Stage],
    *,
    start_s: float = 0.0,
    engine: Engine = "fluid",
    tolerance: float | None = None,
) -> StagesRun:
    """Run `stages` from `start_s` on; see the network for `tolerance` and for StalledError."""
    env = Environment(initial_time=start_s)
    network: Network = (
        FluidNetwork(env, topology, tolerance=tolerance) if engine == "fluid" else BoundNetwork(env, topology)
    )
    starts_s: list[float] = []
    finish_s: list[FloatArray] = []

    def send_all() -> Generator[Event, None, None]:
        """One stage after another, each when the one before has arrived everywhere."""
        for stage in stages:
            flows = stage.flows
            ranks = tuple(np.union1d(flows.sources, flows.destinations).tolist())
            starts_s.append(float(env.now))
            sent = network.send(flows, ranks=ranks, latency_steps=stage.latency_steps)
            yield AllOf(env, list(sent.rank_done.values()))
            finish_s.append(sent.finish_s)

    env.run(until=env.process(send_all()))
    return StagesRun(tuple(starts_s), tuple(finish_s), float(env.now), network.solves)
