"""Planned and achieved hit rates."""

import pytest

from simulator.metrics.hit_rates import hit_rates


def test_a_fresh_plan_takes_what_it_was_planned_to_take(drift_rates):
    for rate in drift_rates(0.0):
        assert rate.achieved_share == pytest.approx(rate.planned_share, abs=0.01)


def test_drift_moves_hits_from_hot_tiers_to_cold_ones(drift_rates):
    rates = {rate.tier: rate for rate in drift_rates(0.5)}
    hot = rates["replicated"]
    assert hot.achieved_share < 0.75 * hot.planned_share
    assert sum(rate.achieved_share for rate in rates.values()) == pytest.approx(1.0)
    assert sum(rate.planned_share for rate in rates.values()) == pytest.approx(1.0)


def test_without_lookups_nothing_was_achieved(drift_rates):
    assert {rate.achieved_share for rate in drift_rates(0.0, lookups=False)} == {None}


@pytest.fixture
def drift_rates():
    from pathlib import Path

    from simulator.experiment.experiment import make_experiment
    from simulator.experiment.simulate import simulate
    from simulator.sharding.registry import PolicyEntry
    from simulator.topology.load import load_topology
    from simulator.workload.load import load_workload

    root = Path(__file__).parents[2]

    def rates(drift, *, lookups=True):
        workload = load_workload(root / "workloads" / "tiny.yaml").with_(drift=drift)
        experiment = make_experiment(
            name="drift",
            topology=load_topology(root / "topologies" / "teaching_2x2.yaml"),
            workload=workload,
            policies=[PolicyEntry.parse({"name": "flexshard", "memory": "hbm"})],
            iterations=20,
        )
        comparison = simulate(experiment)
        records = comparison.records[0] if lookups else []
        return hit_rates(comparison.setups[0].plan, workload.statistics(), records)

    return rates
