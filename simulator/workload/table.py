"""An embedding table: its size, which rows are looked up how often, and how many a sample looks up."""

import hashlib
import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.lengths import LengthDistribution
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.popularity.shares import Popularity
from simulator.workload.shuffle import permute, permute_first

HASHED_HEADS = 4_096


@dataclass(frozen=True, eq=False)
class Table:
    """One table of un-pooled embeddings.

    `popularity` is what the planner is shown. `replayed` is what lookups follow, in the planner's order of
    rows; None where both agree. Tables of one `stream` look up the same ids: their lengths are equal, their
    rows lie in equal places, and their draws share a key.
    """

    name: str
    rows: int
    dim: int
    popularity: Popularity
    length: LengthDistribution
    order: Literal["shuffled", "sorted"] = "shuffled"
    stream: str = ""  # "": a stream of its own
    repeat_share: float = 0.0  # of the lookups after a sample's first, those that repeat an id of the sample
    replayed: Popularity | None = None

    @property
    def touched_rows(self) -> int:
        """Rows that the planning data ever hits."""
        return self.popularity.rows

    @property
    def replayed_popularity(self) -> Popularity:
        """Shares of the replayed lookups by row, in the planned order of rows."""
        return self.popularity if self.replayed is None else self.replayed

    def with_drift(self, share: float, *, to: Literal["touched", "all"] = "touched") -> "Table":
        """The same table after `share` of its lookups have moved to other rows since the plan was made."""
        if share <= 0.0:
            return self
        among = self.rows if to == "all" else self.touched_rows
        key = zlib.crc32(f"drift/{self.stream_key}".encode())
        return replace(self, replayed=Drifted(self.replayed_popularity, share, among, key))

    def configuration(self) -> dict[str, Any]:
        """Plain data that tells this table from any that would be drawn otherwise."""
        curves = hashlib.sha256()
        for popularity in (self.popularity, self.replayed_popularity):
            blocks = popularity.blocks(HASHED_HEADS)
            curves.update(blocks.edges.tobytes() + blocks.shares.tobytes())
        curves.update(self.length.lengths.tobytes() + self.length.probabilities.tobytes())
        return {
            "name": self.name,
            "rows": self.rows,
            "dim": self.dim,
            "touched_rows": self.touched_rows,
            "mean_length": self.length.mean,
            "order": self.order,
            "stream": self.stream,
            "repeat_share": self.repeat_share,
            "curves_sha256": curves.hexdigest(),
        }

    @cached_property
    def stream_key(self) -> int:
        """Equal for tables of one stream and for nothing else; the key of their draws."""
        return zlib.crc32(f"stream {self.stream}".encode() if self.stream else self.name.encode())

    def positions(self, rows: IntArray, *, start: int, stop: int, seed: int) -> IntArray:
        """Where `rows` (in popularity order, of the run [start, stop)) lie in it, in [0, stop - start).

        Shuffled ids lie at random, the same for every iteration and for all tables of one stream; sorted ids
        lie by heat.
        """
        offsets = np.asarray(rows, np.int64) - start
        if self.order == "sorted":
            return offsets
        key = zlib.crc32(f"{self.stream_key}/{start}/{stop}/{seed}".encode())
        if offsets.ndim == 1 and np.array_equal(offsets, np.arange(len(offsets))):
            return permute_first(stop - start, len(offsets), key=key)
        return permute(stop - start, offsets, key=key)
