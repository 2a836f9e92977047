"""The committed data of the figures: complete, plotted as they are, and pointing where the page says they point.

Numbers that the page quotes are checked in test_figures_page.py; here it is directions, with room for other seeds.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from simulator.figures.catalogue import FIGURES
from simulator.figures.collect import inputs, measured_point
from simulator.figures.figure import Dataset
from simulator.figures.make import QUICK_NOTE, drawn, read_frame
from simulator.figures.paper import (
    balance,
    clusters,
    drift,
    latency,
    length,
    memory,
    opponents,
    rows,
    topology,
    traffic,
    where,
)
from simulator.figures.rows import read_csv
from simulator.figures.spec import load_dataset
from simulator.report.plots.style import house_style
from simulator.sweeps.point import Point

ROOT = Path(__file__).parents[2]
DATA = ROOT / "experiments/figures"
DATASETS = [dataset for figure in FIGURES for dataset in figure.datasets]


def frame(name: str) -> pd.DataFrame:
    return read_frame(DATA / f"{name}.csv")


@pytest.fixture
def style() -> Iterator[None]:
    with house_style():
        yield


def test_there_are_twelve_figures_in_order() -> None:
    assert [figure.number for figure in FIGURES] == list(range(1, 13))
    assert len({figure.name for figure in FIGURES}) == 12


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.name)
class TestEveryDataset:
    def test_has_a_row_for_every_point_of_its_file(self, dataset: Dataset) -> None:
        sweep = load_dataset(DATA / f"{dataset.name}.yaml", quick=False)
        points = sweep.points(sweep.spec.engine)
        assert all(isinstance(point, Point) for point in points)
        wanted = [tuple(inputs(point, dataset).items()) for point in points]
        names = [name for name, _ in wanted[0]]
        committed = read_csv(DATA / f"{dataset.name}.csv")
        found = {tuple((name, own[0].get(name, "")) for name in names) for own in committed.values()}
        assert len(committed) == len(points)
        assert {tuple((name, dict(point).get(name, "")) for name in names) for point in wanted} == found

    def test_has_no_point_that_failed(self, dataset: Dataset) -> None:
        assert "error" not in frame(dataset.name).columns

    def test_says_what_made_it(self, dataset: Dataset) -> None:
        origin = json.loads((DATA / f"{dataset.name}.json").read_text())
        assert origin["dataset"] == dataset.name
        assert origin["points"] == len(read_csv(DATA / f"{dataset.name}.csv"))
        assert origin["machine"]

    def test_has_a_quick_form_that_is_no_larger(self, dataset: Dataset) -> None:
        small, full = (load_dataset(DATA / f"{dataset.name}.yaml", quick=quick) for quick in (True, False))
        assert small.spec.vary.count <= full.spec.vary.count


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_is_drawn_from_its_data(figure, style) -> None:
    canvas = drawn(figure, {dataset.name: frame(dataset.name) for dataset in figure.datasets})
    assert canvas.get_suptitle() == figure.question
    texts = [text.get_text() for text in canvas.findobj(match=Text)]
    assert any("not the paper's" in text for text in texts)
    assert not any("nan" in text.lower().split() for text in texts)


def test_quick_pictures_say_so(style) -> None:
    figure = FIGURES[0]
    canvas = drawn(figure, {"length": frame("length")}, note=QUICK_NOTE)
    assert canvas.get_supxlabel().startswith("QUICK MODE")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_committed_picture_is_there(figure) -> None:
    picture = ROOT / "docs/images" / f"paper_{figure.name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


class TestLength:
    def test_un_pooled_bytes_grow_with_the_length_and_pooled_ones_hardly(self, style) -> None:
        own = frame("length")
        first, last = own.iloc[0], own.iloc[-1]
        assert last["held_unpooled_bytes"] / first["held_unpooled_bytes"] == pytest.approx(last["value"])
        assert last["held_pooled_bytes"] == first["held_pooled_bytes"] == 4 * 512 * 256
        assert last["sent_unpooled_bytes"] == pytest.approx(4 * 512 * last["value"] * 520, rel=0.01)

    def test_row_wise_pooling_sends_less_only_beyond_a_row_a_rank(self) -> None:
        own = frame("length")
        less = own["sent_pooled_row_wise_bytes"] < own["sent_unpooled_bytes"]
        assert less.tolist() == (own["value"] > 128).tolist()

    def test_lines_are_the_columns(self, style) -> None:
        canvas = drawn(length.FIGURE, {"length": frame("length")})
        line = canvas.axes[0].lines[0]
        assert line.get_ydata() == pytest.approx(frame("length")["held_unpooled_bytes"] / 1e6)


class TestRows:
    def test_curves_rise_to_one(self) -> None:
        for _, own in frame("rows").groupby("workload"):
            assert own["lookup_share"].is_monotonic_increasing
            assert own["lookup_share"].iloc[-1] == pytest.approx(1)

    def test_the_headline_is_more_skewed_than_anything_measured(self) -> None:
        half = {name: rows.half_at(frame("rows"), name) for name in (*rows.MEASURED, *rows.SHIPPED)}
        assert half["headline_40"] < 0.1 * min(half[name] for name in rows.MEASURED)
        assert half["uniform"] == pytest.approx(0.5, rel=0.01)

    def test_shares_are_those_of_the_shared_data(self) -> None:
        """As the data's README has them: .30 and .47 of the lookups on the hottest 0.1 and 1 % of kosarak's rows."""
        own = frame("rows")[frame("rows")["workload"] == "kosarak"]
        found = np.interp([0.001, 0.01, 0.1], own["touched_share"], own["lookup_share"])
        assert found == pytest.approx([0.297, 0.465, 0.781], abs=0.02)


class TestClusters:
    def test_no_cluster_is_flat(self) -> None:
        own = frame("clusters")
        for name in own["topology"].unique():
            assert clusters.steepness(own, name) > 5

    def test_the_ideal_one_is_its_closed_form(self) -> None:
        """Every rank sends its share to other islands over 25 GB/s, the rest meanwhile over 300."""
        own = frame("clusters").query("topology == 'ideal_16x8'")
        beyond = own[own["ranks"] > 8]
        expected = 25e9 * (beyond["ranks"] - 1) / (beyond["ranks"] - 8)
        assert beyond["achieved_bytes_per_s"].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-4)

    def test_small_messages_never_achieve_more(self) -> None:
        own = frame("clusters").pivot_table(
            index=["topology", "ranks"], columns="message_bytes", values="achieved_bytes_per_s"
        )
        assert (own[1_000_000] <= own[256_000_000] * (1 + 1e-6)).all()


class TestTraffic:
    def test_bars_are_means_of_the_rows(self) -> None:
        own = frame("traffic").query("workload == 'headline_40' and policy == 'FlexShard'")
        bar = next(
            bar
            for bar in traffic.bars(frame("traffic"), "headline_40", "inter_island_bytes")
            if bar.policy == "FlexShard"
        )
        assert bar.all_gb == pytest.approx(own["inter_island_bytes"].mean() / 1e9)
        assert bar.sync_gb == pytest.approx(own["replica_sync_inter_island_bytes"].mean() / 1e9)

    def changes(self, workload: str, column: str = "global_all_to_all_bytes") -> dict[str, float]:
        return {bar.policy: bar.change for bar in traffic.bars(frame("traffic"), workload, column)}

    def test_eighty_five_per_cent_hold_on_four_tables_and_only_just_on_forty(self) -> None:
        assert self.changes("headline_4")["FlexShard"] < -0.88
        assert -0.85 < self.changes("headline_40")["FlexShard"] < -0.84
        assert self.changes("headline_40")["FlexShard, concurrent"] < -0.85

    def test_synchronisation_takes_some_of_it_back(self) -> None:
        for workload in traffic.WORKLOADS:
            nics = self.changes(workload, "inter_island_bytes")
            assert nics["FlexShard"] > self.changes(workload)["FlexShard"]

    def test_two_dimensional_puts_more_on_nics_than_row_wise(self) -> None:
        assert self.changes("headline_40", "inter_island_bytes")["2D"] > 0

    def test_dedup_alone_cuts_most_of_it(self) -> None:
        assert self.changes("headline_40")["row-wise, dedup by island"] < -0.8


class TestLatency:
    ideal: ClassVar = {"topology": "ideal_16x8", "workload": "headline_40", "s": 1.15}

    def test_six_times_need_ports_alone_and_better_balance(self) -> None:
        claim = frame("claim")
        simulated = latency.speedups(claim, "FlexShard", **self.ideal)
        balanced = latency.speedups(claim, "FlexShard", "predicted_s", **self.ideal)
        assert len(simulated) == 6
        assert simulated.min() > 6 > balanced.max()
        calibrated = latency.speedups(claim, "FlexShard", **{**self.ideal, "topology": "zionex_16x8"})
        assert 4 < calibrated.mean() < 6

    def test_more_skew_is_more_speed_up_by_traffic_and_by_balance(self) -> None:
        claim = frame("claim").query("topology == 'ideal_16x8' and workload == 'headline_4'")
        skews = np.unique(claim["s"])
        simulated = [latency.speedups(claim, "FlexShard", s=s).mean() for s in skews]
        balanced = [latency.speedups(claim, "FlexShard", "predicted_s", s=s).mean() for s in skews]
        assert (np.diff(simulated) > 0).all()
        assert (np.diff(balanced) > 0).all()
        assert (np.array(simulated) > np.array(balanced)).all()

    def test_balanced_speed_ups_are_the_prototypes(self) -> None:
        """The closed-form prototype's table, serial and concurrent, within 3 %; its figures have one decimal."""
        prototype = {
            "FlexShard": [3.1, 3.8, 4.8, 6.2, 8.1],
            "FlexShard, concurrent": [3.3, 4.1, 5.2, 6.7, 8.8],
        }
        cuts = [0.757, 0.809, 0.850, 0.885, 0.914]
        claim = frame("claim").query("topology == 'ideal_16x8' and workload == 'headline_4'")
        for policy, expected in prototype.items():
            found = [
                latency.speedups(claim, policy, "predicted_s", s=s).mean() for s in np.unique(claim["s"])
            ]
            assert found == pytest.approx(expected, rel=0.03)
        moved = claim.groupby(["policy", "s"])["predicted_global_bytes"].mean()
        found_cuts = 1 - moved["FlexShard"].to_numpy() / moved["row-wise"].to_numpy()
        assert found_cuts == pytest.approx(cuts, abs=0.005)

    def test_port_bound_and_fluid_network_agree_here(self) -> None:
        """So that the large sweeps may use the bound."""
        claim, fluid = frame("claim"), frame("latency")
        for name in latency.CLUSTERS:
            bound = latency.speedups(claim, "FlexShard", **{**self.ideal, "topology": name})
            assert latency.speedups(fluid, "FlexShard", topology=name) == pytest.approx(bound, rel=0.03)

    def test_a_bar_is_as_long_as_the_communication(self) -> None:
        for _, own in frame("latency").groupby(["topology", "policy"]):
            longest_ms = max(sum(ms for _, ms in lane) for lane in latency.lanes(own))
            assert longest_ms == pytest.approx(1e3 * own["communication_s"].mean(), rel=0.05)


