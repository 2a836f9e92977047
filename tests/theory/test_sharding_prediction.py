"""Predicted communication against closed forms worked out by hand.

All on pure topologies: N islands of L ranks, W = N L, NIC share B and scale-up port S of every rank. A rank makes
n lookups of rows of b bytes; ids are 8 bytes, gradients as long as embeddings.
"""

import numpy as np
import pytest

from simulator.sharding.execution import Execution
from simulator.sharding.layouts import groups
from simulator.sharding.plan import Segment, ShardingPlan, TablePlan, Tier
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, make_plan
from simulator.topology.build import build_topology, uniform_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, StartupSpec, TopologySpec
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

N, L, S, B = 4, 8, 3e11, 2.5e10
W = N * L
ROWS, DIM, LOOKUPS = 10**6, 64, 50_000.0
ROW_BYTES = 2 * DIM
ALL_STEPS = 8 + 2 * ROW_BYTES  # bytes of a lookup over ids, embeddings and gradients

TOPOLOGY = uniform_topology(islands=N, gpus_per_island=L, scale_up_bytes_per_s=S, nic_bytes_per_s=B)


def statistics(tables: int = 1) -> Statistics:
    return Statistics(
        tuple(
            TableStatistics(f"t{index}", ROWS, DIM, 2, ROWS, Uniform(ROWS), LOOKUPS)
            for index in range(tables)
        )
    )


def prediction(entry, topology=TOPOLOGY, tables: int = 1):
    plan = make_plan(PolicyEntry.parse(entry), statistics(tables), topology, Execution())
    return predict(plan, statistics(tables), topology)


def test_row_wise_sends_all_but_the_islands_share_over_nics():
    """Of a rank's n lookups (W - L) / W are owned elsewhere; scale-up, (L - 1) / W, is faster beside it."""
    found = prediction("row_wise")
    assert found.total_s == pytest.approx(LOOKUPS * ALL_STEPS * (W - L) / W / B)
    assert found.sync_s == 0.0
    assert found.global_all_to_all_bytes == pytest.approx(W * LOOKUPS * ALL_STEPS * (W - 1) / W)


def test_scale_up_limits_where_it_is_the_slower():
    """One island: everything goes over scale-up ports, (L - 1) / L of it leaves the rank."""
    found = prediction(
        "row_wise",
        uniform_topology(islands=1, gpus_per_island=L, scale_up_bytes_per_s=S, nic_bytes_per_s=B),
    )
    assert found.total_s == pytest.approx(LOOKUPS * ALL_STEPS * (L - 1) / L / S)
    assert sum(phase.inter_island_bytes for phase in found.phases) == 0.0


def test_table_wise_loads_one_nic_with_everything():
    """The owner answers all ranks of other islands: (W - L) n lookups through one NIC share."""
    assert prediction("table_wise").total_s == pytest.approx((W - L) * LOOKUPS * ALL_STEPS / B)


def test_as_many_tables_as_ranks_make_table_wise_as_good_as_row_wise():
    assert prediction("table_wise", tables=W).total_s == pytest.approx(
        prediction("row_wise", tables=W).total_s
    )


def test_columns_multiply_the_ids_alone():
    """Two owners of half the columns each: rows as table-wise split in two; every id goes to both."""
    found = prediction({"name": "column_wise", "shards": 2})
    rows_s = (W - L) * LOOKUPS * 2 * ROW_BYTES / 2 / B
    ids_s = (W - L) * LOOKUPS * 8 / B
    assert found.total_s == pytest.approx(rows_s + ids_s)


