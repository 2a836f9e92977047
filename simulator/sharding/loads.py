"""What passes each rank's ports when ranks ask owners for rows: expected values, owners perfectly balanced.

Theory of operation. Every rank asks for the same number of bytes of a run of rows, and every owner of the copy
that it reads answers an equal part. A port's seconds are its bytes over its effective rate: a rank's scale-up
port for what stays in its island, its share of the NICs for what leaves it. Nothing here knows hot rows, rows
that do not divide by the owners, or how flows share a fabric beyond `Topology.inter_island_bytes_per_s`: what a
simulation takes longer than these seconds is imbalance and contention.

With `dedup: island` the ranks of an island pool what they ask of owners elsewhere. Requests meet at the mate
with the owner's local index over scale-up and travel once; rows come back once and are spread over scale-up.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.sharding.plan import Layout
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Loads:
    """Bytes through each rank's ports, each [world_size]; loads of things that happen at once add up.

    `nic_messages` are those that a rank sends to other islands, or receives from there, whichever are more.
    """

    nic_out: FloatArray
    nic_in: FloatArray
    up_out: FloatArray
    up_in: FloatArray
    nic_messages: FloatArray

    @classmethod
    def none(cls, world_size: int) -> "Loads":
        zero = np.zeros(world_size)
        return cls(zero, zero, zero, zero, zero)

    @classmethod
    def both_ways(cls, nic: FloatArray, up: FloatArray) -> "Loads":
        """Every rank sends what it receives, and what leaves its island to one peer."""
        return cls(nic, nic, up, up, np.where(nic > 0, 1.0, 0.0))

    def __add__(self, other: "Loads") -> "Loads":
        """At most one message goes from one rank to another."""
        messages = np.minimum(self.nic_messages + other.nic_messages, len(self.nic_messages) - 1)
        return Loads(
            self.nic_out + other.nic_out,
            self.nic_in + other.nic_in,
            self.up_out + other.up_out,
            self.up_in + other.up_in,
            messages,
        )

    def reversed(self) -> "Loads":
        """The answers to these requests."""
        return Loads(self.nic_in, self.nic_out, self.up_in, self.up_out, self.nic_messages)

    @property
    def nic_bytes(self) -> float:
        """Of all ranks between islands: the side that no busiest owner stands for."""
        return float(min(self.nic_out.sum(), self.nic_in.sum()))

    @property
    def up_bytes(self) -> float:
        """Of all ranks inside islands."""
        return float(min(self.up_out.sum(), self.up_in.sum()))

    @property
    def busiest_rank_bytes(self) -> float:
        """What the busiest rank sends or receives, whichever is more."""
        return float(max((self.nic_out + self.up_out).max(), (self.nic_in + self.up_in).max()))

    def nic_s(self, topology: Topology) -> float:
        """Seconds of the busiest share of a NIC."""
        busiest = np.maximum(self.nic_out, self.nic_in)
        return float((busiest / topology.inter_island_bytes_per_s).max())

    def up_s(self, topology: Topology) -> float:
        """Seconds of the busiest scale-up port."""
        return float((np.maximum(self.up_out, self.up_in) / topology.scale_up_bytes_per_s).max())


@dataclass(frozen=True, eq=False)
class Geometry:
    """Who reads from whom under one layout, counted by copy and island."""

    layout: Layout
    topology: Topology

    @cached_property
    def copy_of(self) -> IntArray:
        """[world_size] the copy that each rank reads."""
        return np.array(self.layout.copy_of, dtype=np.int64)

    @cached_property
    def owners_by_island(self) -> FloatArray:
        """[copies, islands]"""
        counts = np.zeros((len(self.layout.copies), self.topology.island_count))
        for copy, owners in enumerate(self.layout.copies):
            np.add.at(counts[copy], self.topology.island_of[list(owners)], 1.0)
        return counts

    @cached_property
    def owned_copy(self) -> IntArray:
        """[world_size] the copy that each rank owns a part of, -1 for none."""
        owned = np.full(self.topology.world_size, -1, dtype=np.int64)
        for copy, owners in enumerate(self.layout.copies):
            owned[list(owners)] = copy
        return owned

    @cached_property
    def parts(self) -> FloatArray:
        """[copies] the part of a copy's requests that each of its owners answers."""
        return 1.0 / np.array([len(owners) for owners in self.layout.copies], dtype=np.float64)

    @cached_property
    def outside_share(self) -> FloatArray:
        """[world_size] the part of a rank's requests that goes to other islands."""
        inside: FloatArray = self.owners_by_island[self.copy_of, self.topology.island_of]
        return np.asarray(1.0 - inside * self.parts[self.copy_of])

    @cached_property
    def mate_share(self) -> FloatArray:
        """[world_size] the part of a rank's requests that goes to others of its island."""
        own = (self.owned_copy == self.copy_of) * self.parts[self.copy_of]
        return np.asarray(1.0 - self.outside_share - own)

    @cached_property
    def nic_messages(self) -> FloatArray:
        """[world_size] owners elsewhere that a rank asks, or ranks elsewhere that ask it, the more."""
        shape = self.owners_by_island.shape
        readers = np.zeros(shape)
        np.add.at(readers, (self.copy_of, self.topology.island_of), 1.0)
        asks = self._elsewhere(self.owners_by_island, self.copy_of)
        asked = np.where(self.owned_copy >= 0, self._elsewhere(readers, self.owned_copy), 0.0)
        return np.maximum(asks, asked)

    def _elsewhere(self, by_island: FloatArray, copy: IntArray) -> FloatArray:
        """[world_size] of [copies, islands] what each rank's `copy` has outside its island."""
        return np.asarray(by_island.sum(axis=1)[copy] - by_island[copy, self.topology.island_of])

    def requests(self, inside_bytes: FloatArray, outside_bytes: FloatArray, *, busiest: float = 1.0) -> Loads:
        """Loads when each rank [world_size] asks for so many bytes of a copy.

        `inside_bytes` counts for owners in the own island, `outside_bytes` for those elsewhere; they differ
        where an island pools what it asks of others. Owners are loaded as the busiest is, `busiest` times
        their mean: any of them may be the one.
        """
        return Loads(
            nic_out=outside_bytes * self.outside_share,
            nic_in=busiest * self._answered(outside_bytes, elsewhere=True),
            up_out=inside_bytes * self.mate_share,
            up_in=busiest * self._answered(inside_bytes, elsewhere=False),
            nic_messages=self.nic_messages,
        )

    def _answered(self, asked_bytes: FloatArray, *, elsewhere: bool) -> FloatArray:
        """What each owner answers to ranks of other islands, or to others of its own."""
        shape = self.owners_by_island.shape
        by_island = np.zeros(shape)
        np.add.at(by_island, (self.copy_of, self.topology.island_of), asked_bytes)
        owned, island = self.owned_copy, self.topology.island_of
        near = by_island[owned, island]
        if elsewhere:
            answered = by_island.sum(axis=1)[owned] - near
        else:
            answered = near - np.where(owned == self.copy_of, asked_bytes, 0.0)
        return np.where(owned >= 0, answered * self.parts[owned], 0.0)
