"""What TorchRec's planner says that a sharding type costs: bytes over one bandwidth, no skew, no contention.

TorchRec 1.8, `distributed/planner/shard_estimators.py`, for one shard. With n lookups a rank, D columns, e bytes
an element, T bytes of the table, W ranks, G ranks a host (here: an island), N hosts, `bw` the inter-host
bandwidth if there is more than one host, else the intra-host one, and B bytes of a direction:

    ids               8 n W / bw
    table-wise        n W D e / bw                                both ways; a shard of D' columns has D' for D
    row-wise          n D e / bw                                  backward + 2.455 B / device bandwidth
    table-row-wise    (n W / G) D e / intra + n (W / G) D e / inter, and backward + 2.455 (intra B) / device
    data-parallel     backward T (2 k - 1) / k / (inter G), k = min(N, 2), twice that if W > 2 G; no ids

A pooled table gives one output a sample: with o samples a rank, table-row-wise has o W D e intra and
o (W / G) D e inter. 2.455 is TorchRec's BATCHED_COPY_PERF_FACTOR, for copying what was gathered. Its terms for
lookups and updates on the device are left out: communication alone is compared.
"""

from dataclasses import dataclass
from typing import Literal

GIB = 2**30
ID_BYTES = 8
BACKWARD_FACTOR = 2.455
DEVICE_BYTES_PER_S = 897.0 * GIB
INTRA_HOST_BYTES_PER_S = 600.0 * GIB
INTER_HOST_BYTES_PER_S = 12.5 * GIB

ShardingType = Literal["table_wise", "column_wise", "row_wise", "table_row_wise", "data_parallel"]
SHARDING_TYPES: tuple[ShardingType, ...] = (
    "table_wise",
    "column_wise",
    "row_wise",
    "table_row_wise",
    "data_parallel",
)


@dataclass(frozen=True)
class Cluster:
    """A cluster as TorchRec's planner sees one."""

    world_size: int
    host_size: int
    intra_bytes_per_s: float = INTRA_HOST_BYTES_PER_S
    inter_bytes_per_s: float = INTER_HOST_BYTES_PER_S

    @property
    def hosts(self) -> int:
        return -(-self.world_size // self.host_size)

    @property
    def bytes_per_s(self) -> float:
        """The one bandwidth of a collective over all ranks."""
        return self.inter_bytes_per_s if self.hosts > 1 else self.intra_bytes_per_s


@dataclass(frozen=True)
class ShardCost:
    """Seconds of one shard."""

    forward_s: float
    backward_s: float
    ids_s: float

    @property
    def total_s(self) -> float:
        return self.forward_s + self.backward_s + self.ids_s


def shard_cost(
    kind: ShardingType,
    cluster: Cluster,
    *,
    lookups_per_rank: float,
    columns: int,
    element_bytes: int,
    table_bytes: int = 0,
    outputs_per_rank: float | None = None,
) -> ShardCost:
    """The cost of a shard of so many columns; `outputs_per_rank` are the samples of a pooled table."""
    if kind == "data_parallel":
        return ShardCost(0.0, _all_reduce_s(table_bytes, cluster), 0.0)
    ids_s = ID_BYTES * lookups_per_rank * cluster.world_size / cluster.bytes_per_s
    row_bytes = columns * element_bytes
    outputs = lookups_per_rank if outputs_per_rank is None else outputs_per_rank
    if kind == "row_wise":
        moved_bytes = outputs * row_bytes
        forward_s = moved_bytes / cluster.bytes_per_s
        return ShardCost(forward_s, forward_s + _regathered_s(moved_bytes), ids_s)
    if kind == "table_row_wise":
        intra_bytes = outputs * cluster.world_size * row_bytes
        if outputs_per_rank is None:
            intra_bytes /= cluster.host_size
        inter_bytes = outputs * cluster.world_size / cluster.host_size * row_bytes
        forward_s = intra_bytes / cluster.intra_bytes_per_s
        if cluster.hosts > 1:
            forward_s += inter_bytes / cluster.inter_bytes_per_s
        return ShardCost(forward_s, forward_s + _regathered_s(intra_bytes), ids_s)
    whole_s = outputs * cluster.world_size * row_bytes / cluster.bytes_per_s
    return ShardCost(whole_s, whole_s, ids_s)


def _regathered_s(moved_bytes: float) -> float:
    return BACKWARD_FACTOR * moved_bytes / DEVICE_BYTES_PER_S


def _all_reduce_s(table_bytes: int, cluster: Cluster) -> float:
    rounds = min(cluster.hosts, 2)
    once_s = table_bytes * (2 * rounds - 1) / rounds / (cluster.inter_bytes_per_s * cluster.host_size)
    return 2 * once_s if cluster.world_size > 2 * cluster.host_size else once_s
