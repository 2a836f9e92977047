"""What a rank's part in a collective is made of, from the byte counts and the timeline.

Theory of operation. From coming to a collective to leaving it a rank spends

    waiting      for the last rank to come
    start-up     what the collective costs before bytes flow
    even         what the bytes need when every port of a kind carries the same: the least that any spread allows
    imbalance    more, because the busiest port carries more than its kind's mean
    pair cap     more, because one ordered pair may not go faster
    contention   more than the port bound: shares of ports that others slow down, capacities that fell meanwhile
    latency      of the longest route, for each message sent one after another

`even + imbalance + pair cap` is the port bound. A rank that leaves before the bound has passed (others carry more)
has only as much of each, in this order, as it was there for, so that the parts add up to its time exactly.
"""

import re
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import BoolArray
from simulator.engine.program import Collective
from simulator.network.bound import Bound, port_bound
from simulator.sums import added
from simulator.topology.topology import Topology

NONE = "none"
_NUMBERS = re.compile(r"\d+(\+\d+)*")


@dataclass(frozen=True)
class Parts:
    """Seconds of each part; see above."""

    waiting_s: float = 0.0
    startup_s: float = 0.0
    even_s: float = 0.0
    imbalance_s: float = 0.0
    pair_cap_s: float = 0.0
    contention_s: float = 0.0
    latency_s: float = 0.0

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    @property
    def bound_s(self) -> float:
        return self.even_s + self.imbalance_s + self.pair_cap_s

    @property
    def total_s(self) -> float:
        return float(added(astuple(self)))


@dataclass(frozen=True, eq=False)
class Lead:
    """What limits a collective, and what would next. Times are those that each needs for its bytes."""

    bottleneck: str
    time_s: float
    next: str  # the next port, link or pair
    next_s: float
    next_kind: str  # the first of another kind of port or link: after a NIC, a scale-up port
    next_kind_s: float


@dataclass(frozen=True, eq=False)
class CollectiveCost:
    """The costs of one collective of a program, all stages added up; the lead is the longest stage's."""

    startup_s: float
    even_s: float
    port_s: float  # of the busiest port or link
    bound_s: float
    latency_s: float
    lead: Lead

    def parts(self, waiting_s: float, there_s: float) -> Parts:
        """Of a rank that waited, and then was there for so long."""
        left, taken = there_s, []
        imbalance_s, pair_cap_s = self.port_s - self.even_s, self.bound_s - self.port_s
        for most_s in (self.startup_s, self.even_s, imbalance_s, pair_cap_s, self.latency_s):
            taken.append(min(max(most_s, 0.0), left))
            left -= taken[-1]
        startup_s, even_s, imbalance_s, pair_cap_s, latency_s = taken
        return Parts(waiting_s, startup_s, even_s, imbalance_s, pair_cap_s, left, latency_s)


class Costs:
    """Works out the costs of collectives on one topology."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._usable: dict[tuple[int, ...], BoolArray] = {}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """[resources] each resource's name without its numbers: "nic/*/egress"."""
        return tuple(_NUMBERS.sub("*", name) for name in self.topology.resources.names)

    def of(self, collective: Collective) -> CollectiveCost:
        """What the collective would cost by itself, part by part."""
        bounds = [
            port_bound(self.topology, stage.flows, latency_steps=stage.latency_steps)
            for stage in collective.stages
        ]
        usable = self.usable(collective.ranks)
        longest = max(bounds, key=lambda bound: bound.time_s, default=None)
        return CollectiveCost(
            startup_s=collective.startup_s,
            even_s=added(self._even_s(bound, usable) for bound in bounds),
            port_s=added(float(bound.resource_s.max(initial=0.0)) for bound in bounds),
            bound_s=added(bound.time_s for bound in bounds),
            latency_s=added(bound.latency_s for bound in bounds),
            lead=NO_LEAD if longest is None else self._lead(longest),
        )

    def usable(self, ranks: tuple[int, ...]) -> BoolArray:
        """[resources] which some pair of these ranks can use."""
        if ranks not in self._usable:
            members = np.array(ranks, np.int32)
            sources, destinations = np.repeat(members, len(ranks)), np.tile(members, len(ranks))
            different = sources != destinations
            hops = self.topology.routes(sources[different], destinations[different]).resources
            used = np.zeros(len(self.topology.resources.names), np.bool_)
            used[hops[hops >= 0]] = True
            self._usable[ranks] = used
        return self._usable[ranks]

    def _even_s(self, bound: Bound, usable: BoolArray) -> float:
        """The longest of the kinds' means."""
        by_kind: dict[str, list[float]] = {}
        for index in np.flatnonzero(usable):
            by_kind.setdefault(self.kinds[index], []).append(float(bound.resource_s[index]))
        return max((float(np.mean(times)) for times in by_kind.values()), default=0.0)

    def _lead(self, bound: Bound) -> Lead:
        names = self.topology.resources.names
        others = [
            index for index, name in enumerate(names) if technology(name) != technology(bound.bottleneck)
        ]
        second = max(others, key=lambda index: float(bound.resource_s[index]), default=None)
        busy_s = 0.0 if second is None else float(bound.resource_s[second])
        return Lead(
            bottleneck=bound.bottleneck,
            time_s=bound.time_s,
            next=bound.runner_up,
            next_s=bound.runner_up_s,
            next_kind=names[second] if second is not None and busy_s > 0 else NONE,
            next_kind_s=busy_s,
        )


def technology(name: str) -> str:
    """Of a port or link: "nic/3/egress" and "nic/5/ingress" are both NICs."""
    return name.partition("/")[0]


NO_LEAD = Lead(NONE, 0.0, NONE, 0.0, NONE, 0.0)
