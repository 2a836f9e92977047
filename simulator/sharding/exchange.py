"""The expected all-to-alls of one step of one tier, and how long they take.

A row that is asked for costs 8 bytes of id one way, its embedding back, and its gradient the first way again.
Lengths, which travel with the ids, are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.execution import Execution
from simulator.sharding.loads import Geometry, Loads
from simulator.topology.topology import Startup, Topology

ID_BYTES = 8
STEPS = ("ids", "embeddings", "gradients")


@dataclass(frozen=True)
class Asked:
    """What a rank asks of one layout: bytes of ids, embeddings and gradients.

    `pooled` has what the ranks of an island of so many ask for together, by size; without pooling it is empty.
    """

    bytes_by_step: Mapping[str, float]
    pooled: Mapping[int, Mapping[str, float]]


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
    loads = geometry.requests(straight_bytes, outside_bytes)
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
    zero = np.zeros(topology.world_size)
    sizes = np.array(topology.island_sizes, dtype=np.float64)[topology.island_of]
    handed_out, handed_in = loads.nic_out * (1.0 - 1.0 / sizes), loads.nic_in * (1.0 - 1.0 / sizes)
    first = Loads(zero, zero, loads.up_out + handed_out, loads.up_in + handed_out)
    across = Loads(loads.nic_out, loads.nic_in, zero, zero)
    if execution.all_to_all == "rail":
        return (first, across)
    return (first, across, Loads(zero, zero, handed_in, handed_in))


def bytes_s(loads: Loads, topology: Topology) -> float:
    """Seconds of one stage without its start-up: the busiest port's."""
    return max(loads.nic_s(topology), loads.up_s(topology))


def startup_s(loads: Loads, topology: Topology, *, steps: int = 1) -> float:
    """Start-up and latency of one stage of so many messages one after another; nothing when nothing moves."""
    busiest_bytes = loads.busiest_rank_bytes
    if busiest_bytes == 0:
        return 0.0
    crosses = bool(loads.nic_out.any())
    terms: Startup = topology.scale_out_startup if crosses else topology.scale_up_startup
    return terms.after_s(busiest_bytes) + steps * latency_s(topology, crosses=crosses)


def latency_s(topology: Topology, *, crosses: bool) -> float:
    """Of one message between the first ranks that are in different islands, or in the same."""
    islands = topology.islands
    pair = (islands[0][0], islands[1][0]) if crosses else next((i[:2] for i in islands if len(i) > 1), None)
    return 0.0 if pair is None else float(topology.routes([pair[0]], [pair[1]]).latency_s[0])
