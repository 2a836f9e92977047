"""Phases: the collectives of one iteration, each with its byte matrix. The contract between plans and network."""

from dataclasses import dataclass
from typing import Literal

from simulator.arrays import IntArray
from simulator.sharding.plan import Tier

Step = Literal[
    "ids_gather",  # dedup: island. An island's ranks pool their requests over NVLink
    "ids",
    "embeddings",
    "embeddings_spread",  # dedup: island. Rows that came once are spread over NVLink
    "gradients_gather",  # dedup: island. The mirror of the spread
    "gradients",
    "replica_sync",
    "dense_sync",
]


@dataclass(frozen=True, eq=False)
class Phase:
    """One step's all-to-all(s) of one tier: one communicator for each group of ranks, side by side.

    `matrix` is [world_size, world_size] int64: row i, column j = bytes from rank i to rank j. Entries outside
    the groups are 0. The diagonal is local and never reaches the network.
    """

    step: Step
    tier: Tier
    groups: tuple[tuple[int, ...], ...]
    matrix: IntArray

    @property
    def name(self) -> str:
        return f"{self.step}_{self.tier}"
