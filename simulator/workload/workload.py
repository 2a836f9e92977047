"""A workload: embedding tables, how popular their rows are, how long sequences are, and the dense compute.

`Workload` is a frozen value made once from YAML (`load.py`). `Statistics` is the part of it that a policy may
see. A `Batch` is one iteration's draw of how many lookups each rank makes in each table; where they land
depends on a plan, so it is drawn in `traffic/`, keyed by the same seed.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.arrays import IntArray
from simulator.errors import UserError
from simulator.seeds import generator
from simulator.workload.lengths import LengthDraw, sums_by_rank
from simulator.workload.popularity.shares import Blocks, Popularity
from simulator.workload.spec import WorkloadSpec
from simulator.workload.table import Table

__all__ = [
    "Batch",
    "Blocks",
    "Dense",
    "Popularity",
    "RankSkew",
    "Statistics",
    "Table",
    "TableStatistics",
    "Workload",
]


MOST_SAMPLES_DEALT = 50_000_000


@dataclass(frozen=True, eq=False)
class TableStatistics:
    """What a policy may know of one table before it plans."""

    name: str
    rows: int
    dim: int
    element_bytes: int
    touched_rows: int  # rows that the planning data ever hits
    popularity: Popularity
    lookups_per_rank: float  # expected, in one iteration

    @property
    def row_bytes(self) -> int:
        return self.dim * self.element_bytes


@dataclass(frozen=True, eq=False)
class Statistics:
    tables: tuple[TableStatistics, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """One iteration: lookups[rank, table], and the key under which their places are drawn.

    `repeats` counts those of the lookups that repeat an id looked up earlier in the same sample: they land
    where an earlier one landed and never add a distinct row. None: there are none.
    """

    lookups: IntArray  # [world_size, tables]
    seed: int
    iteration: int
    repeats: IntArray | None = None  # [world_size, tables]


@dataclass(frozen=True)
class Dense:
    """The dense layers of one rank: given durations, and what their all-reduce carries."""

    forward_s: float = 0.0
    backward_s: float = 0.0
    parameters: int = 0
    gradient_bytes: int = 4  # per parameter


@dataclass(frozen=True)
class RankSkew:
    """`share` of `rank`'s samples are the longest of the whole cluster's batch, in every table."""

    rank: int
    share: float


@dataclass(frozen=True, eq=False)
class Workload:
    """What one training iteration asks of the embedding tables."""

    name: str
    batch_per_rank: int
    element_bytes: int
    tables: tuple[Table, ...]
    dense: Dense = Dense()
    batch_of_rank: tuple[tuple[int, int], ...] = ()  # (rank, samples) where it is not `batch_per_rank`
    rank_skew: RankSkew | None = None
    spec: WorkloadSpec | None = None  # what it was built from, with paths relative to `folder`
    folder: Path | None = None

    def statistics(self) -> Statistics:
        """What policies may see: the planning data's popularity and the expected lookups of a usual rank."""
        return Statistics(
            tuple(
                TableStatistics(
                    name=table.name,
                    rows=table.rows,
                    dim=table.dim,
                    element_bytes=self.element_bytes,
                    touched_rows=table.touched_rows,
                    popularity=table.popularity,
                    lookups_per_rank=self.batch_per_rank * table.length.mean,
                )
                for table in self.tables
            )
        )

    def configuration(self) -> dict[str, Any]:
        """What the workload is, as plain data: its file with defaults filled in, and a hash of each table's curves.

        Equal data means equal draws, for traces too.
        """
        declared = None if self.spec is None else _without_folders(self.spec.model_dump(mode="json"))
        return {
            "declared": declared,
            "name": self.name,
            "batch_per_rank": self.batch_per_rank,
            "element_bytes": self.element_bytes,
            "dense": asdict(self.dense),
            "batch_of_rank": [list(entry) for entry in self.batch_of_rank],
            "rank_skew": None if self.rank_skew is None else asdict(self.rank_skew),
            "tables": [table.configuration() for table in self.tables],
        }

    def with_(self, **changes: Any) -> "Workload":
        """A changed copy, for what-if studies: `with_(batch_per_rank=1024)`. Keys are those of the workload file, with
        their path: `with_(**{"tables.items.popularity.s": 0.9})` or `with_(tables__items__popularity__s=0.9)`;
        `tables.*` are all tables. Raises ConfigError (a UserError) for what a file would be refused for."""
        from simulator.workload.build import build_workload
        from simulator.workload.edit import edited_spec

        if self.spec is None or self.folder is None:
            raise UserError(f"workload {self.name}: built in code, it has no keys to change")
        return build_workload(edited_spec(self.spec, changes), self.folder, like=self)

    def samples(self, world_size: int) -> IntArray:
        """[world_size] samples of each rank in one iteration."""
        samples = np.full(world_size, self.batch_per_rank, np.int64)
        for rank, count in self.batch_of_rank:
            self._check_rank("batch_of_rank", rank, world_size)
            samples[rank] = count
        return samples

    def draw_batch(self, world_size: int, *, seed: int, iteration: int) -> Batch:
        """How many lookups each rank makes in each table in this iteration."""
        samples = self.samples(world_size)
        lookups = np.empty((world_size, len(self.tables)), np.int64)
        repeats = np.zeros_like(lookups)
        for index, table in enumerate(self.tables):
            rng = generator(seed, "lengths", iteration, table.stream_key)
            drawn = self._draw_lengths(rng, table, samples)
            lookups[:, index] = drawn.lookups
            if table.repeat_share > 0.0:
                later = drawn.lookups - drawn.nonempty_samples
                repeats[:, index] = rng.binomial(later, table.repeat_share)
        any_repeats = any(table.repeat_share > 0.0 for table in self.tables)
        return Batch(lookups, seed, iteration, repeats if any_repeats else None)

    def _check_rank(self, key: str, rank: int, world_size: int) -> None:
        if rank >= world_size:
            raise UserError(f"workload {self.name}: {key} names rank {rank}, there are 0..{world_size - 1}")

    def _draw_lengths(self, rng: np.random.Generator, table: Table, samples: IntArray) -> LengthDraw:
        if self.rank_skew is None:
            return table.length.draw_sums(rng, samples)
        self._check_rank("rank_skew", self.rank_skew.rank, len(samples))
        if samples.sum() > MOST_SAMPLES_DEALT:
            raise UserError(
                f"workload {self.name}: rank_skew deals samples one by one, {samples.sum()} are more than "
                f"{MOST_SAMPLES_DEALT}"
            )
        lengths = table.length.draw(rng, int(samples.sum()))
        lengths = _longest_on(rng, lengths, samples, self.rank_skew)
        nonempty = sums_by_rank((lengths > 0).astype(np.int64), samples)
        return LengthDraw(sums_by_rank(lengths, samples), nonempty)


def _without_folders(data: Any) -> Any:
    """Plain data whose paths are reduced to the files' names: where a file lies changes no result."""
    if isinstance(data, dict):
        return {
            key: Path(value).name if key == "path" else _without_folders(value) for key, value in data.items()
        }
    return [_without_folders(value) for value in data] if isinstance(data, list) else data


def _longest_on(rng: np.random.Generator, lengths: IntArray, samples: IntArray, skew: RankSkew) -> IntArray:
    """`lengths` dealt anew: the longest go to one rank's first places, the others anywhere."""
    count = round(skew.share * int(samples[skew.rank]))
    longest = np.zeros(len(lengths), np.bool_)
    longest[np.argsort(-lengths, kind="stable")[:count]] = True
    first = int(samples[: skew.rank].sum())
    rest = rng.permutation(lengths[~longest])
    return np.concatenate([rest[:first], lengths[longest], rest[first:]])