class TestMemory:
    def test_flexshard_takes_no_more_than_row_wise_where_it_reclaims(self) -> None:
        own = frame("memory")
        for touched in memory.TOUCHED:
            held = {
                p: sum(memory.held_mb(own, touched, p).values()) for p in ("row-wise", "FlexShard", "hybrid")
            }
            assert held["FlexShard"] <= held["row-wise"] < held["hybrid"]

    def test_without_reclaimed_rows_there_is_nothing_to_gain(self) -> None:
        own = frame("memory")
        assert memory.speedup(own, 0.4, "FlexShard") > 4
        assert memory.speedup(own, 1.0, "FlexShard") == pytest.approx(1)
        assert memory.speedup(own, 1.0, "FlexShard, 5 % more") > 3


class TestWhere:
    def test_claims_hold_at_high_skew_and_many_lookups_alone(self) -> None:
        own = frame("where_lookups")
        cuts, speedups = (where.gain_map(own, "length", what) for what in ("cut", "speedup"))
        assert cuts[-1, -1] > 0.85
        assert speedups[-1, -1] > 6
        assert cuts[0, 0] < 0.3
        assert speedups[0, 0] < 1.5

    def test_gains_rise_with_skew_and_with_lookups(self) -> None:
        own = frame("where_lookups")
        for what in ("cut", "balanced"):
            found = where.gain_map(own, "length", what)
            assert (np.diff(found, axis=1) > -0.005).all()
            assert (np.diff(found, axis=0) > -0.005).all()

    def test_no_budget_is_row_wise_and_more_never_hurts(self) -> None:
        own = frame("where_memory")
        assert where.gain_map(own, "budget", "cut")[0] == pytest.approx(0, abs=1e-9)
        assert (np.diff(where.gain_map(own, "budget", "balanced"), axis=0) > -0.01).all()

    def test_six_times_need_more_skew_when_owners_are_balanced(self) -> None:
        own = frame("where_lookups")
        assert (
            where.gain_map(own, "length", "balanced") <= where.gain_map(own, "length", "speedup") * 1.02
        ).all()


