"""The network's cases: one all-to-all over islands of 8 with 300 GB/s ports and 25 GB/s NICs, one a rank.

Skewed is lognormal(0, 1) x 1 MB a pair, seed 0; even is 1 MB a pair. All run in SimPy, as the engine does.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from simpy import Environment, Event

from benchmarks.case import Case, Figures
from simulator.arrays import FloatArray
from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.network.network import BoundNetwork, FluidNetwork, Network
from simulator.network.simulate import simulate_flows
from simulator.network.symmetric import simulate_kinds
from simulator.network.symmetry import find_kinds, uniform_rows
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology

ISLAND = 8


@dataclass(frozen=True, eq=False)
class AllToAll:
    topology: Topology
    flows: Flows


def skewed(ranks: int) -> AllToAll:
    matrix = np.random.default_rng(0).lognormal(0.0, 1.0, (ranks, ranks))
    matrix *= 1e6
    return AllToAll(cluster(ranks), Flows.from_matrix(matrix.astype(np.int64)))


def even(ranks: int) -> AllToAll:
    return AllToAll(cluster(ranks), Flows.from_matrix(np.full((ranks, ranks), 10**6, np.int64)))


def cluster(ranks: int) -> Topology:
    return uniform_topology(
        islands=ranks // ISLAND, gpus_per_island=ISLAND, scale_up_bytes_per_s=300e9, nic_bytes_per_s=25e9
    )


def fluid(work: AllToAll, tolerance: float | None) -> Figures:
    env = Environment()
    network = FluidNetwork(env, work.topology, tolerance=tolerance)
    return carry(env, network, work)


def bound(work: AllToAll) -> Figures:
    env = Environment()
    return carry(env, BoundNetwork(env, work.topology), work)


def carry(env: Environment, network: Network, work: AllToAll) -> Figures:
    network.send(work.flows, ranks=tuple(range(work.topology.world_size)))
    env.run()
    return {"solves": network.solves, "makespan_ms": env.now * 1e3}


def overlap(work: AllToAll) -> Figures:
    """An iteration's worst: the global all-to-all, and one in each island, each starting at its own time."""
    env = Environment()
    network = FluidNetwork(env, work.topology, tolerance=0.01)
    network.send(work.flows, ranks=tuple(range(work.topology.world_size)))

    def send(flows: Flows, ranks: tuple[int, ...], _: Event) -> None:
        network.send(flows, ranks=ranks)

    for island, ranks in enumerate(work.topology.islands):
        inside = np.zeros((work.topology.world_size, work.topology.world_size), np.int64)
        inside[np.ix_(ranks, ranks)] = 5 * 10**6
        timer = env.timeout(1e-4 * (island + 1))
        timer.callbacks.append(partial(send, Flows.from_matrix(inside), ranks))
    env.run()
    return {"solves": network.solves, "makespan_ms": env.now * 1e3}


def uniform(ranks: int) -> Figures:
    """1 MB a pair, by kinds of flows: no matrix and no flow is ever kept."""
    topology = cluster(ranks)
    kinds = find_kinds(topology, uniform_rows(topology, inside_bytes=10**6, between_bytes=10**6))
    assert kinds is not None
    result = simulate_kinds(kinds)
    return {"solves": result.solves, "kinds": len(kinds.flows), "makespan_ms": result.time_s * 1e3}


def errors(work: AllToAll) -> Figures:
    """How far tolerance 0.01 is from exact, in shares of the exact makespan."""
    exact = simulate_flows(work.topology, work.flows, tolerance=None)
    near = simulate_flows(work.topology, work.flows, tolerance=0.01)
    flow_error = np.abs(near.finish_s - exact.finish_s) / exact.time_s
    rank_error = (
        np.abs(last_arrivals(work, near.finish_s) - last_arrivals(work, exact.finish_s)) / exact.time_s
    )
    return {
        "makespan_error_%": 100 * (near.time_s / exact.time_s - 1),
        "above_bound_%": 100 * (near.time_s / port_bound(work.topology, work.flows).time_s - 1),
        "mean_flow_error_%": 100 * float(flow_error.mean()),
        "worst_flow_error_%": 100 * float(flow_error.max()),
        "worst_rank_error_%": 100 * float(rank_error.max()),
    }


def last_arrivals(work: AllToAll, finish_s: FloatArray) -> FloatArray:
    latest = np.zeros(work.topology.world_size)
    np.maximum.at(latest, work.flows.sources, finish_s)
    np.maximum.at(latest, work.flows.destinations, finish_s)
    return latest


CASES = (
    Case(
        "skewed 128, exact", lambda: skewed(128), lambda work: fluid(work, None), "2 s", 3, {"solves": 16256}
    ),
    Case("skewed 128", lambda: skewed(128), lambda work: fluid(work, 0.01), "0.1 s", 5, {"solves": 100}),
    Case(
        "skewed 1024", lambda: skewed(1024), lambda work: fluid(work, 0.01), "4 s, 1 GiB", 3, {"solves": 100}
    ),
    Case(
        "skewed 4096",
        lambda: skewed(4096),
        lambda work: fluid(work, 0.01),
        "90 s, 4 GiB",
        1,
        {"solves": 100},
        large=True,
    ),
    Case("even 256", lambda: even(256), lambda work: fluid(work, 0.01), "0.1 s", 5, {"solves": 2}),
    Case("even 1024", lambda: even(1024), lambda work: fluid(work, 0.01), "1 s", 3, {"solves": 2}),
    Case("even 256, exact", lambda: even(256), lambda work: fluid(work, None), "", 3, {"solves": 33}),
    Case("overlapping 128", lambda: skewed(128), overlap, "", 3),
    Case("overlapping 1024", lambda: skewed(1024), overlap, "", 1),
    Case("uniform 1024", lambda: 1024, uniform, "", 3, {"solves": 2, "kinds": 2}),
    Case("uniform 16384", lambda: 16384, uniform, "seconds", 1, {"solves": 2, "kinds": 2}, large=True),
    Case("bound 1024", lambda: skewed(1024), bound, "", 3, {"solves": 0}),
    Case("bound 4096", lambda: skewed(4096), bound, "2 s", 1, {"solves": 0}, large=True),
    Case("errors 64", lambda: skewed(64), errors, "0.5 %", 1),
    Case("errors 128", lambda: skewed(128), errors, "0.5 %", 1),
)
