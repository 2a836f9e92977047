"""The port bound of each collective of a program, and the bytes that it puts on each resource."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import IntArray
from simulator.engine.program import Collective, Program
from simulator.network.bound import port_bound
from simulator.sums import added
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class CollectiveBound:
    """The port bounds of a collective's stages, which run one after another, added up."""

    time_s: float
    bottleneck: str  # that of the longest stage; "none" without traffic
    bytes: int  # of all stages
    resource_bytes: IntArray  # [resources] of all stages


def collective_bounds(program: Program, topology: Topology) -> dict[int, CollectiveBound]:
    """By the operation's index."""
    return {
        index: collective_bound(operation, topology)
        for index, operation in enumerate(program.operations)
        if isinstance(operation, Collective)
    }


def collective_bound(collective: Collective, topology: Topology) -> CollectiveBound:
    """Its stages' port bounds, one after another; the bottleneck is the longest stage's."""
    bounds = [port_bound(topology, stage.flows) for stage in collective.stages]
    if not bounds:
        return CollectiveBound(0.0, "none", 0, np.zeros(len(topology.resources.names), dtype=np.int64))
    longest = max(bounds, key=lambda bound: bound.time_s)
    return CollectiveBound(
        time_s=added(bound.time_s for bound in bounds),
        bottleneck=longest.bottleneck,
        bytes=sum(int(stage.flows.bytes.sum()) for stage in collective.stages),
        resource_bytes=np.sum([bound.resource_bytes for bound in bounds], axis=0),
    )
