"""Where lookups land: counts drawn at a cost that does not grow with the lookups.

Theory of operation. A rank's lookups of a table are independent, so their counts over runs are multinomial, and
given a run's count, so are the counts over its owners: drawing the counts is drawing every lookup alone.

Repeats (lookups of an id that the sample has looked up before) land where an earlier one did. Given where the
fresh lookups of a rank landed, its repeats are multinomial in the proportions of those: exact when every fresh
lookup of the rank is as likely to be repeated as any other.
"""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray, IntArray
from simulator.workload.workload import Batch


@dataclass(frozen=True, eq=False)
class Counts:
    """Lookups by place: `fresh` chose their rows on their own, `repeats` repeat one of them. Equal shapes."""

    fresh: IntArray
    repeats: IntArray | None

    @classmethod
    def of(cls, batch: Batch, table: int) -> "Counts":
        """[ranks] of one table's lookups, which have no place yet."""
        lookups = batch.lookups[:, table]
        if batch.repeats is None:
            return cls(lookups, None)
        return cls(lookups - batch.repeats[:, table], batch.repeats[:, table])

    @property
    def all(self) -> IntArray:
        return self.fresh if self.repeats is None else self.fresh + self.repeats

    def at(self, ranks: IndexArray, place: int) -> "Counts":
        """[ranks] of [all ranks, places]: those of some ranks at one place."""
        return Counts(self.fresh[ranks, place], None if self.repeats is None else self.repeats[ranks, place])


def draw_counts(rng: np.random.Generator, lookups: Counts, shares: FloatArray) -> Counts:
    """Divide `lookups` [ranks] over places in proportion to `shares` [places]: counts [ranks, places]."""
    fresh = _multinomial(rng, lookups.fresh, shares)
    if lookups.repeats is None:
        return Counts(fresh, None)
    proportions = fresh / np.maximum(lookups.fresh, 1)[:, None]
    return Counts(fresh, rng.multinomial(lookups.repeats, proportions))


def _multinomial(rng: np.random.Generator, counts: IntArray, shares: FloatArray) -> IntArray:
    """numpy's, which would give what rounding leaves over to the last place, to places of share 0 nothing."""
    used = np.flatnonzero(shares > 0.0)
    drawn = np.zeros((len(counts), len(shares)), dtype=np.int64)
    if len(used):
        drawn[:, used] = rng.multinomial(counts, shares[used] / shares[used].sum())
    return drawn
