"""What planning anew costs and gains, where it can be worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator.errors import UserError
from simulator.experiment.experiment import make_experiment
from simulator.experiment.simulate import set_up
from simulator.replanning.renewals import Move, Replanning
from simulator.replanning.replan import ages_replayed, moved_after, price, replan
from simulator.sharding.plan import Tier
from simulator.sharding.registry import PolicyEntry
from simulator.workload.ageing import ageing
from simulator.workload.load import load_workload
from simulator.workload.workload import Workload

ROOT = Path(__file__).parents[2]
TOPOLOGY = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml")
TEXT = """
name: moving
batch_per_rank: 64
tables:
  - {name: a, rows: 10_000, dim: 8, length: 20, popularity: {kind: zipf, s: 1.2}}
  - {name: b, rows: 500, dim: 8, length: 5, popularity: {kind: zipf, s: 0.8}}
"""
PLAN = """
policy: mine
world_size: 4
tables:
- {table: a, segments: [{to: 100, tier: replicated}, {to: 1000, tier: island}, {to: 10000, tier: global}]}
- {table: b, segments: [{to: 500, tier: global}]}
"""
COPIED = 1000
ROW_BYTES = 8 * 4


@pytest.fixture
def mine(tmp_path: Path) -> PolicyEntry:
    """A plan that is the same whatever the planner sees."""
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    from simulator.sharding.policies.saved_plan import saved_plan_entry

    return saved_plan_entry(path)


def workload(tmp_path: Path, *lines: str) -> Workload:
    path = tmp_path / "workload.yaml"
    path.write_text(TEXT + "\n".join(lines) + "\n")
    return load_workload(path)


def study(load: Workload, entry: PolicyEntry, **settings: object) -> Replanning:
    experiment = make_experiment(
        name="r", topology=TOPOLOGY, workload=load, policies=[entry], iterations=1, engine="bound"
    )
    return replan(experiment, **settings)  # type: ignore[arg-type]


def moved(load: Workload, entry: PolicyEntry, age: int) -> Move:
    experiment = make_experiment(
        name="r", topology=TOPOLOGY, workload=load, policies=[entry], iterations=1, engine="bound"
    )
    setup = set_up(experiment, entry)
    return price(experiment, moved_after(experiment, setup, ageing(load, over=1000), age), 0.0)


class TestMoved:
    def test_all_lookups_moved_means_all_hot_rows_do(self, tmp_path: Path, mine: PolicyEntry) -> None:
        """Of a of n rows in a tier a (1 - a / n) leave it and as many come."""
        move = moved(workload(tmp_path, "drift: 1.0"), mine, 1)
        tiers, rows = np.array([100.0, 900.0, 9000.0]), 10_000
        assert move.rows == pytest.approx(float((tiers * (1 - tiers / rows)).sum()))

    def test_bytes_of_the_copies_that_are_fetched(self, tmp_path: Path, mine: PolicyEntry) -> None:
        """Four ranks in two islands. A row that becomes replicated is held by one rank, which keeps it, if it was
        global, and by one in each island if it had copies there. One that becomes an island row was global, and one
        of the two new owners had it with a chance of a quarter each; or it was replicated and is there already. One
        that becomes global was replicated, or it was in the island of its new owner, half of the time on the owner."""
        move = moved(workload(tmp_path, "drift: 1.0"), mine, 1)
        hot, warm, cold, rows = 100, 900, 9000, 10_000
        copies = (
            hot * cold / rows * 3  # global to replicated
            + hot * warm / rows * 2  # island to replicated
            + warm * cold / rows * (2 * 3 / 4)  # global to island
            + cold * warm / rows * 0.5  # island to global
        )
        assert move.bytes == pytest.approx(copies * ROW_BYTES, rel=1e-3)

    def test_half_of_the_drift_moves_half_of_the_rows(self, tmp_path: Path, mine: PolicyEntry) -> None:
        whole = moved(workload(tmp_path, "drift: 1.0"), mine, 1)
        half = moved(workload(tmp_path, "drift: 0.5"), mine, 1000)
        assert half.rows == pytest.approx(whole.rows / 2)

    def test_where_all_rows_are_placed_alike_none_moves(self, tmp_path: Path) -> None:
        move = moved(workload(tmp_path, "drift: 1.0"), PolicyEntry.parse("row_wise"), 1)
        assert (move.rows, move.bytes, move.transfer_s) == (0, 0, 0)

    def test_two_epochs_alike_move_nothing(self, tmp_path: Path, mine: PolicyEntry) -> None:
        text = TEXT.replace("s: 1.2}", "s: 1.2}, planning: {popularity: {kind: zipf, s: 1.2}}")
        path = tmp_path / "w.yaml"
        path.write_text(text)
        assert moved(load_workload(path), mine, 1000).rows == 0

    def test_traces_are_followed_id_by_id(self, tmp_path: Path) -> None:
        """First half: id 0 is hot; second half: id 7 is. A plan that copies one row changes it for the other."""
        (tmp_path / "t.dat").write_text("0 0 0 1 2\n" * 50 + "7 7 7 1 2\n" * 50)
        path = tmp_path / "w.yaml"
        path.write_text(
            "name: w\nbatch_per_rank: 8\ntables:\n- {name: a, rows: 8, dim: 8,\n"
            "   trace: {path: t.dat, format: sessions, part: second_half},\n"
            "   planning: {trace: {path: t.dat, format: sessions, part: first_half}}}\n"
        )
        plan = tmp_path / "plan.yaml"
        plan.write_text(
            "policy: mine\nworld_size: 4\n"
            "tables: [{table: a, segments: [{to: 1, tier: replicated}, {to: 8, tier: global}]}]\n"
        )
        from simulator.sharding.policies.saved_plan import saved_plan_entry

        move = moved(load_workload(path), saved_plan_entry(plan), 1000)
        assert move.rows == 2


class TestIntervals:
    def test_without_drift_there_is_nothing_to_weigh(self, tmp_path: Path, mine: PolicyEntry) -> None:
        for lines in ((), ("drift: 0",)):
            with pytest.raises(UserError, match="no table has a `drift` above 0"):
                study(workload(tmp_path, *lines), mine, every=[10])

    def test_a_plan_renewed_each_iteration_meets_what_it_was_made_for(
        self, tmp_path: Path, mine: PolicyEntry
    ) -> None:
        load = workload(tmp_path, "drift: 0.5")
        fresh = study(load, mine, every=[1, 1000]).renewals[0]
        still = simulator.simulate(TOPOLOGY, workload(tmp_path), mine, engine="bound")
        assert fresh.communication_s == pytest.approx(still.communication_s, rel=1e-12)

    def test_a_plan_kept_for_ever_meets_what_has_moved_by_then(
        self, tmp_path: Path, mine: PolicyEntry
    ) -> None:
        """Everything moves at once: but for the first iteration copies take what any so many rows take."""
        never = study(workload(tmp_path, "drift: 1.0"), mine, every=[1], horizon=10**6).never
        achieved = {rate.tier: rate.achieved_share for rate in never.hit_rates}
        of_lookups = 20 / 25  # table a's
        assert achieved[Tier.REPLICATED] == pytest.approx(of_lookups * 0.01, abs=0.01)
        assert achieved[Tier.ISLAND] == pytest.approx(of_lookups * 0.09, abs=0.05)

    def test_the_mean_over_ages(self, tmp_path: Path, mine: PolicyEntry) -> None:
        """The part that copies take falls in a straight line with what has moved: its mean is that of what has."""
        load = workload(tmp_path, "drift: 0.4")
        result = study(load, mine, every=[1, 50, 400], over=100, horizon=1000)
        first, fifty, most = (each.hit_rates[0].achieved_share for each in result.renewals)
        last = result.never.hit_rates[0].achieved_share
        assert first is not None
        assert fifty is not None
        assert most is not None
        assert last is not None

        def mean_moved(interval: int) -> float:
            return float(np.mean(1 - 0.6 ** (np.arange(interval) / 100)))

        assert (first - fifty) / (first - last) == pytest.approx(mean_moved(50) / mean_moved(1000), rel=0.03)
        assert (first - most) / (first - last) == pytest.approx(mean_moved(400) / mean_moved(1000), rel=0.03)

    def test_net_is_communication_and_a_part_of_the_move(self, tmp_path: Path, mine: PolicyEntry) -> None:
        result = study(workload(tmp_path, "drift: 0.5"), mine, every=[10, 100], pause_s=2.0)
        for renewal in result.renewals:
            assert renewal.move is not None
            assert renewal.every is not None
            assert renewal.move_s_per_iteration == pytest.approx(
                (renewal.move.transfer_s + 2.0) / renewal.every
            )
            assert renewal.net_s == renewal.communication_s + renewal.move_s_per_iteration
            assert renewal.moved_bytes_per_iteration == renewal.move.bytes / renewal.every
        assert result.never.move_s_per_iteration == 0
        assert result.best is result.never  # no gain is worth two seconds here
        assert result.gain_s(result.never) == 0

    def test_a_policy_that_plans_alike_is_as_good_as_never_renewed(self, tmp_path: Path) -> None:
        result = study(workload(tmp_path, "drift: 0.5"), PolicyEntry.parse("row_wise"), every=[1, 10])
        assert {each.communication_s for each in result.all} == {result.never.communication_s}
        assert result.best is result.never

    @pytest.mark.parametrize("every", [0, 51])
    def test_an_interval_beyond_the_horizon(self, tmp_path: Path, mine: PolicyEntry, every: int) -> None:
        with pytest.raises(UserError, match=rf"every {every} iterations, allowed: 1 to the horizon, 50"):
            study(workload(tmp_path, "drift: 0.5"), mine, every=[every], horizon=50)

    @pytest.mark.parametrize(
        ("settings", "told"),
        [
            ({"every": []}, "no interval"),
            ({"every": [1], "over": 0}, "over 0 iterations, allowed: 1 or more"),
            ({"every": [1], "pause_s": -1.0}, "a pause of -1.0 s, allowed: finite and not negative"),
            ({"every": [1], "pause_s": float("nan")}, "a pause of nan s"),
        ],
    )
    def test_what_no_command_line_lets_through(
        self, tmp_path: Path, mine: PolicyEntry, settings: dict[str, object], told: str
    ) -> None:
        with pytest.raises(UserError, match=told):
            study(workload(tmp_path, "drift: 0.5"), mine, **settings)

    def test_the_longest_interval_may_be_the_horizon(self, tmp_path: Path, mine: PolicyEntry) -> None:
        result = study(workload(tmp_path, "drift: 0.5"), mine, every=[1], horizon=1)
        assert result.renewals[0].communication_s == result.never.communication_s


def test_replayed_ages_are_spread_over_what_moves(tmp_path: Path) -> None:
    changes = ageing(workload(tmp_path, "drift: 0.1"), over=1000)
    ages = ages_replayed(changes, 100_000)
    assert ages[0] == 0
    assert ages[-1] == pytest.approx(99_999)
    assert np.diff(changes.progress(ages)) == pytest.approx(0.2, abs=0.01)


def test_a_table_of_1e12_rows(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(
        "name: huge\nbatch_per_rank: 64\ntables:\n"
        "- {name: a, rows: 1e12, touched: 1e-3, dim: 1, length: 20, popularity: {kind: zipf, s: 1.1}}\n"
        "drift: 0.2\n"
    )
    big = TOPOLOGY.with_(hbm_capacity="4 TB")
    result = simulator.replan(big, path, "flexshard", every=[10, 100], engine="bound", iterations=1)
    first, second, never = result.to_json()["renewals"]
    assert 0 < first["move"]["bytes"] < second["move"]["bytes"]
    assert never["move"] is None


class TestApi:
    def test_frame_and_text(self, tmp_path: Path, mine: PolicyEntry) -> None:
        result = simulator.replan(
            TOPOLOGY, workload(tmp_path, "drift: 0.5"), mine, every=[10, 100], engine="bound", iterations=1
        )
        assert result.frame["every"].tolist()[:2] == [10, 100]
        assert result.frame["achieved_replicated"].is_monotonic_decreasing
        assert str(result).startswith("plan: share of the lookups that each tier takes")
        assert result.best_every == result.to_json()["best_every"]
