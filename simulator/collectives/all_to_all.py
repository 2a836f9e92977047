"""All-to-all with a byte count for every ordered pair, by one of three algorithms.

    direct        each pair sends straight to its destination: one stage
    hierarchical  gather at a leader of the own island, one exchange for each pair of islands, spread: three
    rail          over NVLink to the own-island rank with the destination's local index, then along the rail: two

Each conserves bytes exactly: what a rank is to receive arrives, whatever hands it passes through. A stage in
which nothing moves is left out.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.all_to_all_hierarchical import hierarchical
from simulator.collectives.all_to_all_rail import rail
from simulator.collectives.communicator import communicator
from simulator.collectives.pairs import stages
from simulator.collectives.stage import Stage
from simulator.network.flows import Flows
from simulator.topology.topology import Topology

AllToAllAlgorithm = Literal["direct", "hierarchical", "rail"]


def all_to_all(
    topology: Topology,
    matrix: IntArray,
    *,
    algorithm: AllToAllAlgorithm = "direct",
    ranks: Sequence[int] | None = None,
) -> tuple[Stage, ...]:
    """Stages that carry `matrix`, [world_size, world_size] int64 over global ranks; its diagonal stays at home.

    With `ranks`, only the entries between those ranks move, and only those ranks pass bytes on.
    """
    members = communicator(topology, ranks)
    inner = Flows.from_matrix(matrix if ranks is None else matrix[np.ix_(members.ranks, members.ranks)])
    if algorithm == "direct":
        sources, destinations = members.ranks[inner.sources], members.ranks[inner.destinations]
        return stages([(Flows(sources, destinations, inner.bytes), 1)])
    return (hierarchical if algorithm == "hierarchical" else rail)(members, inner)
