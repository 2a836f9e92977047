"""The workloads' cases: one iteration's draws of 1,024 ranks and 50 tables of 1e9 rows, row-wise over all ranks.

`first` includes placing the plan and how distinct rows grow with lookups, which later iterations find worked out.
Bytes are exact: draws that change change them.
"""

from dataclasses import dataclass
from functools import partial

from benchmarks.case import Case, Figures
from simulator.sharding.execution import Execution
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import uniform_topology
from simulator.topology.topology import Topology
from simulator.traffic.placement import Placement, prepare
from simulator.traffic.traffic import draw_traffic
from simulator.workload.lengths import lognormal
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Workload

RANKS_PER_ISLAND = 8
ROWS = 10**9
TARGET = "10 s"
SEED = 1


@dataclass(frozen=True, eq=False)
class Work:
    """A plan and what it is for."""

    topology: Topology
    workload: Workload
    plan: ShardingPlan


def work(ranks: int, tables: int, dedup: str) -> Work:
    """A row-wise plan of equal tables, 50 lookups a sample on average."""
    topology = uniform_topology(
        islands=ranks // RANKS_PER_ISLAND,
        gpus_per_island=RANKS_PER_ISLAND,
        scale_up_bytes_per_s=450e9,
        nic_bytes_per_s=50e9,
    )
    popularity = ZipfMandelbrot(ROWS, 1.15, 2.75)
    length = lognormal(mean=50, sigma=1.0, min=1, max=1000)
    made = [Table(f"t{index}", ROWS, 128, popularity, length) for index in range(tables)]
    workload = Workload("benchmark", 512, 2, tuple(made))
    execution = Execution.model_validate({"dedup": dedup})
    plan = make_plan(PolicyEntry.parse("row_wise"), workload.statistics(), topology, execution)
    return Work(topology, workload, plan)


def placed(work: Work) -> Placement:
    """The plan's shares."""
    return prepare(work.plan, work.workload, work.topology, seed=SEED)


def iteration(work: Work, placement: Placement, number: int) -> Figures:
    """Draw one iteration's lookups and bytes."""
    batch = work.workload.draw_batch(work.topology.world_size, seed=SEED, iteration=number)
    traffic = draw_traffic(placement, batch)
    return {
        "lookups": int(batch.lookups.sum()),
        "bytes": sum(int(phase.matrix.sum()) for phase in traffic.phases),
    }


def first(work: Work) -> Figures:
    """From a plan to the first iteration's bytes."""
    return iteration(work, placed(work), 0)


def warmed(ranks: int, tables: int, dedup: str) -> tuple[Work, Placement]:
    """A placement that has drawn its first iteration."""
    made = work(ranks, tables, dedup)
    placement = placed(made)
    iteration(made, placement, 0)
    return made, placement


def later(warm: tuple[Work, Placement]) -> Figures:
    """One iteration of a placement that has drawn one before."""
    return iteration(*warm, 1)


def cases(dedup: str, first_bytes: int, later_bytes: int) -> tuple[Case, Case]:
    """The first iteration and the second."""
    sizes = (1024, 50, dedup)
    return (
        Case(f"first {dedup}", partial(work, *sizes), first, rounds=1, counts={"bytes": first_bytes}),
        Case(f"draws {dedup}", partial(warmed, *sizes), later, TARGET, 2, counts={"bytes": later_bytes}),
    )


CASES = (
    *cases("none", 681_876_979_900, 681_721_498_820),
    *cases("rank", 268_262_823_100, 268_197_235_460),
    *cases("island", 462_554_997_260, 462_452_123_020),
)
