"""Max-min fair sharing by progressive filling, compiled.

Theory of operation. All flows rise together from zero. When a resource is full, the flows on it that still rise
stop at the common *level* reached; a flow that reaches its own limit stops there. What stopped flows do not take
is left to the rest. In the result each flow either has its limit or crosses a full resource on which no flow is
faster: this is what max-min fair means, and the result is unique.

The resource to fill next is the one with the least *share*: what is left of it, divided by the flows that still
rise on it. Shares only grow as flows stop, so the heap may hold outdated ones; they are lower bounds, and the one
on top is corrected when it is looked at. A resource on whose share some rising flow has its limit first stops
those flows. Levels that differ by less than `TIE` become one, so that like flows get the same to the last bit.

Amounts are bytes a second when rates are asked for, and bytes when a step is to be shared out (`steps.py`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.compiled import compiled

TIE = 1e-12  # relative difference below which levels and finishing times count as equal


class Members(NamedTuple):
    """Which flow crosses which resource. A flow's row in the arrays is its *slot*."""

    routes: IndexArray  # [slots, hops] resources, -1 pads the end
    offsets: IntArray  # [resources + 1]
    slots: IndexArray  # the flows of resource r are slots[offsets[r] : offsets[r + 1]]


class Levels(NamedTuple):
    """What filling leaves behind at each resource."""

    level: FloatArray  # [resources] what the flows got that it stopped; inf where it stopped none
    held: IntArray  # [resources] how many it stopped
    spare: FloatArray  # [resources] amount left over


class _Filling(NamedTuple):
    """The state of one filling."""

    amounts: FloatArray  # [slots] what each stopped flow gets
    rises: NDArray[np.uint8]  # [slots] 1 until the flow is stopped
    rising: IntArray  # [resources] how many flows still rise
    spare: FloatArray  # [resources] amount left
    least: FloatArray  # [resources] a lower bound of the limits of rising flows
    found: IndexArray  # scratch for the rising flows of one resource


@compiled
def index_members(routes: IndexArray, resources: int) -> tuple[IntArray, IndexArray]:
    """The `offsets` and `slots` of `Members`, flows in order."""
    offsets = np.zeros(resources + 1, np.int64)
    for slot in range(len(routes)):
        for hop in range(routes.shape[1]):
            r = routes[slot, hop]
            if r < 0:
                break
            offsets[r + 1] += 1
    for r in range(resources):
        offsets[r + 1] += offsets[r]
    cursor = offsets[:-1].copy()
    slots = np.empty(offsets[resources], np.int32)
    for slot in range(len(routes)):
        for hop in range(routes.shape[1]):
            r = routes[slot, hop]
            if r < 0:
                break
            slots[cursor[r]] = slot
            cursor[r] += 1
    return offsets, slots


@compiled
def _begin(live: IntArray, budget: FloatArray, amounts: FloatArray, rises: NDArray[np.uint8]) -> _Filling:
    most = 0
    for count in live:
        most = max(most, count)
    least, found = np.full(len(budget), np.inf), np.empty(most + 1, np.int32)
    return _Filling(amounts, rises, live.copy(), budget.copy(), least, found)


@compiled
def _stop(slot: int, amount: float, routes: IndexArray, filling: _Filling) -> None:
    filling.amounts[slot] = amount
    filling.rises[slot] = 0
    for hop in range(routes.shape[1]):
        r = routes[slot, hop]
        if r < 0:
            break
        filling.spare[r] -= amount
        filling.rising[r] -= 1


@compiled
def _stop_surely_limited(limits: FloatArray, routes: IndexArray, filling: _Filling) -> None:
    """Stop the flows whose limit is within every share of their route: none ends below the least of those."""
    share = filling.spare / filling.rising
    for slot in range(len(routes)):
        if filling.rises[slot]:
            lowest = np.inf
            for hop in range(routes.shape[1]):
                r = routes[slot, hop]
                if r < 0:
                    break
                lowest = min(lowest, share[r])
            if limits[slot] <= lowest:
                _stop(slot, limits[slot], routes, filling)
            else:
                for hop in range(routes.shape[1]):
                    r = routes[slot, hop]
                    if r < 0:
                        break
                    filling.least[r] = min(filling.least[r], limits[slot])


@compiled
def _gather_rising(resource: int, members: Members, filling: _Filling) -> int:
    """Put the rising flows of a resource in `found`; without a branch, which would be guessed wrong half the time."""
    count = 0
    for k in range(members.offsets[resource], members.offsets[resource + 1]):
        slot = members.slots[k]
        filling.found[count] = slot
        count += filling.rises[slot]
    return count


@compiled
def _stop_limited(
    resource: int, share: float, limits: FloatArray, members: Members, filling: _Filling
) -> None:
    """Stop the flows of a resource that have their limit within its share."""
    least = np.inf
    for k in range(_gather_rising(resource, members, filling)):
        slot = filling.found[k]
        if limits[slot] <= share:
            _stop(slot, limits[slot], members.routes, filling)
        else:
            least = min(least, limits[slot])
    filling.least[resource] = least


@compiled
def _sift_down(keys: FloatArray, items: IndexArray, size: int, at: int) -> None:
    """Restore the heap below `at`; keys[size] is inf."""
    key, item = keys[at], items[at]
    child = 2 * at + 1
    while child < size:
        child += keys[child + 1] < keys[child]
        if keys[child] >= key:
            break
        keys[at], items[at] = keys[child], items[child]
        at, child = child, 2 * child + 1
    keys[at], items[at] = key, item


