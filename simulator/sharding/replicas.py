"""The expected synchronisation of copies: what it moves in each of its stages, and how long it takes.

It follows `engine.synchronise` stage by stage, with whole islands in place of single ranks:

    dense, whole copies       hierarchical: reduce-scatter in islands, all-reduce across, all-gather in islands;
                              flat: a ring for each local index over all ranks
    dense, sharded copies     a ring over the copies for each run of rows among its owners
    sparse, whole copies      hierarchical: hand over in islands, all-gather across, all-gather in islands;
                              flat: an all-gather in rings over all ranks
    sparse, sharded copies    each owner to the owners of the same rows in all other copies
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.sharding.exchange import bytes_s, typical_route
from simulator.sharding.execution import Execution
from simulator.sharding.loads import Loads
from simulator.sharding.plan import Layout
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class SyncStage:
    """Loads of one stage, how many messages of it follow one another, and whether each rank has one peer."""

    loads: Loads
    steps: int = 1
    ring: bool = False

    def bytes_s(self, topology: Topology) -> float:
        """Seconds of the busiest port; a ring's bytes to one peer go no faster than one pair can."""
        if not self.ring:
            return bytes_s(self.loads, topology)
        nic_s = self.loads.nic_out.max() / _pair_cap(topology, crosses=True)
        up_s = self.loads.up_out.max() / _pair_cap(topology, crosses=False)
        return max(bytes_s(self.loads, topology), float(nic_s), float(up_s))


def _pair_cap(topology: Topology, *, crosses: bool) -> float:
    route = typical_route(topology, crosses=crosses) if topology.island_count > 1 or not crosses else None
    return np.inf if route is None else float(route.cap_bytes_per_s[0])


@dataclass(frozen=True)
class Copied:
    """What one copy of a layout exchanges: all of it, or what so many ranks together touched of it."""

    copy_bytes: float
    touched_bytes: Mapping[int, float]  # by number of ranks


def sync_stages(
    layout: Layout, copied: Copied, topology: Topology, execution: Execution
) -> tuple[SyncStage, ...]:
    """The stages of one layout's synchronisation; none when it has one copy."""
    if len(layout.copies) < 2:
        return ()
    whole = all(len(owners) == 1 for owners in layout.copies)
    if execution.sync == "dense":
        if not whole:
            return (_rings_over_copies(layout, copied.copy_bytes, topology),)
        if execution.sync_algorithm == "hierarchical":
            return _dense_hierarchical(copied.copy_bytes, topology)
        return (_rings_over_ranks(2.0 * copied.copy_bytes, topology),)
    if not whole:
        return (_exchange_between_copies(layout, copied.touched_bytes, topology),)
    if execution.sync_algorithm == "hierarchical":
        return _sparse_hierarchical(copied.touched_bytes, topology)
    return (_rings_over_ranks(copied.touched_bytes[1] * topology.world_size, topology),)


def _sizes(topology: Topology) -> FloatArray:
    """[world_size] ranks of each rank's island."""
    return np.array(topology.island_sizes, dtype=np.float64)[topology.island_of]


def _within(up: FloatArray, topology: Topology) -> SyncStage:
    loads = Loads.both_ways(np.zeros(topology.world_size), up)
    return SyncStage(loads, max(topology.island_sizes) - 1, ring=True)


def _across(nic: FloatArray, topology: Topology, *, steps: int) -> SyncStage:
    return SyncStage(Loads.both_ways(nic, np.zeros(topology.world_size)), steps, ring=True)


def _dense_hierarchical(copy_bytes: float, topology: Topology) -> tuple[SyncStage, ...]:
    sizes, islands = _sizes(topology), topology.island_count
    within = _within(copy_bytes * (1.0 - 1.0 / sizes), topology)
    across = _across(2.0 * (islands - 1) / islands * copy_bytes / sizes, topology, steps=2 * (islands - 1))
    return (within, across, within) if islands > 1 else (within, within)


