"""A `Program`: what every rank does in one iteration, as operations on streams. The engine knows nothing else.

Theory of operation. An operation belongs to one or more ranks, and each of them meets it on one of its
streams. A stream is a queue: a rank runs the operations of a stream one after another. Beyond that order an
operation waits for those named in `after`, on the same rank. Four primitives suffice:

    Compute      each rank works for its own duration
    Transfer     point to point: starts when both ends have come to it
    Collective   per-pair sizes within one group: starts when every rank of the group has come to it, runs its
                 stages in order, and lets a rank go when all that it sends and receives has arrived
    (dependencies are the streams and `after`)

A rank that never comes to a collective leaves the others waiting; the replay reports who waits for what.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.arrays import FloatArray
from simulator.collectives.stage import Stage


@dataclass(frozen=True, eq=False)
class Compute:
    """`ranks[k]` is busy for `duration_s[k]`."""

    name: str
    ranks: tuple[int, ...]
    duration_s: FloatArray
    stream: str = "compute"
    after: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Transfer:
    """`bytes` from `source` to `destination`."""

    name: str
    source: int
    destination: int
    bytes: int
    stream: str = "communication"
    after: tuple[int, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        return (self.source, self.destination)


@dataclass(frozen=True, eq=False)
class Collective:
    """Stages of flows among `ranks`, entered together."""

    name: str
    ranks: tuple[int, ...]
    stages: tuple[Stage, ...]
    startup_s: float = 0.0
    stream: str = "communication"
    after: tuple[int, ...] = ()


Operation = Compute | Transfer | Collective


@dataclass(frozen=True, eq=False)
class Program:
    """Operations, referred to by index. Each rank meets its own in index order unless `queues` says otherwise."""

    world_size: int
    operations: tuple[Operation, ...]
    queues: Mapping[tuple[int, str], tuple[int, ...]] | None = field(default=None)  # (rank, stream) -> indices
