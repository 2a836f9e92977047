"""What moves between any two plans is what the two plans differ in."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.sharding.crossings import (
    Crossings,
    crossings_by_drift,
    crossings_by_heat,
    in_heat_order,
    run_stops,
)
from simulator.sharding.execution import Execution
from simulator.sharding.layouts import global_rows, groups, island, replicated, single_owner
from simulator.sharding.migration import migration, placed_alike
from simulator.sharding.plan import Layout, Segment, ShardingPlan, TablePlan
from simulator.topology.build import build_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.topology.topology import Topology
from simulator.workload.popularity.runs import in_order
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.workload import Statistics, TableStatistics

ROWS, DIM = 60, 3
TABLE = TableStatistics("t", ROWS, DIM, 4, ROWS, Uniform(ROWS), 10.0)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    up, out = ScaleUpSpec(bandwidth="10 GB/s"), ScaleOutSpec(nic_bandwidth="1 GB/s")
    return build_topology(TopologySpec(name="any", islands=sizes, scale_up=up, scale_out=out))


@st.composite
def plans(draw: st.DrawFn, topology: Topology) -> TablePlan:
    world = topology.world_size
    layouts: list[Layout] = [
        replicated(topology),
        island(topology),
        global_rows(topology),
        groups(world, draw(st.integers(1, world))),
        single_owner(world, draw(st.integers(0, world - 1))),
    ]
    stops = sorted(draw(st.lists(st.integers(0, ROWS), min_size=1, max_size=4)))
    starts = [0, *stops]
    chosen = [draw(st.sampled_from(layouts)) for _ in stops]
    return TablePlan("t", tuple(map(Segment, starts, stops, chosen)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Topology, TablePlan, TablePlan, Crossings]:
    topology = draw(topologies())
    old, new = draw(plans(topology)), draw(plans(topology))
    if draw(st.booleans()):
        counts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=ROWS).filter(any))
        order = in_heat_order(in_order(np.array(counts)), run_stops(old), ROWS)
        return topology, old, new, crossings_by_heat(old, new, order)
    moved, among = draw(st.floats(0, 1)), draw(st.integers(0, ROWS))
    return topology, old, new, crossings_by_drift(old, new, ROWS, moved=moved, among=among)


@given(cases())
@settings(max_examples=150, deadline=None)
def test_every_row_crosses_once(case: tuple[Topology, TablePlan, TablePlan, Crossings]) -> None:
    _, old, new, crossing = case
    for plan, found in ((old, crossing.rows.sum(axis=1)), (new, crossing.rows.sum(axis=0))):
        sizes = np.diff(np.concatenate([[0], run_stops(plan), [ROWS]]))
        np.testing.assert_allclose(found, sizes, atol=1e-9)
    assert (crossing.rows >= -1e-9).all()


@given(cases())
@settings(max_examples=150, deadline=None)
def test_bytes_are_those_of_the_copies_that_the_new_plan_wants(
    case: tuple[Topology, TablePlan, TablePlan, Crossings],
) -> None:
    topology, old, new, crossing = case
    plan = ShardingPlan("p", topology.world_size, (old,), Execution(optimizer="adam"))
    result = migration([crossing], Statistics((TABLE,)), plan, topology)
    wanted = sum(
        crossing.rows[i, j] * len(to.layout.copies)
        for i, start in enumerate(old.segments)
        for j, to in enumerate(new.segments)
        if not placed_alike(start, to)
    )
    rounding = topology.world_size**2 / 2 + 1
    assert abs(int(result.matrix.sum()) - wanted * DIM * (4 + 8)) <= rounding
    assert (result.matrix >= 0).all()
    assert 0 <= result.inter_island_bytes(topology) <= result.moved_bytes
    if topology.island_count == 1:
        assert result.inter_island_bytes(topology) == 0


@given(cases())
@settings(max_examples=100, deadline=None)
def test_a_rank_is_sent_only_what_it_wants_by_those_who_held_it(
    case: tuple[Topology, TablePlan, TablePlan, Crossings],
) -> None:
    topology, old, new, crossing = case
    plan = ShardingPlan("p", topology.world_size, (old,), Execution())
    matrix = migration([crossing], Statistics((TABLE,)), plan, topology).matrix
    held = {rank for run in old.segments for copy in run.layout.copies for rank in copy}
    wanted = {rank for run in new.segments for copy in run.layout.copies for rank in copy}
    assert set(np.flatnonzero(matrix.sum(axis=1)).tolist()) <= held
    assert set(np.flatnonzero(matrix.sum(axis=0)).tolist()) <= wanted
