"""From tallies to the phases of an iteration, and to what owners read."""

from collections.abc import Sequence

import numpy as np

from simulator.arrays import IntArray
from simulator.sharding.plan import Tier
from simulator.traffic.phase import Phase, Step
from simulator.traffic.placement import Placement
from simulator.traffic.tally import Requests, Tally

SHARDED = (Tier.ISLAND, Tier.GROUP, Tier.GLOBAL)
STEPS: tuple[Step, ...] = (
    "ids_gather",
    "ids",
    "embeddings",
    "embeddings_spread",
    "gradients_gather",
    "gradients",
)
BY_MATES: tuple[Step, ...] = ("ids_gather", "embeddings_spread", "gradients_gather")


class Exchanges:
    """What is asked of owners, and of mates on the way to them, tier by tier."""

    def __init__(self, placement: Placement, tallies: Sequence[Tally]) -> None:
        self._placement = placement
        self._asked: dict[Tier, Requests] = {}
        self._gathered: dict[Tier, Requests] = {}
        for tier in Tier:
            own = [tally for tally in tallies if tally.readers.layout.tier == tier]
            if own:
                self._asked[tier] = Requests.none(placement.world_size, placement.world_size)
            if any(tally.pooled for tally in own):
                self._gathered[tier] = Requests.none(placement.world_size, placement.world_size)
            for tally in own:
                tally.spread(self._asked[tier], self._gathered.get(tier))

    def gather_bytes(self) -> IntArray:
        """[world_size] what each owner reads from memory: a row for each request that reaches it."""
        elements = np.zeros(self._placement.world_size, dtype=np.int64)
        for asked in self._asked.values():
            elements += asked.elements.sum(axis=0)
        return elements * self._placement.element_bytes

    def phases(self) -> tuple[Phase, ...]:
        """Step by step, and within a step tier by tier; what never reaches the network is no phase."""
        return tuple(
            self._phase(step, tier)
            for step in STEPS
            for tier in SHARDED
            if tier in (self._gathered if step in BY_MATES else self._asked)
        )

    def _phase(self, step: Step, tier: Tier) -> Phase:
        by_mates = step in BY_MATES
        groups = self._placement.islands if by_mates else self._placement.groups[tier]
        return Phase(
            step, tier, groups, self._matrix(step, (self._gathered if by_mates else self._asked)[tier])
        )

    def _matrix(self, step: Step, requests: Requests) -> IntArray:
        if step in ("ids_gather", "ids"):
            return requests.request_bytes
        if step in ("embeddings", "embeddings_spread"):
            return np.ascontiguousarray(requests.elements.T) * self._placement.element_bytes
        return requests.elements * self._placement.gradient_bytes
