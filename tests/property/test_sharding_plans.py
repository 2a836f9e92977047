"""What holds for the plan of every policy on any cluster and any tables."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import UserError
from simulator.sharding.check import check_plan
from simulator.sharding.execution import Execution
from simulator.sharding.explain import explain_plan
from simulator.sharding.layouts import shard_bounds
from simulator.sharding.memory import memory_bytes, row_memory_bytes
from simulator.sharding.predict import predict
from simulator.sharding.registry import PolicyEntry, available, make_plan
from simulator.topology.build import build_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Topology
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.workload import Statistics, TableStatistics


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    sizes = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    nic = draw(st.integers(1, 50))
    return build_topology(
        TopologySpec(
            name="any",
            islands=sizes,
            scale_up=ScaleUpSpec(bandwidth=f"{nic * draw(st.integers(1, 10))} GB/s", latency="1 us"),
            scale_out=ScaleOutSpec(nic_bandwidth=f"{nic} GB/s", latency="2 us"),
        )
    )


@st.composite
def tables(draw: st.DrawFn, name: str) -> TableStatistics:
    rows = draw(st.one_of(st.integers(1, 50), st.integers(1, 2**40)))
    touched = draw(st.integers(1, rows))
    s = draw(st.sampled_from([0.0, 0.7, 1.0, 1.3]))
    popularity = ZipfMandelbrot(touched, s, 1.0) if s else Uniform(touched)
    dim = draw(st.integers(1, 300))
    lookups = draw(st.sampled_from([0.0, 0.5, 100.0, 1e5]))
    return TableStatistics(name, rows, dim, 2, touched, popularity, lookups)


@st.composite
def workloads(draw: st.DrawFn) -> Statistics:
    count = draw(st.integers(1, 4))
    return Statistics(tuple(draw(tables(f"t{index}")) for index in range(count)))


executions = st.builds(
    Execution,
    dedup=st.sampled_from(["none", "rank", "island"]),
    all_to_all=st.sampled_from(["direct", "hierarchical", "rail"]),
    tiers=st.sampled_from(["serial", "concurrent"]),
    sync=st.sampled_from(["dense", "sparse"]),
    sync_algorithm=st.sampled_from(["flat", "hierarchical"]),
    sync_every=st.sampled_from([1, 4]),
    optimizer=st.sampled_from(["none", "rowwise_adagrad", "adam"]),
)
names = st.sampled_from([policy.name for policy in available() if policy.name != "saved_plan"])


def roomy(topology: Topology) -> Topology:
    """The same with memory for anything."""
    return replace(topology, hbm_capacity_bytes=2**60)


@settings(max_examples=120, deadline=None)
@given(names, topologies(), workloads(), executions)
def test_every_plan_places_every_row_once_and_can_be_predicted(name, topology, statistics, execution):
    topology = roomy(topology)
    plan = make_plan(PolicyEntry.parse(name), statistics, topology, execution)
    check_plan(plan, statistics, topology)
    prediction = predict(plan, statistics, topology)
    assert 0 <= prediction.sync_s <= prediction.total_s < float("inf")
    if topology.world_size == 1:
        assert prediction.total_s == 0
    if topology.island_count == 1:
        assert sum(phase.inter_island_bytes for phase in prediction.phases) == 0
    runs = explain_plan(plan, statistics, topology)
    assert sum(run.stop - run.start for run in runs) == sum(table.rows for table in statistics.tables)


@settings(max_examples=80, deadline=None)
@given(names, topologies(), workloads(), executions)
def test_memory_is_every_copys_rows(name, topology, statistics, execution):
    """Summed over ranks: rows times copies, whatever the blocks; state of row-wise AdaGrad is left out, since
    owners of columns keep one each."""
    if execution.optimizer == "rowwise_adagrad":
        execution = execution.model_copy(update={"optimizer": "none"})
    plan = make_plan(PolicyEntry.parse(name), statistics, roomy(topology), execution)
    use = memory_bytes(plan, statistics, topology)
    expected = sum(
        (segment.stop - segment.start)
        * len(segment.layout.copies)
        * row_memory_bytes(table, execution.optimizer)
        for table, table_plan in zip(statistics.tables, plan.tables, strict=True)
        for segment in table_plan.segments
    )
    assert int(use.total_bytes.sum() + use.host_bytes.sum()) == expected


@settings(max_examples=40, deadline=None)
@given(topologies(), workloads(), executions, st.sampled_from([{}, {"budget": "0 %"}, {"budget": "7 %"}]))
def test_flexshard_keeps_to_memory_and_is_never_predicted_worse(topology, statistics, execution, keys):
    topology = roomy(topology)
    row_wise, flexshard = (
        make_plan(PolicyEntry.parse(entry), statistics, topology, execution)
        for entry in ("row_wise", {"name": "flexshard", **keys})
    )
    used = [memory_bytes(plan, statistics, topology).max_bytes for plan in (row_wise, flexshard)]
    assert used[1] <= used[0] * (1.07 if keys.get("budget") == "7 %" else 1.0)
    times = [predict(plan, statistics, topology, hot_owners=True).total_s for plan in (row_wise, flexshard)]
    assert times[1] <= times[0]  # the busiest owner counted, as its notes say
    if keys.get("budget") == "0 %":
        assert [each.segments[-1].stop for each in flexshard.tables] == [
            each.rows for each in statistics.tables
        ]


@settings(max_examples=50, deadline=None)
@given(topologies(), workloads(), st.integers(1, 10**9))
def test_what_does_not_fit_is_an_error_and_never_a_crash(topology, statistics, capacity_bytes):
    tight = replace(topology, hbm_capacity_bytes=capacity_bytes)
    for policy in (each for each in available() if each.name != "saved_plan"):
        try:
            plan = make_plan(PolicyEntry.parse(policy.name), statistics, tight, Execution())
            check_plan(plan, statistics, tight)
        except UserError:
            continue
        assert memory_bytes(plan, statistics, tight).max_bytes <= capacity_bytes


@given(st.integers(0, 2**62), st.integers(1, 5000))
def test_blocks_cover_rows_exactly(rows, owners):
    bounds = shard_bounds(rows, owners).tolist()
    assert bounds[0] == 0
    assert bounds[-1] == rows
    block = -(-rows // owners)
    assert all(0 <= later - earlier <= block for earlier, later in pairwise(bounds))
