"""Lanes of a timeline: some ranks' parts in every operation, chosen so that a page can show a cluster of any size.

A rank's slowness is the time that it moves bytes, waiting left out: who waits long is quick. Up to `MOST_LANES` ranks
are all shown. Of more, each island's slowest, median and fastest rank are; of more than `MOST_ISLANDS` islands, those
at even steps from the one with the slowest rank to the one whose slowest rank is quickest. Ties go to lower ranks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray
from simulator.engine.program import Compute
from simulator.engine.timeline import Timeline

MOST_LANES = 48
MOST_ISLANDS = 16
SLOWEST, MEDIAN, FASTEST = "slowest", "median", "fastest"  # of an island


@dataclass(frozen=True)
class Lane:
    """A rank that is shown, and what it is in its island; most of a small cluster are nothing particular."""

    rank: int
    island: int
    role: str


@dataclass(frozen=True)
class LaneSlice:
    """A lane's part in one operation."""

    rank: int
    island: int
    role: str
    stream: str
    kind: str  # "compute", "transfer" or "collective"
    operation: str
    enter_s: float
    start_s: float
    end_s: float


def lanes(timeline: Timeline, islands: Sequence[Sequence[int]]) -> tuple[Lane, ...]:
    """The ranks to show, by island and rank; `islands` are the ranks of each."""
    moving_s = moving_time_s(timeline)
    roles = [island_roles(ranks, moving_s) for ranks in islands]
    if sum(map(len, islands)) <= MOST_LANES:
        shown = [
            {rank: own.get(rank, "") for rank in ranks} for ranks, own in zip(islands, roles, strict=True)
        ]
        return tuple(Lane(rank, number, own[rank]) for number, own in enumerate(shown) for rank in own)
    return tuple(
        Lane(rank, number, roles[number][rank])
        for number in shown_islands(islands, moving_s)
        for rank in sorted(roles[number])
    )


def lane_slices(timeline: Timeline, shown: Sequence[Lane]) -> Iterator[LaneSlice]:
    """Every lane's parts, lane by lane in the order of the program; what was skipped is left out."""
    for lane in shown:
        for index, operation in enumerate(timeline.program.operations):
            end_s = float(timeline.end_s[index, lane.rank])
            if not np.isnan(end_s):
                yield LaneSlice(
                    **vars(lane),
                    stream=operation.stream,
                    kind=type(operation).__name__.lower(),
                    operation=operation.name,
                    enter_s=float(timeline.enter_s[index, lane.rank]),
                    start_s=float(timeline.start_s[index, lane.rank]),
                    end_s=end_s,
                )


def moving_time_s(timeline: Timeline) -> FloatArray:
    """[world_size] time of each rank in collectives and transfers from their start to its end, added up."""
    moving = [
        index
        for index, operation in enumerate(timeline.program.operations)
        if not isinstance(operation, Compute)
    ]
    total_s: FloatArray = np.nansum(timeline.transfer_s[moving], axis=0)
    return total_s


def island_roles(ranks: Sequence[int], moving_s: FloatArray) -> dict[int, str]:
    """The slowest, the median and the fastest rank of an island, as far as they are different ranks."""
    order = sorted(ranks, key=lambda rank: (-moving_s[rank], rank))
    places = {len(order) // 2: MEDIAN, len(order) - 1: FASTEST, 0: SLOWEST}
    return {order[place]: role for place, role in places.items()}


def shown_islands(islands: Sequence[Sequence[int]], moving_s: FloatArray) -> list[int]:
    """Numbers of the islands to show, ascending."""
    slowness_s = [float(moving_s[list(ranks)].max()) for ranks in islands]
    order = sorted(range(len(islands)), key=lambda number: (-slowness_s[number], number))
    count = min(len(order), MOST_ISLANDS)
    return sorted(order[int(place)] for place in np.linspace(0, len(order) - 1, count).round())
