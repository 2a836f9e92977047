"""The expected all-to-alls of one step of one tier, and how long they take.

A row that is asked for costs 8 bytes of id one way, its embedding back, and its gradient the first way again.
Lengths, which travel with the ids, are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.execution import Execution
from simulator.sharding.loads import Geometry, Loads
from simulator.topology.topology import Routes, Startup, Topology

ID_BYTES = 8
STEPS = ("ids", "embeddings", "gradients")
TOPOLOGIES_KEPT = 8  # whose typical routes are known: a planner asks for them thousands of times


@dataclass(frozen=True)
class Asked:
    """What a rank asks of one layout: bytes of ids, embeddings and gradients.

    `pooled` has what the ranks of an island of so many ask for together, by size; without pooling it is empty.
    `busiest` is what the busiest owner of a copy answers, over the mean of its owners.
    """

    bytes_by_step: Mapping[str, float]
    pooled: Mapping[int, Mapping[str, float]]
    busiest: float = 1.0


@dataclass(frozen=True, eq=False)
class Exchange:
    """One all-to-all: what it moves straight, and what moves over scale-up before it and after it."""

    step: str
    loads: Loads
    before: Loads | None = None  # ids pooled, gradients summed
    after: Loads | None = None  # embeddings spread

    @property
    def calls(self) -> tuple[Loads, ...]:
        """The collectives, in order."""
        return tuple(loads for loads in (self.before, self.loads, self.after) if loads is not None)

    def __add__(self, other: "Exchange") -> "Exchange":
        return Exchange(
            self.step,
            self.loads + other.loads,
            _both(self.before, other.before),
            _both(self.after, other.after),
        )


def exchange(step: str, asked: Asked, geometry: Geometry) -> Exchange:
    """What one layout's requests (or answers) move in a step."""
    topology = geometry.topology
    straight_bytes = np.full(topology.world_size, asked.bytes_by_step[step])
    outside_bytes = _pooled_per_rank(step, asked, topology) if asked.pooled else straight_bytes
    loads = geometry.requests(straight_bytes, outside_bytes, busiest=asked.busiest)
    hand_over = None
    if asked.pooled:
        sizes = np.array(topology.island_sizes, dtype=np.float64)[topology.island_of]
        handed_bytes = straight_bytes * geometry.outside_share * (1.0 - 1.0 / sizes)
        hand_over = Loads.both_ways(np.zeros(topology.world_size), handed_bytes)
    if step == "embeddings":
        return Exchange(step, loads.reversed(), after=hand_over)
    return Exchange(step, loads, before=hand_over)


def _pooled_per_rank(step: str, asked: Asked, topology: Topology) -> FloatArray:
    """[world_size] each mate's part of what its island asks for."""
    by_island = [asked.pooled[size][step] / size for size in topology.island_sizes]
    return np.array(by_island)[topology.island_of]


def _both(one: Loads | None, other: Loads | None) -> Loads | None:
    if one is None or other is None:
        return one or other
    return one + other


def stages(loads: Loads, topology: Topology, execution: Execution) -> tuple[Loads, ...]:
    """The stages of an all-to-all under the execution's algorithm, as `collectives.all_to_all` lays them."""
    crosses = bool(loads.nic_out.any())
    if execution.all_to_all == "direct" or not crosses:
        return (loads,)
    hierarchical = execution.all_to_all == "hierarchical"
    uneven = leader_load(topology) if hierarchical else 1.0
    zero = np.zeros(topology.world_size)
    sizes = np.array(topology.island_sizes, dtype=np.float64)[topology.island_of]
    handed_out, handed_in = loads.nic_out * (1.0 - 1.0 / sizes), loads.nic_in * (1.0 - 1.0 / sizes)
    first = Loads(zero, zero, loads.up_out + handed_out, loads.up_in + uneven * handed_out, zero)
    others = topology.island_count - 1
    messages = zero + (np.ceil(uneven * others / min(topology.island_sizes)) if hierarchical else others)
    across = Loads(uneven * loads.nic_out, uneven * loads.nic_in, zero, zero, messages)
    if not hierarchical:
        return (first, across)
    return (first, across, Loads(zero, zero, uneven * handed_in, handed_in, zero))


def leader_load(topology: Topology) -> float:
    """Of the busiest leader of a hierarchical all-to-all, over the mean of an island's ranks.

    An island meets N - 1 others in as many rounds (N, with one off, if N is odd). Rounds have leaders of their
    own while there are enough ranks, and share them in turn beyond.
    """
    islands, size = topology.island_count, min(topology.island_sizes)
    rounds = islands - 1 + islands % 2
    if rounds >= size:
        return size * -(-rounds // size) / (islands - 1)
    return size / ((islands - 1) * (size // rounds))


def bytes_s(loads: Loads, topology: Topology) -> float:
    """Seconds of one stage without its start-up: the busiest port's."""
    return max(loads.nic_s(topology), loads.up_s(topology))


def startup_s(loads: Loads, topology: Topology, *, steps: int = 1) -> float:
    """Start-up, message gaps and latency of one stage of so many messages one after another; 0 if none moves."""
    busiest_bytes = loads.busiest_rank_bytes
    if busiest_bytes == 0:
        return 0.0
    crosses = bool(loads.nic_out.any())
    terms: Startup = topology.scale_out_startup if crosses else topology.scale_up_startup
    route = typical_route(topology, crosses=crosses)
    if route is None:
        return terms.after_s(busiest_bytes)
    gap_bytes = loads.nic_messages * float(route.overhead_bytes[0]) if crosses else loads.nic_messages
    gap_s = float((gap_bytes / topology.inter_island_bytes_per_s).max())
    return terms.after_s(busiest_bytes) + steps * (float(route.latency_s[0]) + gap_s)


@lru_cache(maxsize=TOPOLOGIES_KEPT)
def typical_route(topology: Topology, *, crosses: bool) -> Routes | None:
    """Between the first ranks that are in different islands, or in the same."""
    islands = topology.islands
    inside = next((ranks[:2] for ranks in islands if len(ranks) > 1), None)
    pair = (islands[0][0], islands[1][0]) if crosses else inside
    return None if pair is None else topology.routes([pair[0]], [pair[1]])
