"""Practitioners' cases 8 to 15, traffic, links and late ranks, as a user meets them."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from as_user import User

import simulator

HOT = "rows: 8, dim: 4, order: sorted, touched: 0.125, length: 1, popularity: {kind: uniform}"
EVEN_4 = [[10**6] * 4] * 4


def sent(topology: str, workload: str, policy: object) -> list[int]:
    """Bytes of embeddings that each rank sends to others."""
    phases = simulator.simulate(topology, workload, policy).traffic.phases
    matrices = [phase.matrix for phase in phases if phase.step == "embeddings"]
    return sum((each.sum(axis=1) - np.diag(each) for each in matrices), np.zeros(4, np.int64)).tolist()


def test_case_08_everybody_looks_up_row_0(user: User) -> None:
    """30 lookups from afar x 16 B. The time is that of rank 0: 2 x 10 rows through its NIC, at 320 B/s one second."""
    topology = user.topology(more="scale_out: {nic_bandwidth: 320 B/s}")
    workload = user.workload(HOT)
    assert sent(topology, workload, "row_wise") == [480, 0, 0, 0]
    found = user.compares(topology, workload, "row_wise")["row_wise"]
    assert found["imbalance"] == 4.0
    phases = simulator.simulate(topology, workload, "row_wise").phases.set_index("phase")
    assert phases["transfer_s"]["embeddings_global"] == pytest.approx(1.0)
    assert phases["bottleneck"]["embeddings_global"] == "nic/0/egress"


def test_case_08_the_row_replicated_or_asked_for_once(user: User) -> None:
    topology, workload = user.topology(), user.workload(HOT)
    plan = "policy: copies\nworld_size: 4\ntables:\n- table: t0\n  segments:\n  - {to: 1, tier: replicated}\n"
    user.file("p.yaml", plan + "  - {to: 8, tier: global}\n")
    user.does("compare", topology, workload, "--plan", "p.yaml", "--iterations", "1", "--json", "c.json")
    [found] = json.loads(Path("c.json").read_text())["policies"]
    assert found["global_all_to_all_bytes"] == 0
    assert sent(topology, workload, {"name": "row_wise", "dedup": "rank"}) == [48, 0, 0, 0]


@pytest.mark.parametrize("policy", ["row_wise", "table_wise", "two_dimensional", "hybrid", "flexshard"])
def test_case_09_ranks_and_tables_with_nothing_to_do(user: User, policy: str) -> None:
    topology = user.topology()
    line = "rows: 100, dim: 4, length: 5"
    idle = user.workload(line, name="idle.yaml", more="batch_of_rank: [{rank: 3, samples: 0}]\n")
    some = user.compares(topology, idle, policy)[policy]
    assert some["communication_s"] > 0
    silent = user.workload("rows: 100, dim: 4, length: 0", name="silent.yaml")
    none = user.compares(topology, silent, policy, "data_parallel")[policy]
    assert none["imbalance"] is None
    for figures in (some, none):
        numbers = [value for value in figures.values() if isinstance(value, (int, float))]
        assert np.isfinite(numbers).all()


def test_case_09_holes_in_a_matrix(user: User) -> None:
    topology = user.topology()
    nothing = user.exchanges(topology, [[0] * 4] * 4)
    assert (nothing["time_s"], nothing["bound_s"], nothing["bottleneck"]) == (0, 0, "none")
    assert nothing["busbw_bytes_per_s"] is None
    row = user.exchanges(topology, [[0] * 4, *EVEN_4[1:]])
    column = user.exchanges(topology, [[0, *each[1:]] for each in EVEN_4])
    assert row["time_s"] == column["time_s"] == pytest.approx(2e6 / 10e9)
    assert len(row["rank_finish_s"]) == 4


def test_case_10_eight_ranks_take_seven_slots(user: User) -> None:
    topology = user.topology(islands="8", size=1, more="scale_out: {nic_bandwidth: 1 MB/s}")
    assert user.exchanges(topology, [[10**6] * 8] * 8)["time_s"] == pytest.approx(7.0)


def test_case_11_fewer_nics_take_longer_in_inverse_ratio(user: User) -> None:
    """64 MB leave an island of 8, through 1, 2, 4 or 8 NICs of 10 GB/s."""
    for nics in (1, 2, 4, 8):
        more = f"scale_out: {{nics_per_island: {nics}, nic_bandwidth: 10 GB/s}}"
        found = user.exchanges(user.topology(size=8, more=more), [[10**6] * 16] * 16)
        assert found["time_s"] == pytest.approx(64e6 / 10e9 / nics)


def test_case_11_a_rail_only_fabric_uses_nvlink_for_other_rails(user: User) -> None:
    """One byte more on NVLink for each byte that changes rails, and none less on NICs."""
    workload = user.workload("rows: 10_000, dim: 8, length: 20")
    found = {}
    for kind in ("non_blocking", "rail_only"):
        topology = user.topology(more=f"scale_out: {{nic_bandwidth: 10 GB/s, fabric: {{kind: {kind}}}}}")
        found[kind] = simulator.simulate(topology, workload, "row_wise")
    matrix = sum(phase.matrix for phase in found["rail_only"].traffic.phases)
    crossing = sum(
        int(matrix[one, two])
        for one, two in itertools.permutations(range(4), 2)
        if one // 2 != two // 2 and one % 2 != two % 2
    )
    free, rails = (found[kind].metrics for kind in ("non_blocking", "rail_only"))
    assert rails.mean("intra_island_bytes") == free.mean("intra_island_bytes") + crossing
    assert rails.mean("inter_island_bytes") == free.mean("inter_island_bytes")


def test_case_11_rails_cannot_be_crossed_directly(user: User) -> None:
    fabric = "{kind: rail_only, cross_rail: direct}"
    topology = user.topology(more=f"scale_out: {{nic_bandwidth: 10 GB/s, fabric: {fabric}}}")
    said = user.is_refused("all-to-all", topology, "--bytes", "1 GB")
    assert said.startswith("t.yaml:6:")
    assert "cross_rail: found 'direct': a rail-only fabric has no path from rail to rail" in said


def test_case_12_what_stays_at_home_uses_no_network_and_no_port_is_above_its_rate(user: User) -> None:
    topology = user.topology()
    assert user.exchanges(topology, np.diag([10**9] * 4).tolist())["time_s"] == 0
    with_own = user.exchanges(topology, EVEN_4)
    without = user.exchanges(topology, (np.array(EVEN_4) - np.diag([10**6] * 4)).tolist())
    assert with_own["time_s"] == without["time_s"]
    workload = user.workload("rows: 100, dim: 4, length: 30", popularity="{kind: zipf, s: 1.2}")
    links = simulator.simulate(topology, workload, "row_wise", tolerance=None).links
    assert 0 < links["utilisation"].max() <= 1


def test_case_13_halving_a_bandwidth_doubles_the_time_if_it_is_the_bottleneck(user: User) -> None:
    rows = EVEN_4
    whole = user.exchanges(user.topology(), rows)
    nic = user.exchanges(user.topology(more="scale_out: {nic_bandwidth: 5 GB/s}"), rows)
    port = user.exchanges(user.topology(more="scale_up: {bandwidth: 50 GB/s}"), rows)
    assert whole["bottleneck"].startswith("nic/")
    assert nic["time_s"] == 2 * whole["time_s"]
    assert port["time_s"] == whole["time_s"]
    assert port["bottleneck"] == whole["bottleneck"]  # which says why nothing changed
    assert whole["bottleneck"] in user.does("all-to-all", user.topology(), "--matrix", "m.txt")


def test_case_14_a_rank_that_comes_5_ms_late(user: User) -> None:
    workload = user.workload("rows: 1000, dim: 8, length: 20")
    late = "perturb: [{target: rank/3, kind: late, by: 5 ms}]"
    before, after = (
        simulator.simulate(user.topology(more=more), workload, "row_wise").phases.set_index("phase")
        for more in ("", late)
    )
    first, *others = after.index
    assert after["max_wait_s"][first] == pytest.approx(0.005)
    assert after["mean_wait_s"][first] == pytest.approx(0.005 * 3 / 4)
    pd.testing.assert_series_equal(after["transfer_s"], before["transfer_s"], rtol=1e-6)
    np.testing.assert_allclose(after["max_wait_s"][others], before["max_wait_s"][others], atol=1e-9)


def test_case_15_half_a_link_from_the_start_is_a_link_of_half_the_rate(user: User) -> None:
    slowed = user.exchanges(user.topology(more="perturb: [{target: nic/3, from: 0 s, factor: 0.5}]"), EVEN_4)
    halved = user.exchanges(user.topology(more="overrides: [{target: nic/3, bandwidth: 5 GB/s}]"), EVEN_4)
    assert slowed["time_s"] == halved["time_s"] == 2 * user.exchanges(user.topology(), EVEN_4)["time_s"]
    assert slowed["rank_finish_s"] == halved["rank_finish_s"]


def test_case_15_a_link_that_never_returns_is_an_error_not_a_success(user: User) -> None:
    topology = user.topology(more="perturb: [{target: nic/3, from: 0 s, factor: 0}]")
    user.file("m.txt", "1 1 1 1\n" * 4)
    workload = user.workload("rows: 1000, dim: 8, length: 20")
    experiment = user.file(
        "e.yaml", f"name: e\ntopology: {topology}\nworkload: {workload}\npolicies: [row_wise]\n"
    )
    for command in (
        ("all-to-all", topology, "--matrix", "m.txt"),
        ("compare", topology, workload, "-p", "row_wise"),
        ("run", experiment),
    ):
        said = user.is_refused(*command)
        assert "nic/3" in said, command
        assert len(said.splitlines()) <= 10
