"""Traffic against a readable model that draws every lookup alone and keeps every row's name.

The model has no shares, no multinomials and no occupancy: a lookup is a row drawn by popularity, its owner is
found by walking the plan, dedup is a set. The fast stage must give the same bytes in the mean, cell by cell, and
the same counts in distribution.
"""

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from simulator.arrays import FloatArray, IntArray
from simulator.seeds import generator
from simulator.sharding import layouts
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan, Tier
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.traffic.placement import prepare
from simulator.traffic.traffic import draw_traffic
from simulator.workload.lengths import fixed
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Batch, Workload

ROUNDS = 250
SEED = 11
TOPOLOGY = build_topology(
    TopologySpec.model_validate(
        {
            "name": "uneven",
            "islands": [3, 2],
            "scale_up": {"bandwidth": "100 GB/s"},
            "scale_out": {"nic_bandwidth": "10 GB/s"},
        }
    )
)
TABLE = Table("items", 60, 6, ZipfMandelbrot(50, 1.1, 1.0), fixed(10))
LOOKUPS = np.array([[40], [0], [25], [9], [1]])
WORKLOAD = Workload("reference", 10, 2, (TABLE,))


def plans() -> dict[str, tuple[Segment, ...]]:
    everyone = layouts.global_rows(TOPOLOGY)
    return {
        "row_wise": (Segment(0, 60, everyone),),
        "table_wise": (Segment(0, 60, layouts.single_owner(5, 3)),),
        "column_wise": (Segment(0, 60, layouts.column_owners(5, (0, 2, 3, 4))),),
        "table_row_wise": (Segment(0, 60, layouts.global_owners(5, (0, 1, 2))),),
        "groups": (Segment(0, 60, layouts.groups(5, 2)),),
        "tiers": (
            Segment(0, 2, layouts.replicated(TOPOLOGY)),
            Segment(2, 20, layouts.island(TOPOLOGY)),
            Segment(20, 45, everyone),
        ),
    }


@cache
def position(row: int, segment: Segment) -> int:
    return int(TABLE.positions(np.array([row]), start=segment.start, stop=segment.stop, seed=SEED)[0])


