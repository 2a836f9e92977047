"""Summaries: means, spreads, ratios and what is said when there is nothing to divide by."""

import math
from dataclasses import replace

import pytest

from simulator.metrics.records import IterationMetrics, IterationRecord, PhaseRecord
from simulator.metrics.summary import Wait, estimate, ratio, student_quantile, summarise

METRICS = IterationMetrics(
    global_all_to_all_bytes=1000,
    inter_island_bytes=900,
    intra_island_bytes=100,
    replica_sync_inter_island_bytes=0,
    communication_s=0.010,
    communication_without_sync_s=0.010,
    iteration_s=0.020,
    bound_s=0.008,
    imbalance=1.5,
)


def phase(name: str, *, transfer_s: float, bottleneck: str, mean_wait_s: float = 0.0) -> PhaseRecord:
    return PhaseRecord(
        phase=name,
        step="embeddings",
        tier="global",
        bytes=10,
        inter_island_bytes=10,
        intra_island_bytes=0,
        mean_wait_s=mean_wait_s,
        max_wait_s=2 * mean_wait_s,
        transfer_s=transfer_s,
        bound_s=transfer_s,
        bottleneck=bottleneck,
    )


def record(
    iteration: int = 0, *, phases: tuple[PhaseRecord, ...] = (), **changes: float | None
) -> IterationRecord:
    return IterationRecord(
        policy="p",
        iteration=iteration,
        metrics=replace(METRICS, **changes),
        phases=phases,
        lookups_by_tier={"global": 5},
        hits_by_tier={"global": 5},
        resource_bytes=(1, 2, 3),
    )


def test_estimate_is_mean_standard_deviation_and_students_interval():
    result = estimate([1.0, 2.0, 3.0, 4.0])
    assert result.mean == 2.5
    assert result.std == pytest.approx(math.sqrt(5 / 3))
    assert result.half_width == pytest.approx(3.182446 * math.sqrt(5 / 3) / 2, rel=1e-6)


def test_one_value_has_no_spread():
    assert estimate([7.0]) == estimate([7.0, None])
    assert (estimate([7.0]).mean, estimate([7.0]).std, estimate([7.0]).half_width) == (7.0, None, None)


def test_nothing_known_gives_nothing():
    assert estimate([None, None]).mean is None


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.7062), (7, 2.36462), (1000, 1.96234)])
def test_student_quantile_is_that_of_the_tables(degrees, t):
    assert student_quantile(degrees) == pytest.approx(t, rel=1e-5)


@pytest.mark.parametrize(
    ("above", "below", "expected"), [(1, 0, None), (None, 1, None), (1, None, None), (3, 2, 1.5)]
)
def test_ratio_with_nothing_under_the_line_is_none(above, below, expected):
    assert ratio(above, below) == expected


def test_summary_against_a_baseline():
    baseline = summarise([record()], policy="row_wise", memory_bytes_per_rank_max=5, baseline=None)
    better = summarise(
        [
            record(global_all_to_all_bytes=100, communication_s=0.002),
            record(1, global_all_to_all_bytes=200, communication_s=0.003),
        ],
        policy="p",
        memory_bytes_per_rank_max=4,
        baseline=baseline,
    )
    assert baseline.all_to_all_reduction == 0
    assert baseline.communication_speedup == 1
    assert better.all_to_all_reduction == pytest.approx(0.85)
    assert better.communication_speedup == pytest.approx(4.0)
    assert better.to_json()["communication_s"] == pytest.approx(0.0025)
    assert better.to_json()["spread"]["global_all_to_all_bytes"]["std"] == pytest.approx(70.7107, rel=1e-5)


def test_no_traffic_anywhere_is_not_a_number_and_not_an_error():
    silent = record(global_all_to_all_bytes=0, communication_s=0.0, imbalance=None)
    baseline = summarise([silent], policy="a", memory_bytes_per_rank_max=1, baseline=None)
    assert baseline.all_to_all_reduction is None
    assert baseline.communication_speedup is None
    assert baseline.to_json()["imbalance"] is None
    assert baseline.bottleneck == "none"


def test_the_bottleneck_is_that_of_the_longest_phase():
    phases = (
        phase("a", transfer_s=0.1, bottleneck="nic/1/egress"),
        phase("b", transfer_s=0.2, bottleneck="leaf/0/up"),
    )
    summary = summarise([record(phases=phases)], policy="p", memory_bytes_per_rank_max=1, baseline=None)
    assert summary.bottleneck == "leaf/0/up"


def test_the_longest_wait_is_the_mean_of_a_phase_over_the_iterations():
    waits_s = ((0.1, 0.3), (0.7, 0.3))  # b waits longest in the first iteration, a longer in all
    records = [
        record(
            phases=(
                phase("a", transfer_s=0.1, bottleneck="x", mean_wait_s=of_a),
                phase("b", transfer_s=0.1, bottleneck="x", mean_wait_s=of_b),
            )
        )
        for of_a, of_b in waits_s
    ]
    summary = summarise(records, policy="p", memory_bytes_per_rank_max=1, baseline=None)
    assert summary.longest_wait == Wait("a", pytest.approx(0.4))
    assert summary.to_json()["longest_wait"] == {"phase": "a", "mean_s": pytest.approx(0.4)}


def test_without_collectives_nobody_waits():
    summary = summarise([record()], policy="p", memory_bytes_per_rank_max=1, baseline=None)
    assert summary.longest_wait is None
    assert summary.to_json()["longest_wait"] is None


def test_records_survive_json():
    before = record(3, phases=(phase("a", transfer_s=0.1, bottleneck="x"),))
    assert IterationRecord.from_json(before.to_json()) == before