@compiled
def _heap_of_shares(filling: _Filling) -> tuple[FloatArray, IndexArray]:
    items = np.flatnonzero(filling.rising > 0).astype(np.int32)
    keys = np.full(len(items) + 1, np.inf)
    for at in range(len(items)):
        keys[at] = filling.spare[items[at]] / filling.rising[items[at]]
    for at in range(len(items) // 2 - 1, -1, -1):
        _sift_down(keys, items, len(items), at)
    return keys, items


@compiled
def fill(
    members: Members,
    live: IntArray,
    budget: FloatArray,
    limits: FloatArray,
    amounts: FloatArray,
    rises: NDArray[np.uint8],
) -> Levels:
    """Share `budget` [resources] among the flows with `rises` [slots] 1, of which each resource has `live`.

    `limits` [slots] may be empty: no flow has one. Writes `amounts` [slots] and leaves `rises` all 0.
    """
    filling = _begin(live, budget, amounts, rises)
    if len(limits) > 0:
        _stop_surely_limited(limits, members.routes, filling)
    levels = Levels(np.full(len(budget), np.inf), np.zeros(len(budget), np.int64), filling.spare)
    keys, items = _heap_of_shares(filling)
    size, reached = len(items), 0.0
    while size > 0:
        resource = items[0]
        if filling.rising[resource] > 0:
            share = max(filling.spare[resource], 0.0) / filling.rising[resource]
            if share > keys[0] * (1 + TIE):
                keys[0] = share
                _sift_down(keys, items, size, 0)
                continue
            if filling.least[resource] <= share * (1 + TIE):
                _stop_limited(resource, share * (1 + TIE), limits, members, filling)
                continue
            if share > reached * (1 + TIE):
                reached = share
            levels.level[resource], levels.held[resource] = reached, filling.rising[resource]
            for k in range(_gather_rising(resource, members, filling)):
                _stop(filling.found[k], reached, members.routes, filling)
        size -= 1
        keys[0], items[0] = keys[size], items[size]
        keys[size] = np.inf
        _sift_down(keys, items, size, 0)
    return levels


@compiled
def first_finish(remaining: FloatArray, amounts: FloatArray) -> float:
    """Multiples of the amounts' time until the first flow is through; inf when none moves."""
    first = np.inf
    for slot in range(len(remaining)):
        needed = remaining[slot] / amounts[slot] if remaining[slot] > 0 else 0.0
        first = min(first, needed)
    return first


@compiled
def finished(remaining: FloatArray, amounts: FloatArray, multiple: float) -> IndexArray:
    """Slots that are through when each has moved `multiple` of its amount; all are if they tie."""
    found = np.empty(len(remaining), np.int32)
    count = 0
    for slot in range(len(remaining)):
        found[count] = slot
        count += remaining[slot] <= amounts[slot] * multiple * (1 + TIE)
    return found[:count].copy()


@compiled
def move(remaining: FloatArray, amounts: FloatArray, multiple: float) -> None:
    """Take `multiple` of its amount from what each flow has left."""
    for slot in range(len(remaining)):
        remaining[slot] = max(remaining[slot] - amounts[slot] * multiple, 0.0)


@compiled
def retire(
    slots: IndexArray, remaining: FloatArray, amounts: FloatArray, routes: IndexArray, live: IntArray
) -> None:
    """Mark slots as through: nothing is left that could finish, and their resources have a flow less."""
    for slot in slots:
        remaining[slot] = np.inf
        amounts[slot] = 0.0
        for hop in range(routes.shape[1]):
            r = routes[slot, hop]
            if r < 0:
                break
            live[r] -= 1


@compiled
def _mark_in_flight(remaining: FloatArray, rises: NDArray[np.uint8]) -> bool:
    """Whether any is."""
    count = 0
    for slot in range(len(remaining)):
        rises[slot] = remaining[slot] < np.inf
        count += rises[slot]
    return count > 0


@compiled
def run(
    members: Members,
    live: IntArray,
    capacity: FloatArray,
    limits: FloatArray,
    remaining: FloatArray,
    amounts: FloatArray,
    start_s: float,
    until_s: float,
    most_solves: int,
) -> tuple[IndexArray, FloatArray, float, int]:
    """Go from finish to finish, at exact rates, at most to `until_s`; `remaining` and `live` go along.

    Returns the slots that are through, when, how far time has come, and the number of solutions.
    """
    slots, finish_s = np.empty(len(remaining), np.int32), np.empty(len(remaining))
    rises = np.empty(len(remaining), np.uint8)
    now_s, count, solves = start_s, 0, 0
    while solves < most_solves and now_s < until_s:
        if not _mark_in_flight(remaining, rises):
            break
        fill(members, live, capacity, limits, amounts, rises)
        solves += 1
        step_s = first_finish(remaining, amounts)
        if now_s + step_s > until_s or step_s == np.inf:
            if until_s < np.inf:
                move(remaining, amounts, until_s - now_s)
            now_s = until_s
            break
        through = finished(remaining, amounts, step_s)
        move(remaining, amounts, step_s)
        retire(through, remaining, amounts, members.routes, live)
        now_s += step_s
        slots[count : count + len(through)] = through
        finish_s[count : count + len(through)] = now_s
        count += len(through)
    return slots[:count].copy(), finish_s[:count].copy(), now_s, solves