def _sparse_hierarchical(touched: Mapping[int, float], topology: Topology) -> tuple[SyncStage, ...]:
    sizes = _sizes(topology)
    pooled = [touched[size] for size in topology.island_sizes]
    others = (sum(pooled) - np.array(pooled))[topology.island_of]
    hand_over = SyncStage(Loads.both_ways(np.zeros(topology.world_size), touched[1] * (1.0 - 1.0 / sizes)))
    spread = _within(sum(pooled) * (1.0 - 1.0 / sizes), topology)
    if topology.island_count == 1:
        return (hand_over, spread)
    return (hand_over, _across(others / sizes, topology, steps=topology.island_count - 1), spread)


def _rings_over_ranks(ring_bytes: float, topology: Topology) -> SyncStage:
    """A ring for each local index through all ranks; each edge carries (W - 1) / W of its ring's bytes."""
    ranks, rings = topology.world_size, min(topology.island_sizes)
    edge_bytes = ring_bytes / rings * (ranks - 1) / ranks
    crossings = 1 if topology.island_count > 1 else 0
    nic = np.full(ranks, crossings * edge_bytes)
    up = np.full(ranks, (rings - crossings) * edge_bytes)
    return SyncStage(Loads.both_ways(nic, up), ranks - 1, ring=True)


def _rings_over_copies(layout: Layout, copy_bytes: float, topology: Topology) -> SyncStage:
    """Copies in the order of their islands; an owner passes its part to its counterpart in the next copy."""
    first = topology.island_of[[owners[0] for owners in layout.copies]]
    order = [layout.copies[copy] for copy in np.argsort(first, kind="stable")]
    copies = len(order)
    loads = Loads.none(topology.world_size)
    for place, owners in enumerate(order):
        edge_bytes = 2.0 * (copies - 1) / copies * copy_bytes / len(owners)
        loads += _passed_on(owners, order[(place + 1) % copies], edge_bytes, topology)
    return SyncStage(loads, 2 * (copies - 1), ring=True)


def _passed_on(
    owners: tuple[int, ...], following: tuple[int, ...], edge_bytes: float, topology: Topology
) -> Loads:
    """What owners send, and, since a ring passes on what comes in, receive in the same way."""
    counterpart = np.array(following)[np.arange(len(owners)) * len(following) // len(owners)]
    senders = np.array(owners)
    crosses = topology.island_of[senders] != topology.island_of[counterpart]
    nic, up = np.zeros(topology.world_size), np.zeros(topology.world_size)
    nic[senders] = np.where(crosses, edge_bytes, 0.0)
    up[senders] = np.where(crosses, 0.0, edge_bytes)
    return Loads.both_ways(nic, up)


def _exchange_between_copies(layout: Layout, touched: Mapping[int, float], topology: Topology) -> SyncStage:
    """Each owner sends its part of what its copy touched to every other copy."""
    readers = np.bincount(layout.copy_of, minlength=len(layout.copies))
    sent = np.array([touched[count] for count in readers.tolist()])
    nic_out, nic_in, up_out, up_in, messages = (np.zeros(topology.world_size) for _ in range(5))
    islands = _islands_of_copies(layout, topology)
    for copy, owners in enumerate(layout.copies):
        near = np.array([len(islands[copy] & other) > 0 for other in islands])
        near[copy] = False
        far = ~near
        far[copy] = False
        part = 1.0 / len(owners)
        nic_out[list(owners)] = sent[copy] * part * far.sum()
        up_out[list(owners)] = sent[copy] * part * near.sum()
        nic_in[list(owners)] = sent[far].sum() * part
        up_in[list(owners)] = sent[near].sum() * part
        messages[list(owners)] = far.sum()
    return SyncStage(Loads(nic_out, nic_in, up_out, up_in, messages))


def _islands_of_copies(layout: Layout, topology: Topology) -> list[frozenset[int]]:
    island_of: IndexArray = topology.island_of
    return [frozenset(island_of[list(owners)].tolist()) for owners in layout.copies]
