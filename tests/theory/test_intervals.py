"""Means and intervals over iterations, also where copies are not synchronised in each of them."""

from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator.experiment.experiment import make_experiment
from simulator.experiment.provenance import assumptions
from simulator.experiment.simulate import draw_batch, iterations, set_up, simulate
from simulator.experiment.spec import Precision
from simulator.metrics.records import METRIC_NAMES
from simulator.metrics.summary import estimate
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.workload.workload import Workload

ROOT = Path(__file__).parents[2]
TOPOLOGY = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml")
ENTRY = {"name": "two_dimensional", "group_size": 2}


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    path = tmp_path_factory.mktemp("intervals") / "w.yaml"
    path.write_text(
        "name: spread\nbatch_per_rank: 6\ntables:\n"
        "- {name: a, rows: 400, dim: 8, popularity: {kind: zipf, s: 1.1},\n"
        "   length: {kind: lognormal, mean: 12, sigma: 1.2, min: 1, max: 200}}\n"
    )
    return simulator.load_workload(path)


def run(workload: Workload, *, count: int = 1, seed: int = 0, engine: str = "bound", **switches: object):
    return simulator.simulate(
        TOPOLOGY, workload, {**ENTRY, **switches}, iterations=count, seed=seed, engine=engine
    )


@pytest.mark.parametrize("sync", ["dense", "sparse"])
@pytest.mark.parametrize("engine", ["bound", "fluid"])
@pytest.mark.parametrize("every", [2, 4, 7])
def test_an_iteration_counts_its_part_of_a_synchronisation(
    workload: Workload, every: int, engine: str, sync: str
) -> None:
    """One with, all others of the period without: by hand from a run that always and one that all but never does."""
    always, never = (run(workload, sync=sync, engine=engine, sync_every=k) for k in (1, 10**12))
    mine = run(workload, sync=sync, engine=engine, sync_every=every)
    if sync == "sparse":  # more rows are touched between: only what does not synchronise is as it was
        assert mine.metrics.mean("communication_without_sync_s") == pytest.approx(
            never.metrics.mean("communication_s")
        )
        return
    for name in METRIC_NAMES:
        with_sync, without = always.metrics.mean(name), never.metrics.mean(name)
        assert with_sync is not None
        assert without is not None
        expected = with_sync / every + without * (1 - 1 / every)
        assert mine.metrics.mean(name) == pytest.approx(expected, rel=1e-9), name


@pytest.mark.parametrize("count", [1, 3, 4, 5])
def test_any_number_of_iterations_counts_it_alike(workload: Workload, count: int) -> None:
    """Dense synchronisation moves as much every time: a quarter, over 1 iteration or 5."""
    whole = run(workload, count=count).metrics.mean("replica_sync_inter_island_bytes")
    part = run(workload, count=count, sync_every=4).metrics.mean("replica_sync_inter_island_bytes")
    assert whole
    assert part == whole / 4


def test_sparse_synchronisation_a_quarter_as_often_moves_more_than_a_quarter(workload: Workload) -> None:
    """Rows touched twice between are sent once; rows touched once are sent all the same."""
    often, seldom = (run(workload, count=8, sync="sparse", sync_every=k) for k in (1, 4))
    more, less = (one.metrics.mean("replica_sync_inter_island_bytes") for one in (often, seldom))
    assert more is not None
    assert less is not None
    assert more / 4 < less < more


def test_nothing_to_synchronise_is_no_second_replay(workload: Workload) -> None:
    one, other = (
        simulator.simulate(TOPOLOGY, workload, {"name": "row_wise", "sync_every": k}, engine="bound")
        for k in (1, 5)
    )
    assert one.metrics.estimates == other.metrics.estimates
    assert isinstance(one.first.record.metrics.inter_island_bytes, int)


def test_what_is_kept_of_the_first_is_an_iteration_that_synchronises(workload: Workload) -> None:
    result = run(workload, sync_every=4)
    synchronising = run(workload, sync_every=1)
    assert result.first.timeline.iteration_s == synchronising.first.timeline.iteration_s
    assert result.first.record.phases == synchronising.first.record.phases
    assert result.iteration_s < synchronising.iteration_s


@pytest.mark.parametrize("every", [1, 4])
def test_the_interval_covers_the_true_mean_as_often_as_it_says(workload: Workload, every: int) -> None:
    """Over 120 seeds, four iterations each, against the mean of all 480: 95 % of the intervals, give or take."""
    experiments = [
        make_experiment(
            name="i",
            topology=TOPOLOGY,
            workload=workload,
            policies=[PolicyEntry.parse(ENTRY)],
            iterations=4,
            seed=seed,
            engine="bound",
            execution=Execution(sync_every=every),
        )
        for seed in range(120)
    ]
    found = []
    for experiment in experiments:
        setup = set_up(experiment, experiment.policies[0])
        records = [record for record, _ in iterations(experiment, setup, {})]
        found.append([record.metrics.iteration_s for record in records])
    samples = np.array(found)
    truth = samples.mean()
    estimates = [estimate(list(row)) for row in samples]
    covered = sum(
        abs(each.mean - truth) <= each.half_width
        for each in estimates
        if each.mean is not None and each.half_width is not None
    )
    assert 0.89 <= covered / len(estimates) <= 0.99


def test_iterations_draw_afresh(workload: Workload) -> None:
    experiment = make_experiment(
        name="i", topology=TOPOLOGY, workload=workload, policies=[PolicyEntry.parse(ENTRY)]
    )
    first, second = (draw_batch(experiment, number).lookups for number in (0, 1))
    assert (first != second).any()


def test_auto_stops_where_the_interval_is_narrow(workload: Workload) -> None:
    result = simulator.compare(
        TOPOLOGY, workload, [{**ENTRY, "sync_every": 4}], iterations="auto", engine="bound"
    )
    summary = result.comparison.summaries[0]
    time = summary.estimates["communication_s"]
    assert time.mean
    assert time.half_width is not None
    assert summary.iterations == 200 or time.half_width <= 0.01 * time.mean


def test_one_that_never_narrows_stops_and_says_what_was_wanted(workload: Workload) -> None:
    experiment = make_experiment(
        name="i",
        topology=TOPOLOGY,
        workload=workload,
        policies=[PolicyEntry.parse("row_wise")],
        iterations="auto",
        engine="bound",
        precision=Precision(relative_half_width=1e-6, maximum=6),
    )
    comparison = simulate(experiment)
    assert comparison.summaries[0].iterations == 6
    time = comparison.summaries[0].estimates["communication_s"]
    assert time.mean
    assert time.half_width
    assert time.half_width > 1e-6 * time.mean
    wanted = (
        "Iterations: until the 95 % interval of a policy's communication is within ± 0.0001 %, 6 at the most."
    )
    assert assumptions(experiment)[-1] == wanted