class TestOpponents:
    def test_without_dedup_flexshard_leads_wherever_it_replicates(self) -> None:
        assert (opponents.lead(frame("opponents"), dedup=False) > 0.97).all()

    def test_with_dedup_it_hardly_wins(self) -> None:
        lead = opponents.lead(frame("opponents"), dedup=True)
        assert lead.min() > 0.9
        assert lead.max() < 1.2

    def test_dedup_is_the_strong_opponent_and_recshard_none(self) -> None:
        own = frame("opponents")
        assert (opponents.best(own, opponents.DEDUP) > 1.4).all()
        assert opponents.best(own, opponents.DEDUP)[-1] > 6
        assert (opponents.best(own, "RecShard") < opponents.best(own, opponents.DEDUP)).all()

    def test_the_best_way_is_the_fastest_row(self) -> None:
        own = frame("opponents")
        at = own[own["s"] == own["s"].max()].groupby("policy")["communication_s"].mean()
        hybrid = at[[label for label in at.index if label.startswith("hybrid")]].min()
        assert opponents.best(own, "hybrid")[-1] == pytest.approx(at["row-wise"] / hybrid)


class TestScaleAndTopology:
    def times(self, name: str, column: str) -> pd.DataFrame:
        return frame(name).pivot_table(index="policy", columns=column, values="communication_s", sort=False)

    def test_flexshard_is_ahead_of_row_wise_from_two_islands_on(self) -> None:
        own = self.times("scale", "islands")
        assert (own.loc["FlexShard"] < own.loc["row-wise"]).all()
        assert own.loc["row-wise"].is_monotonic_increasing

    def test_its_lead_over_hybrid_ends_as_the_cluster_grows(self) -> None:
        own = self.times("scale", "islands")
        assert own.loc["FlexShard", 16] < own.loc["hybrid", 16]
        assert own.loc["FlexShard", 128] > own.loc["hybrid", 128] > own.loc["2D", 128]

    def test_larger_islands_are_flexshards_gain_and_not_hybrids(self) -> None:
        own = self.times("islands", "gpus_per_island")
        gain = own[2] / own[72]
        assert gain["FlexShard"] > 2 * gain["hybrid"]
        assert gain["FlexShard"] > gain["row-wise"]

    def test_faster_nics_are_row_wises_gain(self) -> None:
        _, base = topology.times_ms(frame("nics"), "row-wise", "nic_bandwidth")
        _, ours = topology.times_ms(frame("nics"), "FlexShard", "nic_bandwidth")
        assert base[0] / base[-1] > ours[0] / ours[-1] > 2
        assert base[0] / base[-1] < 8


