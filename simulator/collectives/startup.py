"""What a collective costs before its bytes flow."""

import numpy as np

from simulator.network.flows import Flows
from simulator.topology.topology import Topology


def startup_s(topology: Topology, flows: Flows) -> float:
    """alpha + gamma * sqrt(S), S = the bytes that the busiest rank sends or receives, whichever are more.

    The scale-out terms hold when any flow crosses islands, else the scale-up terms; without flows it is 0.
    """
    if not len(flows):
        return 0.0
    crosses = topology.island_of[flows.sources] != topology.island_of[flows.destinations]
    terms = topology.scale_out_startup if crosses.any() else topology.scale_up_startup
    return terms.after_s(float(_busiest_rank_bytes(flows, topology.world_size)))


def _busiest_rank_bytes(flows: Flows, world_size: int) -> int:
    sent, received = np.zeros(world_size, dtype=np.int64), np.zeros(world_size, dtype=np.int64)
    np.add.at(sent, flows.sources, flows.bytes)
    np.add.at(received, flows.destinations, flows.bytes)
    return int(max(sent.max(), received.max()))
