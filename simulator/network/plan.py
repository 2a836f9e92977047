"""A `Plan`: what happens to some flows until something outside changes."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Finished:
    """Flows, by number, that are through, in order of time."""

    flows: IndexArray
    finish_s: FloatArray

    @classmethod
    def none(cls) -> "Finished":
        return cls(np.empty(0, np.int32), np.empty(0))

    def pick(self, which: BoolArray) -> "Finished":
        """Some of them."""
        return Finished(self.flows[which], self.finish_s[which])


@dataclass(frozen=True, eq=False)
class Plan:
    """From `start_s` to `end_s`, unless something changes before."""

    start_s: float
    end_s: float
    slots: IndexArray  # of the flows that finish
    finishing: Finished  # those flows

    @property
    def finishes_early(self) -> bool:
        """Whether flows finish before the end."""
        return len(self.slots) > 0 and float(self.finishing.finish_s[0]) < self.end_s