class TestDrift:
    def test_a_plan_that_saw_nothing_of_it_is_slower_than_row_wise(self) -> None:
        gain = drift.speedups(frame("drift"), "FlexShard")
        assert gain[0] > 4
        assert gain[-1] < 1
        assert (np.diff(gain) < 0).all()

    def test_copies_take_fewer_lookups_as_they_age(self) -> None:
        own = frame("drift").query("policy == 'FlexShard'").groupby("drift").mean(numeric_only=True)
        assert own["achieved_copied_share"].iloc[0] == pytest.approx(
            own["planned_copied_share"].iloc[0], abs=0.002
        )
        assert own["achieved_copied_share"].is_monotonic_decreasing

    def test_there_is_a_best_interval_between_plans(self) -> None:
        own = frame("drift")
        gains = [drift.speedup_over(own, 0.05, interval) for interval in (1, 100, 100_000)]
        assert gains[1] > max(gains[0], gains[2])

    def test_without_drift_only_the_way_of_the_copies_counts(self) -> None:
        own = frame("drift")
        assert drift.speedup_over(own, 0.0, 1e12) == pytest.approx(drift.speedups(own, "FlexShard")[0])


class TestBalance:
    def test_hot_rows_unbalance_row_wise_and_not_flexshard(self) -> None:
        own = frame("balance")

        def imbalance(workload: str, policy: str) -> float:
            sent = balance.sent_mb(own, workload, policy)
            assert len(sent) == 128
            return float(sent.max() / sent.mean())

        assert imbalance("uniform", "row-wise") < 1.01
        assert imbalance("headline_40", "row-wise") > 1.3
        assert imbalance("headline_4", "row-wise") > 2
        assert imbalance("headline_4", "FlexShard") < 1.05
        assert imbalance("headline_4", "table-wise") == pytest.approx(32, rel=0.01)

    def test_uniform_popularity_gains_nothing(self) -> None:
        own = frame("balance")
        sent = {policy: balance.sent_mb(own, "uniform", policy).sum() for policy in ("row-wise", "FlexShard")}
        assert sent["FlexShard"] == pytest.approx(sent["row-wise"], rel=1e-3)


