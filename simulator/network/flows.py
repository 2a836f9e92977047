"""Flows: who sends how many bytes to whom. The sparse form of a W x W byte matrix without its diagonal."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import IndexArray, IntArray


@dataclass(frozen=True, eq=False)
class Flows:
    """Ordered pairs with bytes to move; all arrays are [flows], bytes > 0, source != destination."""

    sources: IndexArray
    destinations: IndexArray
    bytes: IntArray

    @classmethod
    def from_matrix(cls, matrix: IntArray) -> "Flows":
        """The off-diagonal, non-zero entries of a [world_size, world_size] byte matrix, row by row."""
        sources, destinations = np.nonzero(matrix)
        remote = sources != destinations
        sources, destinations = sources[remote], destinations[remote]
        return cls(
            sources.astype(np.int32),
            destinations.astype(np.int32),
            matrix[sources, destinations].astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.bytes)
