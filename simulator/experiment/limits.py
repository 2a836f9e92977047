"""What a topology and a workload must be together before anything is planned: ranks that exist, bytes that count.

Sizes that no cluster has would pass through 64-bit integers unseen, or take more memory than there is, so they are
refused with their numbers.
"""

from collections.abc import Iterator

from simulator.errors import UserError
from simulator.sums import added
from simulator.topology.topology import Topology
from simulator.units import format_bytes
from simulator.workload.workload import Workload

MOST_ITERATION_BYTES = 10**18
MOST_SKEWED_SAMPLES = 2 * 10**7  # whose lengths are drawn one by one
MOST_SHARDS = 5 * 10**7  # tables x ranks; every policy keeps a few numbers of each
SHARD_BYTES = 64
REQUEST_BYTES = 12  # of a lookup, beside its embedding
WIDEST_ELEMENT_BYTES = 4


def check_limits(topology: Topology, workload: Workload) -> None:
    """Raises UserError, one line for each problem."""
    problems = [f"workload {workload.name}: {text}" for text in limit_problems(topology, workload)]
    if problems:
        raise UserError("\n".join(problems))


def limit_problems(topology: Topology, workload: Workload) -> Iterator[str]:
    """Raises UserError for a rank that does not exist."""
    world_size, tables = topology.world_size, len(workload.tables)
    samples = int(workload.samples(world_size).sum())
    if tables * world_size > MOST_SHARDS:
        yield (
            f"{tables:,} tables on {world_size:,} ranks are {tables * world_size:,} shards, allowed: {MOST_SHARDS:,}; "
            f"they would take about {format_bytes(tables * world_size * SHARD_BYTES)} of memory"
        )
    moved_bytes = iteration_bytes(workload, samples, world_size)
    if moved_bytes > MOST_ITERATION_BYTES:
        yield (
            f"one iteration would move {format_bytes(moved_bytes)} on {world_size:,} ranks, allowed: "
            f"{format_bytes(MOST_ITERATION_BYTES)}"
        )
    if workload.rank_skew is not None:
        if workload.rank_skew.rank >= world_size:
            yield f"rank_skew names rank {workload.rank_skew.rank}, there are 0..{world_size - 1}"
        if samples > MOST_SKEWED_SAMPLES:
            yield f"rank_skew draws each of {samples:,} samples apart, allowed: {MOST_SKEWED_SAMPLES:,}"


def iteration_bytes(workload: Workload, samples: int, world_size: int) -> float:
    """Expected bytes of ids and embeddings, and of the dense all-reduce, as if none were local."""
    lookups_bytes = added(
        samples * table.length.mean * (table.dim * WIDEST_ELEMENT_BYTES + REQUEST_BYTES)
        for table in workload.tables
    )
    return lookups_bytes + 2.0 * world_size * workload.dense.parameters * workload.dense.gradient_bytes