class TestStillTrue:
    """A few points measured again: a model that answers otherwise needs its data made anew (delete the CSVs)."""

    @pytest.mark.parametrize(
        ("name", "wanted"),
        [
            ("claim", {"workload": "headline_4", "s": "1.15", "seed": "0", "topology": "zionex_16x8"}),
            ("length", {"value": "100"}),
            ("clusters", {"topology": "uneven"}),
            ("balance", {"workload": "headline_4", "policy": "FlexShard"}),
        ],
    )
    def test_points_measured_again_give_the_committed_rows(self, name: str, wanted: dict[str, str]) -> None:
        dataset = next(dataset for dataset in DATASETS if dataset.name == name)
        sweep = load_dataset(DATA / f"{name}.yaml", quick=False)
        committed = [
            own for own in read_csv(DATA / f"{name}.csv").values() if wanted.items() <= own[0].items()
        ]
        points = [
            point
            for point in sweep.points(sweep.spec.engine)
            if isinstance(point, Point) and wanted.items() <= inputs(point, dataset).items()
        ]
        assert len(points) == len(committed) > 0
        for point, rows_before in zip(points, committed, strict=True):
            for row, before in zip(measured_point(dataset.measure, point), rows_before, strict=True):
                for column, text in row.items():
                    assert before[column] == text or float(before[column]) == pytest.approx(
                        float(text), rel=0.02
                    )
