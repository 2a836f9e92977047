"""The hierarchical all-to-all: few, large messages between islands.

Theory of operation. Every pair of islands has leaders, equal local ranks on both sides. A rank hands its bytes
for the other island to the leaders of its own, the leaders exchange, and the leaders of the other island hand
them on: three stages. Bytes within an island go straight in the first.

Leaders are dealt out as the rounds of a round-robin tournament: in each round every island meets at most one
other, so that giving each round its own leaders loads all leaders alike. With fewer rounds than local ranks a
pair has several leaders and a destination's local index picks one of them; with more, rounds share leaders.
With L local ranks and N islands an exchange is one message for each leader, about (N - 1) / L of them for each
rank and at least one, where `direct` sends (N - 1) L and `rail` N - 1.

Islands of unequal size meet on the local ranks that both have.
"""

import numpy as np

from simulator.arrays import IndexArray
from simulator.collectives.communicator import Communicator
from simulator.collectives.pairs import merged, stages
from simulator.collectives.stage import Stage
from simulator.network.flows import Flows


def hierarchical(members: Communicator, flows: Flows) -> tuple[Stage, ...]:
    """Gather, exchange and spread for `flows`, whose ends are positions in `members`."""
    here, there = members.island_of[flows.sources], members.island_of[flows.destinations]
    sources, destinations = members.ranks[flows.sources], members.ranks[flows.destinations]
    crosses = here != there
    leader = _leader_index(members, here, there, members.local_index[flows.destinations])
    sending = np.where(crosses, members.rank_at(here, leader), destinations)
    receiving = np.where(crosses, members.rank_at(there, leader), destinations)
    gather = merged(sources, sending, flows.bytes)
    exchange = merged(sending, receiving, flows.bytes)
    spread = merged(receiving, destinations, flows.bytes)
    return stages([(gather, 1), (exchange, 1), (spread, 1)])


def _leader_index(
    members: Communicator, here: IndexArray, there: IndexArray, destination_index: IndexArray
) -> IndexArray:
    """[flows] local index of the two leaders that a flow passes."""
    rounds = _rounds(len(members.islands))
    common = np.minimum(members.island_sizes[here], members.island_sizes[there])
    leaders = np.maximum(common // rounds, 1)
    index: IndexArray = (
        _round_of(len(members.islands), here, there) * leaders + destination_index % leaders
    ) % common
    return index


def _rounds(islands: int) -> int:
    return max(islands - 1 + islands % 2, 1)


def _round_of(islands: int, here: IndexArray, there: IndexArray) -> IndexArray:
    """The round in which two islands meet (circle method): the last of an even number stands in the middle."""
    rounds = _rounds(islands)
    first, second = np.minimum(here, there), np.maximum(here, there)
    meeting: IndexArray = np.where(second == rounds, 2 * first, first + second) % rounds
    return meeting