def test_table_row_wise_saves_nothing_un_pooled():
    """Issue oracle. Derivation: each owner of the island answers n (W - L) / L lookups of other islands, so its
    NIC carries (W - L) / L n b where row-wise spreads (W - L) / W n b over every NIC: N times as long with one
    table; with tables in every island alike as long, never shorter. No sum is formed, so no byte is saved."""
    one = prediction("table_row_wise")
    assert one.total_s == pytest.approx((W - L) / L * LOOKUPS * ALL_STEPS / B)
    even, row_wise = prediction("table_row_wise", tables=N), prediction("row_wise", tables=N)
    assert even.total_s == pytest.approx(row_wise.total_s)
    crossing = [sum(phase.inter_island_bytes for phase in each.phases) for each in (even, row_wise)]
    assert crossing[0] == pytest.approx(crossing[1])


def test_two_dimensional_by_island_keeps_lookups_inside_and_syncs_weights():
    """Inside: (L - 1) / L n b over scale-up. Sync: a ring over N copies, 2 (N - 1) / N of a shard R b / L."""
    found = prediction({"name": "two_dimensional", "group_size": L})
    assert found.without_sync_s == pytest.approx(LOOKUPS * ALL_STEPS * (L - 1) / L / S)
    assert found.sync_s == pytest.approx(2 * (N - 1) / N * ROWS * ROW_BYTES / L / B)


