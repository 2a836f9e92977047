"""Every touched row is as popular as any other."""

from dataclasses import dataclass

from simulator.arrays import FloatArray, IntArray
from simulator.workload.popularity.shares import Shares


@dataclass(frozen=True)
class Uniform(Shares):
    """`row_count` equally popular rows."""

    row_count: int

    @property
    def rows(self) -> int:
        return self.row_count

    def _weight_between(self, starts: IntArray, stops: IntArray) -> FloatArray:
        return (stops - starts) / self.row_count
