"""What the collectives of an iteration take on top of the tables, in expectation.

A rank holds the embeddings of all its lookups from the forward to the backward pass (each row once with dedup),
whichever tier they came from, and while one all-to-all runs, what it sends and receives in it. Ranks are taken
as balanced; the owner of a hot row needs more. None of it counts in "no additional memory", which is about what
tables keep.
"""

import numpy as np

from simulator.arrays import IntArray
from simulator.sharding.expected import distinct_rows, lookups, run_of
from simulator.sharding.plan import ShardingPlan
from simulator.sharding.predict import exchanges_of
from simulator.topology.topology import Topology
from simulator.workload.workload import Statistics


def buffer_bytes(plan: ShardingPlan, statistics: Statistics, topology: Topology) -> IntArray:
    """[world_size] int64 expected bytes: embeddings kept, and the largest all-to-all's both ends."""
    kept_bytes = 0.0
    for table in statistics.tables:
        run = run_of(table, 0, table.rows)
        rows = lookups(run, table) if plan.execution.dedup == "none" else distinct_rows(run, table)
        kept_bytes += rows * table.row_bytes
    largest = np.zeros(topology.world_size)
    for moved in exchanges_of(plan, statistics, topology).values():
        for call in moved.calls:
            largest = np.maximum(largest, call.nic_out + call.up_out + call.nic_in + call.up_in)
    return np.ceil(kept_bytes + largest).astype(np.int64)
