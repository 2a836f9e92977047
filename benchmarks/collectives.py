"""When hierarchical and rail all-to-alls beat direct ones, and what ring and hierarchical all-reduces cost.

Run from the checkout: python -m benchmarks.collectives. Prints two tables and writes them to docs/data/. All
times are the simulator's, in exact mode, on the shipped 8-GPU H100 nodes; nothing is measured.
"""

from benchmarks.tables import ROOT, Row, write
from simulator.collectives.all_reduce import AllReduceAlgorithm, all_reduce
from simulator.collectives.all_to_all import AllToAllAlgorithm
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.collectives.matrix import even_matrix
from simulator.collectives.run import run_stages
from simulator.collectives.startup import startup_s
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology

NODES = (2, 16, 64)
SIZES_BYTES = tuple(1 << power for power in range(14, 31, 2))
ALL_TO_ALL: tuple[AllToAllAlgorithm, ...] = ("direct", "rail", "hierarchical")
ALL_REDUCE: tuple[AllReduceAlgorithm, ...] = ("flat_ring", "ring", "hierarchical")


def cluster(nodes: int) -> Topology:
    """H100 nodes as shipped, as many as asked for."""
    return load_topology(ROOT / "topologies" / "dgx_h100_16x8.yaml").with_(islands=nodes)


def all_to_all_row(topology: Topology, size_bytes: int) -> Row:
    """Times of an even all-to-all, [microseconds], and the quickest algorithm."""
    matrix = even_matrix(topology, size_bytes)
    times_s: dict[str, float] = {
        algorithm: run_all_to_all(topology, matrix, tolerance=None, algorithm=algorithm).time_s
        for algorithm in ALL_TO_ALL
    }
    return _row(topology, size_bytes, times_s)


def all_reduce_row(topology: Topology, size_bytes: int) -> Row:
    """Times of an all-reduce of all ranks, [microseconds], and the quickest algorithm."""
    times_s: dict[str, float] = {}
    for algorithm in ALL_REDUCE:
        stages = all_reduce(topology, range(topology.world_size), size_bytes, algorithm=algorithm)
        start_s = startup_s(topology, stages[0].flows)
        times_s[algorithm] = run_stages(topology, stages, start_s=start_s).end_s
    return _row(topology, size_bytes, times_s)


def _row(topology: Topology, size_bytes: int, times_s: dict[str, float]) -> Row:
    times_us = {f"{name}_us": round(time_s * 1e6, 1) for name, time_s in times_s.items()}
    best = min(times_s, key=lambda name: times_s[name])
    return {"ranks": topology.world_size, "bytes_per_rank": size_bytes, **times_us, "quickest": best}


def main() -> None:
    """Both tables."""
    points = [(cluster(nodes), size_bytes) for nodes in NODES for size_bytes in SIZES_BYTES]
    write((all_to_all_row(*point) for point in points), "collectives_all_to_all")
    write((all_reduce_row(*point) for point in points), "collectives_all_reduce")


if __name__ == "__main__":
    main()