class Model:
    """One iteration, lookup by lookup."""

    def __init__(self, segments: tuple[Segment, ...], topology: Topology, dedup: str) -> None:
        self.topology, self.dedup = topology, dedup
        end = segments[-1].stop
        self.segments = segments
        if end < TABLE.rows:
            self.segments = (*segments, Segment(end, TABLE.rows, layouts.global_rows(topology)))
        self.bytes: dict[tuple[str, Tier], IntArray] = defaultdict(self.nothing)

    def nothing(self) -> IntArray:
        return np.zeros((self.topology.world_size,) * 2, dtype=np.int64)

    def owners(self, rank: int, row: int) -> list[tuple[int, int, Tier, bool]]:
        """(owner, columns, tier, owned whole) of all that hold a part of the row in the copy that a rank reads."""
        segment = next(each for each in self.segments if each.start <= row < each.stop)
        layout = segment.layout
        copy = layout.copies[layout.copy_of[rank]]
        if layout.split == "columns":
            block = -(-TABLE.dim // len(copy))
            columns = [
                len(range(TABLE.dim)[place * block : (place + 1) * block]) for place in range(len(copy))
            ]
            return [(owner, count, layout.tier, True) for owner, count in zip(copy, columns, strict=True)]
        block = -(-(segment.stop - segment.start) // len(copy))
        return [(copy[position(row, segment) // block], TABLE.dim, layout.tier, len(copy) == 1)]

    def run(self, rows_of: list[list[int]]) -> None:
        """`rows_of[rank]` are the rows that a rank looks up."""
        asked: dict[tuple[int, int, Tier, bool], list[tuple[int, int]]] = defaultdict(list)
        for rank, rows in enumerate(rows_of):
            for row in rows:
                for owner, columns, tier, whole in self.owners(rank, row):
                    asked[rank, owner, tier, whole].append((row, columns))
        pooled: dict[tuple[int, int, Tier, bool], set[tuple[int, int]]] = defaultdict(set)
        for (rank, owner, tier, whole), parts in asked.items():
            wanted = parts if self.dedup == "none" else list(set(parts))
            islands = self.topology.island_of
            if self.dedup != "island" or islands[rank] == islands[owner] or tier == Tier.REPLICATED:
                self.exchange("", rank, owner, tier, whole, wanted)
                continue
            members = [m for m in self.pool(rank, tier) if islands[m] == islands[rank]]
            mate = next(
                (m for m in members if self.topology.local_index[m] == self.topology.local_index[owner]),
                members[self.topology.local_index[owner] % len(members)],
            )
            self.exchange("via", rank, mate, tier, whole, wanted)
            pooled[mate, owner, tier, whole] |= set(parts)
        for (mate, owner, tier, whole), parts_set in pooled.items():
            self.exchange("", mate, owner, tier, whole, list(parts_set))

    def pool(self, rank: int, tier: Tier) -> list[int]:
        """Ranks that read the same copy."""
        layout = next(each.layout for each in self.segments if each.layout.tier == tier)
        return [r for r in range(self.topology.world_size) if layout.copy_of[r] == layout.copy_of[rank]]

    def exchange(
        self, via: str, asking: int, asked: int, tier: Tier, whole: bool, parts: list[tuple[int, int]]
    ) -> None:
        columns = sum(count for _, count in parts)
        served = len([count for _, count in parts if count])
        header = 4 * WORKLOAD.batch_per_rank if whole and self.dedup == "none" else 4
        steps = (
            ("ids_gather", "embeddings_spread", "gradients_gather")
            if via
            else ("ids", "embeddings", "gradients")
        )
        if served:
            self.bytes[steps[0], tier][asking, asked] += 8 * served + header
        self.bytes[steps[1], tier][asked, asking] += 2 * columns
        self.bytes[steps[2], tier][asking, asked] += 4 * columns


def looked_up() -> FloatArray:
    popularity = TABLE.popularity
    shares = popularity.share_between(np.arange(popularity.rows), np.arange(1, popularity.rows + 1))
    return np.asarray(shares / shares.sum())


@pytest.mark.parametrize("dedup", ["none", "rank", "island"])
@pytest.mark.parametrize("policy", list(plans()))
def test_every_cell_has_the_mean_of_lookups_drawn_alone(policy: str, dedup: str) -> None:
    segments, shares = plans()[policy], looked_up()
    execution = Execution.model_validate({"dedup": dedup, "gradient_dtype": "fp32"})
    plan = ShardingPlan(policy, 5, (TablePlan("items", segments),), execution)
    placement = prepare(plan, WORKLOAD, TOPOLOGY, seed=SEED)
    fast: dict[str, list[IntArray]] = defaultdict(list)
    slow: dict[str, list[IntArray]] = defaultdict(list)
    rng = generator(SEED, "reference")
    for number in range(ROUNDS):
        for phase in draw_traffic(placement, Batch(LOOKUPS, SEED, number)).phases:
            fast[phase.name].append(phase.matrix)
        model = Model(segments, TOPOLOGY, dedup)
        model.run([list(rng.choice(len(shares), int(count), p=shares)) for count in LOOKUPS[:, 0]])
        for step, tier in list(model.bytes):
            if tier != Tier.REPLICATED:
                slow[f"{step}_{tier}"].append(model.bytes[step, tier])
    assert set(slow) <= set(fast)
    for name, matrices in fast.items():
        means, spreads = np.mean(matrices, axis=0), np.var(matrices, axis=0)
        drawn = np.array(slow.get(name) or [np.zeros((5, 5))])
        total, variance = drawn.sum(axis=0) / ROUNDS, drawn.var(axis=0)
        error = np.sqrt((spreads + variance) / ROUNDS)
        assert (np.abs(means - total) <= 5 * error + 0.02 * total).all(), name
        assert ((means > 0) == (total > 0)).all(), name


def test_counts_have_the_distribution_of_lookups_drawn_alone() -> None:
    """Chi-square on how many of rank 0's lookups fall to each owner, over all rounds, and on their spread."""
    from scipy.stats import chi2_contingency, ks_2samp

    segments, shares = plans()["row_wise"], looked_up()
    plan = ShardingPlan("row_wise", 5, (TablePlan("items", segments),), Execution())
    placement = prepare(plan, WORKLOAD, TOPOLOGY, seed=SEED)
    rng = generator(SEED, "alone")
    owner_of = TABLE.positions(np.arange(len(shares)), start=0, stop=60, seed=SEED) // 12
    row_bytes = 2 * TABLE.dim
    fast, slow = [], []
    for number in range(ROUNDS):
        traffic = draw_traffic(placement, Batch(LOOKUPS, SEED, number))
        embeddings = next(phase.matrix for phase in traffic.phases if phase.step == "embeddings")
        fast.append(embeddings[:, 0] // row_bytes)
        slow.append(np.bincount(owner_of[rng.choice(len(shares), 40, p=shares)], minlength=5))
    totals = np.array([np.sum(fast, axis=0), np.sum(slow, axis=0)])
    assert chi2_contingency(totals).pvalue > 0.001
    for owner in range(5):
        assert ks_2samp(np.array(fast)[:, owner], np.array(slow)[:, owner]).pvalue > 0.001
