"""The compiled parts of advancing flows in time: who finishes next, who finishes within a step, and when.

Theory of operation of a step. The *amount* each flow moves in a step of given length is one max-min fair sharing
of what the resources can move in it, no flow getting more than it has left (`solver.fill` with those limits). So
a step conserves bytes, never exceeds a capacity, and leaves nothing unused that a waiting flow could have had.

Within the step, a resource serves the flows that finish in it and those that it held to its level like a
processor that is shared equally. The flows held elsewhere take no more than that either, and no more than an even
pace through the step. A flow that has v bytes left is then through at resource r after the lesser of

    step * (sum over finishing flows of min(v, theirs) + v * all others) / budget_r
    step * (sum over finishing flows of min(v, theirs) + v * held_r) / (budget_r - amounts of those held elsewhere)

and finishes when it is through everywhere. With one bottleneck these times are exact; otherwise they err by less
than the step. At every instant within the step, what finished flows moved fits the capacities.
"""

import numpy as np

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.compiled import compiled
from simulator.network.solver import Levels


@compiled
def _shared_equally(
    slots: IndexArray, remaining: FloatArray, routes: IndexArray, levels: Levels
) -> tuple[IntArray, FloatArray]:
    """Who finishes or is held at each resource [resources], and what they and nobody else get of it."""
    waiting, shared = np.zeros(len(levels.level), np.int64), levels.spare.copy()
    for slot in slots:
        for hop in range(routes.shape[1]):
            r = routes[slot, hop]
            if r < 0:
                break
            waiting[r] += 1
            shared[r] += remaining[slot]
    for r in range(len(shared)):
        if levels.held[r] > 0:
            waiting[r] += levels.held[r]
            shared[r] += levels.held[r] * levels.level[r]
    return waiting, shared


@compiled
def finish_within(
    slots: IndexArray,
    remaining: FloatArray,
    caps_bytes_per_s: FloatArray,
    routes: IndexArray,
    live: IntArray,
    capacity_bytes_per_s: FloatArray,
    levels: Levels,
    step_s: float,
) -> FloatArray:
    """When in the step each of `slots`, ascending by their remaining bytes, is through.

    `live` [resources] counts the flows across each.
    """
    waiting, shared = _shared_equally(slots, remaining, routes, levels)
    sharing, budget = live.copy(), capacity_bytes_per_s * step_s
    through = np.zeros(len(shared))
    finish_s = np.empty(len(slots))
    for k in range(len(slots)):
        left = remaining[slots[k]]
        share_of_step = left / (caps_bytes_per_s[slots[k]] * step_s)
        for hop in range(routes.shape[1]):
            r = routes[slots[k], hop]
            if r < 0:
                break
            even_pace = (through[r] + left * waiting[r]) / shared[r]
            equal_share = (through[r] + left * sharing[r]) / budget[r]
            if left > 0:
                share_of_step = max(share_of_step, min(even_pace, equal_share))
            through[r] += left
            waiting[r] -= 1
            sharing[r] -= 1
        finish_s[k] = step_s * min(share_of_step, 1.0)
    return finish_s


@compiled
def backlog(slots: IndexArray, remaining: FloatArray, routes: IndexArray, resources: int) -> FloatArray:
    """The bytes that `slots` have left, summed over the flows of each resource."""
    total = np.zeros(resources)
    for slot in slots:
        for hop in range(routes.shape[1]):
            r = routes[slot, hop]
            if r < 0:
                break
            total[r] += remaining[slot]
    return total


@compiled
def _root(parents: IndexArray, resource: int) -> int:
    while parents[resource] != resource:
        parents[resource] = parents[parents[resource]]
        resource = parents[resource]
    return resource


@compiled
def components(routes: IndexArray, resources: int) -> IndexArray:
    """For each resource the least one that it is joined to by routes, directly or by way of others."""
    parents = np.arange(resources).astype(np.int32)
    for slot in range(len(routes)):
        first = _root(parents, routes[slot, 0])
        for hop in range(1, routes.shape[1]):
            if routes[slot, hop] < 0:
                break
            other = _root(parents, routes[slot, hop])
            parents[max(first, other)] = min(first, other)
            first = min(first, other)
    for resource in range(resources):
        parents[resource] = _root(parents, resource)
    return parents