def test_copies_within_an_island_meet_over_scale_up():
    """Groups of L / 2: the ring of 2 N copies crosses islands on every other edge, so NICs carry the same."""
    plan = ShardingPlan("halves", W, (TablePlan("t0", (Segment(0, ROWS, groups(W, L // 2)),)),), Execution())
    found = predict(plan, statistics(), TOPOLOGY)
    copies = 2 * N
    edge_bytes = 2 * (copies - 1) / copies * ROWS * ROW_BYTES / (L // 2)
    assert found.sync_s == pytest.approx(edge_bytes / B)
    sync = found.phases[-1]
    assert sync.inter_island_bytes == pytest.approx(edge_bytes * N * L / 2)
    assert sync.intra_island_bytes == pytest.approx(edge_bytes * N * L / 2)


def test_data_parallel_hierarchical():
    """Reduce-scatter and all-gather in islands, (L - 1) / L of all rows each; across, 2 (N - 1) / N of R b / L."""
    found = prediction("data_parallel")
    table_bytes = ROWS * ROW_BYTES
    inside_s = 2 * (L - 1) / L * table_bytes / S
    across_s = 2 * (N - 1) / N * table_bytes / L / B
    assert found.total_s == found.sync_s == pytest.approx(inside_s + across_s)


def test_data_parallel_flat():
    """A ring for each local index: 2 (W - 1) / W of R b / L on every edge; L - 1 of a rank's edges stay inside."""
    found = prediction({"name": "data_parallel", "sync_algorithm": "flat"})
    edge_bytes = 2 * (W - 1) / W * ROWS * ROW_BYTES / L
    assert found.sync_s == pytest.approx(max(edge_bytes / B, (L - 1) * edge_bytes / S))


def test_sparse_synchronisation_of_replicas_moves_what_was_touched():
    """Hierarchical: ranks hand mates what they touched, islands exchange what they touched, and spread it."""
    found = prediction({"name": "data_parallel", "sync": "sparse"})
    by_rank = ROWS * -np.expm1(LOOKUPS * np.log1p(-1 / ROWS)) * (8 + ROW_BYTES)
    by_island = ROWS * -np.expm1(L * LOOKUPS * np.log1p(-1 / ROWS)) * (8 + ROW_BYTES)
    expected_s = by_rank * (L - 1) / L / S + (N - 1) * by_island / L / B + N * by_island * (L - 1) / L / S
    assert found.sync_s == pytest.approx(expected_s)


def test_sparse_synchronisation_of_shards_goes_to_every_other_copy():
    found = prediction({"name": "two_dimensional", "group_size": L, "sync": "sparse"})
    touched = ROWS * -np.expm1(L * LOOKUPS * np.log1p(-1 / ROWS)) * (8 + ROW_BYTES)
    assert found.sync_s == pytest.approx((N - 1) * touched / L / B)


def test_synchronising_every_k_iterations_costs_a_kth():
    once = prediction({"name": "two_dimensional", "group_size": L})
    seldom = prediction({"name": "two_dimensional", "group_size": L, "sync_every": 5})
    assert seldom.sync_s == pytest.approx(once.sync_s / 5)
    assert seldom.without_sync_s == pytest.approx(once.without_sync_s)


def test_groups_synchronise_optimizer_state_too():
    """Weights of 2 bytes and two fp32 numbers an element under Adam: 10 bytes for 2."""
    plain = prediction({"name": "two_dimensional", "group_size": L})
    adam = prediction({"name": "two_dimensional", "group_size": L, "optimizer": "adam"})
    assert adam.sync_s == pytest.approx(5 * plain.sync_s)


def test_dedup_by_rank_asks_for_a_row_once():
    found = prediction({"name": "row_wise", "dedup": "rank"})
    distinct = ROWS * -np.expm1(LOOKUPS * np.log1p(-1 / ROWS))
    assert found.total_s == pytest.approx(distinct * ALL_STEPS * (W - L) / W / B)


def test_dedup_by_island_asks_for_a_row_once_an_island():
    """NIC: what the island asks for, spread over its ranks; before or after it over scale-up what its ranks ask
    of owners elsewhere, (W - L) / W, but for the L-th part that the mate asks itself."""
    found = prediction({"name": "row_wise", "dedup": "island"})
    by_rank = ROWS * -np.expm1(LOOKUPS * np.log1p(-1 / ROWS))
    by_island = ROWS * -np.expm1(L * LOOKUPS * np.log1p(-1 / ROWS))
    nic_s = by_island / L * ALL_STEPS * (W - L) / W / B
    handed_s = by_rank * ALL_STEPS * (W - L) / W * (L - 1) / L / S
    assert found.total_s == pytest.approx(nic_s + handed_s)


def test_gradients_in_fp32_weigh_double():
    found = prediction({"name": "row_wise", "gradient_dtype": "fp32"})
    assert found.total_s == pytest.approx(LOOKUPS * (8 + 3 * ROW_BYTES) * (W - L) / W / B)


def test_rail_hands_over_first():
    found = prediction({"name": "row_wise", "all_to_all": "rail"})
    nic_s = LOOKUPS * ALL_STEPS * (W - L) / W / B
    handed_s = LOOKUPS * ALL_STEPS * ((L - 1) / W + (W - L) / W * (L - 1) / L) / S
    assert found.total_s == pytest.approx(nic_s + handed_s)


@pytest.mark.parametrize(("islands", "size", "busiest"), [(4, 8, 8 / 3 / 2), (9, 8, 1.0), (16, 8, 16 / 15)])
def test_leaders_of_a_hierarchical_all_to_all_are_not_all_alike(islands, size, busiest):
    """The busiest leader over the mean: 3 rounds take 2 leaders each, 6 of 8; 9 rounds of which each island has
    8; 15 rounds over 8 leaders, two for most."""
    from simulator.sharding.exchange import leader_load

    topology = uniform_topology(
        islands=islands, gpus_per_island=size, scale_up_bytes_per_s=S, nic_bytes_per_s=B
    )
    expected = {(4, 8): 8 / 6, (9, 8): 2.0, (16, 8): 16 / 15}[islands, size]
    assert leader_load(topology) == pytest.approx(expected)


def start_up_topology():
    return build_topology(
        TopologySpec(
            name="slow to start",
            islands=N,
            gpus_per_island=L,
            scale_up=ScaleUpSpec(bandwidth="300 GB/s", latency="1 us", startup=StartupSpec(alpha="5 us")),
            scale_out=ScaleOutSpec(
                nic_bandwidth="25 GB/s",
                latency="3 us",
                message_gap="2 us",
                startup=StartupSpec(alpha="20 us", gamma="0.001 us"),
            ),
        )
    )


def test_start_up_gaps_and_latency_are_added_for_every_call():
    """Row-wise: three all-to-alls of 24 messages to other islands: alpha + gamma sqrt(bytes) + latency + gaps."""
    slow, fast = prediction("row_wise", start_up_topology()), prediction("row_wise")
    sent = [LOOKUPS * each * (W - 1) / W for each in (8, ROW_BYTES, ROW_BYTES)]
    expected_s = sum(20e-6 + 1e-9 * each**0.5 + 3e-6 + (W - L) * 2e-6 for each in sent)
    assert slow.total_s - fast.total_s == pytest.approx(expected_s)


def test_rings_have_a_latency_and_a_gap_for_each_step():
    slow, fast = (prediction("data_parallel", topology) for topology in (start_up_topology(), TOPOLOGY))
    table_bytes = ROWS * ROW_BYTES
    inside_s = 2 * (5e-6 + (L - 1) * 1e-6)
    across_s = 20e-6 + 1e-9 * (2 * (N - 1) / N * table_bytes / L) ** 0.5 + 2 * (N - 1) * (3e-6 + 2e-6)
    assert slow.total_s - fast.total_s == pytest.approx(inside_s + across_s)


def test_a_ring_goes_no_faster_than_one_pair():
    capped = build_topology(
        TopologySpec(
            name="capped",
            islands=N,
            gpus_per_island=L,
            scale_up=ScaleUpSpec(bandwidth="300 GB/s", pair_cap="100 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="25 GB/s"),
        )
    )
    table_bytes = ROWS * ROW_BYTES
    expected_s = 2 * (L - 1) / L * table_bytes / 1e11 + 2 * (N - 1) / N * table_bytes / L / B
    assert prediction("data_parallel", capped).total_s == pytest.approx(expected_s)


def test_unequal_islands_wait_for_the_smallest():
    """Ranks of the island of 2 send (W - 2) / W outside; copies in it hold 1/2 of the rows each."""
    topology = build_topology(
        TopologySpec(
            name="uneven",
            islands=(6, 2),
            scale_up=ScaleUpSpec(bandwidth="300 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="25 GB/s"),
        )
    )
    assert prediction("row_wise", topology).total_s == pytest.approx(LOOKUPS * ALL_STEPS * 6 / 8 / B)
    found = prediction({"name": "flexshard", "budget": "100000 %"}, topology)
    island_sync = [
        phase for phase in found.phases if (phase.step, phase.tier) == ("replica_sync", Tier.ISLAND)
    ]
    for phase in island_sync:
        assert phase.inter_island_bytes > 0


def tiered(tiers: str) -> ShardingPlan:
    from simulator.sharding.layouts import global_rows, island

    cut = ROWS // 2
    segments = (Segment(0, cut, island(TOPOLOGY)), Segment(cut, ROWS, global_rows(TOPOLOGY)))
    return ShardingPlan("half", W, (TablePlan("t0", segments),), Execution(tiers=tiers))


def test_tiers_one_after_another_or_at_once():
    """Half of the lookups stay inside: (L - 1) / L over scale-up. At once, the NICs' half hides it."""
    nic_s = LOOKUPS / 2 * ALL_STEPS * (W - L) / W / B
    inside_s = LOOKUPS / 2 * ALL_STEPS * (L - 1) / L / S
    serial, together = (predict(tiered(tiers), statistics(), TOPOLOGY) for tiers in ("serial", "concurrent"))
    assert serial.without_sync_s == pytest.approx(nic_s + inside_s)
    assert together.without_sync_s == pytest.approx(nic_s)
    assert together.sync_s == serial.sync_s


def test_at_once_scale_up_carries_both():
    """With slow scale-up ports their bytes decide: the island tier's and the global tier's inside part."""
    topology = uniform_topology(islands=N, gpus_per_island=L, scale_up_bytes_per_s=B, nic_bytes_per_s=B)
    found = predict(tiered("concurrent"), statistics(), topology)
    up_s = LOOKUPS / 2 * ALL_STEPS * ((L - 1) / L + (L - 1) / W) / B
    assert found.without_sync_s == pytest.approx(up_s)
