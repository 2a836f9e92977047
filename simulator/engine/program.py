"""A `Program`: what every rank does as operations on streams. The engine knows nothing else.

Theory of operation. An operation belongs to one or more ranks, and each of them meets it on one of its
streams. A stream is a queue: a rank runs the operations of a stream one after another, and its streams side
by side. Beyond that order an operation waits on each rank for those named in `after` to end on that same
rank; an earlier operation in which the rank has no part holds nothing up there. Four primitives suffice:

    Compute      each rank works for its own duration, on its own
    Transfer     point to point: starts when both ends have come to it
    Collective   per-pair sizes within one group: starts when every rank of the group has come to it, runs its
                 stages in order, and lets a rank go when all that it sends and receives has arrived
    (dependencies are the streams and `after`)

Any name makes a stream: two operations that may overlap on a rank need two streams, so a sender that must not
hold up a receiver gets one of its own. A rank that never comes to a collective leaves the others waiting; the
replay reports who waits for what.
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
    """Stages of flows among `ranks`, entered together.

    `step` and `tier` say to which part of an iteration it belongs; the engine never reads them.
    """

    name: str
    ranks: tuple[int, ...]
    stages: tuple[Stage, ...]
    startup_s: float = 0.0
    stream: str = "communication"
    after: tuple[int, ...] = ()
    step: str = ""
    tier: str = ""


Operation = Compute | Transfer | Collective


@dataclass(frozen=True, eq=False)
class Program:
    """Operations, by index. Each rank meets its own in index order unless `queues` says otherwise.

    A queue given in `queues` replaces that of its rank and stream whole; what it leaves out, the rank skips.
    """

    world_size: int
    operations: tuple[Operation, ...]
    queues: Mapping[tuple[int, str], tuple[int, ...]] | None = field(
        default=None
    )  # (rank, stream) -> indices

    def queue_of(self, rank: int, stream: str) -> tuple[int, ...]:
        """The operations that `rank` runs on `stream`, in its order."""
        return self.all_queues().get((rank, stream), ())

    def all_queues(self) -> dict[tuple[int, str], tuple[int, ...]]:
        """Every queue by (rank, stream): ranks ascending, streams in the order of their first operations."""
        queues: dict[tuple[int, str], list[int]] = {
            (rank, stream): [] for rank in range(self.world_size) for stream in self.streams()
        }
        for index, operation in enumerate(self.operations):
            for rank in operation.ranks:
                queues[rank, operation.stream].append(index)
        given = self.queues or {}
        return {key: tuple(given.get(key, queue)) for key, queue in queues.items() if given.get(key, queue)}

    def streams(self) -> tuple[str, ...]:
        """The streams' names in the order of their first operations."""
        return tuple(dict.fromkeys(operation.stream for operation in self.operations))
