"""The rail all-to-all (NCCL calls it PXN): no byte leaves its rail in the scale-out network.

Theory of operation. A rank hands bytes for local index j of another island to local rank j of its own island,
which sends everything of its island for that destination as one message along rail j. Bytes within an island go
straight in the first stage. An island too small to have a local rank j uses j modulo its size.
"""

import numpy as np

from simulator.collectives.communicator import Communicator
from simulator.collectives.pairs import merged, stages
from simulator.collectives.stage import Stage
from simulator.network.flows import Flows


def rail(members: Communicator, flows: Flows) -> tuple[Stage, ...]:
    """Hand-over and exchange for `flows`, whose ends are positions in `members`."""
    here, there = members.island_of[flows.sources], members.island_of[flows.destinations]
    sources, destinations = members.ranks[flows.sources], members.ranks[flows.destinations]
    mate = members.rank_at(here, members.local_index[flows.destinations])
    passing = np.where(here == there, destinations, mate)
    return stages(
        [(merged(sources, passing, flows.bytes), 1), (merged(passing, destinations, flows.bytes), 1)]
    )
