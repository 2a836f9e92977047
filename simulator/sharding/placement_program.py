"""Places whole items on ranks by a mixed-integer program: the most loaded rank carries the least that is possible.

    minimise z    subject to    sum_i load_i x_ij <= z,  sum_i memory_i x_ij <= capacity,  sum_j x_ij = 1,
                                x binary, and x_ij = 0 for j > i (ranks are alike, so item i opens at most rank i)

HiGHS is stopped by a number of nodes and a gap, never by the clock, so that runs repeat.
"""

from collections.abc import Sequence

import numpy as np

from simulator.arrays import FloatArray
from simulator.sharding.balance import Item, busiest_first, least_loaded
from simulator.topology.topology import Topology

RELATIVE_GAP = 1e-3
MOST_VARIABLES = 20_000


def place_whole(
    items: Sequence[Item], topology: Topology, capacity_bytes: int, *, nodes: int
) -> tuple[list[int], str]:
    """The rank of each item, and which way found it. Raises UserError naming an item that fits nowhere."""
    greedy = least_loaded(items, topology.island_of.tolist(), capacity_bytes)
    loads = np.array([item.load for item in items], dtype=np.float64)
    bound = max(float(loads.max()), float(loads.sum()) / topology.world_size)
    reached = _most_loaded(greedy, loads)
    if reached <= bound * (1 + RELATIVE_GAP):
        return greedy, "placed the busiest first, which no placement beats"
    if len(items) * min(len(items), topology.world_size) > MOST_VARIABLES:
        return greedy, f"placed the busiest first: more than {MOST_VARIABLES} variables for a program"
    places = _solve(items, topology.world_size, capacity_bytes, scale=bound, nodes=nodes)
    if places is None or _most_loaded(places, loads) >= reached * (1 - 1e-9):
        return greedy, "placed the busiest first, which the mixed-integer program does not beat"
    spread = np.lexsort(
        (topology.island_of, topology.local_index)
    )  # neighbours in number on different islands
    gain = 1 - _most_loaded(places, loads) / reached
    return [
        int(spread[place]) for place in places
    ], f"placed by mixed-integer program, {100 * gain:.1f} % below greedy"


def _most_loaded(places: Sequence[int], loads: FloatArray) -> float:
    return float(np.bincount(places, loads).max())


def _solve(
    items: Sequence[Item], ranks: int, capacity_bytes: int, *, scale: float, nodes: int
) -> list[int] | None:
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    order = busiest_first(items)
    bins = min(len(items), ranks)
    count = len(items) * bins
    loads = np.array([float(np.max(items[index].load)) for index in order]) / scale
    memory = np.array([int(np.max(items[index].memory_bytes)) for index in order]) / capacity_bytes
    by_bin = sparse.hstack([sparse.kron(loads[None, :], sparse.eye(bins)), -np.ones((bins, 1))])
    held = sparse.hstack([sparse.kron(memory[None, :], sparse.eye(bins)), sparse.csr_matrix((bins, 1))])
    once = sparse.kron(sparse.eye(len(items)), np.ones((1, bins)))
    once = sparse.hstack([once, sparse.csr_matrix((len(items), 1))])
    opens = np.arange(bins)[None, :] <= np.arange(len(items))[:, None]
    found = milp(
        np.append(np.zeros(count), 1.0),
        integrality=np.append(np.ones(count), 0),
        bounds=Bounds(np.zeros(count + 1), np.append(opens.ravel().astype(float), np.inf)),
        constraints=[
            LinearConstraint(by_bin, -np.inf, 0.0),
            LinearConstraint(held, -np.inf, 1.0),
            LinearConstraint(once, 1.0, 1.0),
        ],
        options={"node_limit": nodes, "mip_rel_gap": RELATIVE_GAP},
    )
    if found.x is None:
        return None
    chosen = np.argmax(found.x[:count].reshape(len(items), bins), axis=1)
    places = [0] * len(items)
    for position, index in enumerate(order):
        places[index] = int(chosen[position])
    return places
