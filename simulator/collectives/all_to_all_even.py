"""An even all-to-all, pair by pair or, on clusters too large for that, with one flow of each kind for all of it.

By kinds every pair gets the same whole number of bytes, the one next to the exact share, directly; the result is
exact. It takes a symmetric cluster whose capacities do not change in time.
"""

import numpy as np

from simulator.collectives.all_to_all import AllToAllAlgorithm
from simulator.collectives.all_to_all_run import AllToAllFigures, run_all_to_all
from simulator.collectives.matrix import even_matrix
from simulator.collectives.run import Engine
from simulator.network.flows import Flows
from simulator.network.symmetric import simulate_kinds
from simulator.network.symmetry import Kinds, find_kinds, uniform_rows
from simulator.topology.topology import Topology

FEW_RANKS = 2_048  # up to here a matrix is quick enough


def run_even_all_to_all(
    topology: Topology,
    bytes_per_rank: int,
    *,
    tolerance: float | None = 0.01,
    algorithm: AllToAllAlgorithm = "direct",
    engine: Engine = "fluid",
    each_flow: bool = False,
) -> AllToAllFigures:
    """What each rank sends is `bytes_per_rank`, its own share included, as nccl-tests counts.

    With `each_flow` the result is an `AllToAllResult`, whatever the cluster's size.
    """
    if topology.world_size > FEW_RANKS and algorithm == "direct" and engine == "fluid" and not each_flow:
        figures = run_by_kinds(topology, bytes_per_rank)
        if figures is not None:
            return figures
    matrix = even_matrix(topology, bytes_per_rank)
    return run_all_to_all(topology, matrix, tolerance=tolerance, algorithm=algorithm, engine=engine)


def run_by_kinds(topology: Topology, bytes_per_rank: int) -> AllToAllFigures | None:
    """`bytes_per_rank` as above, direct and exact.

    None where the cluster is not symmetric enough, or its capacities change in time: then every pair counts.
    """
    world_size = topology.world_size
    pair_bytes = (2 * bytes_per_rank + world_size) // (2 * world_size)
    if pair_bytes == 0:
        return None
    kinds = find_kinds(topology, uniform_rows(topology, inside_bytes=pair_bytes, between_bytes=pair_bytes))
    if kinds is None:
        return None
    found = simulate_kinds(kinds)
    start_s = float(topology.late_s.max()) + uniform_startup_s(topology, pair_bytes)
    time_s = max(start_s + found.time_s, found.bound_s)
    algbw = pair_bytes * world_size / time_s
    return AllToAllFigures(
        time_s=time_s,
        bound_s=found.bound_s,
        rank_finish_s=start_s + found.rank_finish_s,
        algbw_bytes_per_s=algbw,
        busbw_bytes_per_s=algbw * (world_size - 1) / world_size,
        bottleneck=busiest(topology, kinds),
        flow_count=int(kinds.flows.sum()),
        solves=found.solves,
    )


def uniform_startup_s(topology: Topology, pair_bytes: int) -> float:
    """The start-up time of the whole: that of what one rank sends."""
    terms = topology.scale_out_startup if topology.island_count > 1 else topology.scale_up_startup
    return terms.after_s(float(pair_bytes) * (topology.world_size - 1))


def busiest(topology: Topology, kinds: Kinds) -> str:
    """One resource of the colour that takes longest, or the pair at its cap if that takes longer."""
    resource_s = kinds.volume_bytes @ kinds.crossings / kinds.capacity_bytes_per_s
    pair_s = kinds.volume_bytes / kinds.routes.cap_bytes_per_s
    if pair_s.max() > resource_s.max():
        example: Flows = kinds.example
        slowest = int(pair_s.argmax())
        return f"pair {example.sources[slowest]}->{example.destinations[slowest]}"
    return topology.resources.names[int(kinds.resources[np.argmax(resource_s)])]
