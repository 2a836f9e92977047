"""Whatever a topology, a workload and switches hold, if they are accepted they run to finite figures.

Figures are drawn from the schema's whole range, so that limits of numbers, not only of texts, are met: rates from a
billionth of a byte a second on, lengths of zero, one row, one rank.
"""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from simulator.errors import UserError
from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.results import summary_json
from simulator.experiment.simulate import simulate
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry, available
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec

POLICIES = [policy.name for policy in available() if policy.name != "saved_plan"]


def maybe(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with any of these keys."""
    return st.fixed_dictionaries({}, optional=strategies)


def powers(low: int, high: int) -> st.SearchStrategy[float]:
    return st.builds(lambda digit, power: digit * 10.0**power, st.integers(1, 9), st.integers(low, high))


rates = st.builds("{} B/s".format, powers(-9, 17)) | st.sampled_from(["25 GB/s", "300 GB/s"])
times = st.builds("{} s".format, powers(-12, 5)) | st.sampled_from(["0 s", "1 us", "5 ms"])
factors = powers(-9, 8) | st.sampled_from([0.5, 1.0])
shares = powers(-9, -1) | st.sampled_from([1.0, 0.5])
counts = st.sampled_from([0, 1, 2, 3, 7, 100, 10**9])
sizes = st.builds("{} B".format, st.sampled_from([1, 10**6, 80 * 10**9, 10**15]))

startup = maybe(alpha=times, gamma=times)
tier = {"latency": times, "efficiency": shares, "pair_cap": rates, "startup": startup, "message_gap": times}
fabrics = st.one_of(
    st.just({"kind": "non_blocking"}),
    st.just({"kind": "rail_only"}),
    st.builds(
        lambda ratio: {"kind": "leaf_spine", "islands_per_leaf": 1, "oversubscription": ratio},
        st.sampled_from(["7:1", 1, "1:3"]),
    ),
    st.builds(lambda rate: {"kind": "torus", "dims": [3], "link_bandwidth": rate}, rates),
)
ranks = st.builds("rank/{}".format, st.integers(0, 4))
parts = st.sampled_from(["nic/0", "nic/1/ingress", "scale_up/0", "scale_up/1/egress", "leaf/0", "torus/0"])
perturbations = st.one_of(
    st.builds(lambda rank, by: {"kind": "late", "target": rank, "by": by}, ranks, times),
    st.builds(lambda rank, factor: {"kind": "slow", "target": rank, "factor": factor}, ranks, factors),
    st.builds(
        lambda part, factor, start, more: {"target": part, "factor": factor, "from": start, **more},
        parts,
        shares | st.just(0.0),
        times,
        maybe(until=times),
    ),
)
topologies = st.fixed_dictionaries(
    {
        "name": st.just("t"),
        "islands": st.sampled_from([[1], [3], [2, 2], [2, 1], [1, 1, 1], [2, 2, 1]]),
        "scale_up": st.fixed_dictionaries({"bandwidth": rates}, optional=tier),
        "scale_out": st.fixed_dictionaries({"nic_bandwidth": rates}, optional={**tier, "fabric": fabrics}),
    },
    optional={
        "gpu": maybe(hbm_capacity=sizes, hbm_bandwidth=rates),
        "overrides": st.lists(
            st.builds(lambda part, factor: {"target": part, "factor": factor}, parts, factors), max_size=2
        ),
        "perturb": st.lists(perturbations, max_size=2),
    },
)
popularities = st.one_of(
    st.just({"kind": "uniform"}),
    st.fixed_dictionaries(
        {"kind": st.just("zipf"), "s": st.sampled_from([0, 0.9, 1, 1.2, 20, 1000])},
        optional={"q": st.sampled_from([-0.999, 0, 2.7, 1e15])},
    ),
)
lengths = st.one_of(
    st.sampled_from([0, 1, 5, 10**6]),
    st.just({"kind": "lognormal", "mean": 20, "sigma": 1, "max": 100}),
    st.just({"kind": "histogram", "lengths": [0, 10], "weights": [1, 1]}),
)
tables = st.fixed_dictionaries(
    {
        "rows": st.sampled_from([1, 2, 10, 1000, 10**9, 10**12]),
        "dim": st.sampled_from([1, 3, 128, 10**6]),
        "length": lengths,
        "popularity": popularities,
    },
    optional={"touched": shares, "order": st.just("sorted"), "repeat": shares, "drift": shares},
)
workloads = st.fixed_dictionaries(
    {
        "name": st.just("w"),
        "batch_per_rank": counts,
        "tables": st.lists(tables, min_size=1, max_size=2).map(
            lambda own: [{"name": f"table{number}", **table} for number, table in enumerate(own)]
        ),
    },
    optional={
        "embedding_dtype": st.sampled_from(["fp32", "fp16", "int8"]),
        "dense": maybe(forward=times, backward=times, parameters=counts),
        "batch_of_rank": st.just([{"rank": 0, "samples": 0}]),
        "rank_skew": st.builds(lambda share: {"rank": 0, "share": share}, shares),
    },
)
switches = maybe(
    dedup=st.sampled_from(["rank", "island"]),
    all_to_all=st.sampled_from(["hierarchical", "rail"]),
    tiers=st.just("concurrent"),
    sync=st.just("sparse"),
    sync_algorithm=st.just("flat"),
    sync_every=st.sampled_from([2, 10**9]),
    gradient_dtype=st.just("fp32"),
    pipelining=st.just(True),
    shared_stream=st.just(False),
    optimizer=st.sampled_from(["rowwise_adagrad", "adam"]),
)


def experiment_of(topology: Any, workload: Any, policy: str, more: dict[str, Any]) -> Experiment | None:
    """The experiment, or None where it is refused before anything is planned."""
    try:
        return make_experiment(
            name="fuzz",
            topology=build_topology(TopologySpec.model_validate(topology)),
            workload=build_workload(WorkloadSpec.model_validate(workload), Path()),
            policies=[PolicyEntry.parse(policy)],
            iterations=1,
            **more,
        )
    except (ValidationError, UserError):
        return None


@settings(deadline=None, max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    topologies,
    workloads,
    st.sampled_from(POLICIES),
    switches,
    st.sampled_from([{}, {"engine": "bound"}, {"tolerance": None}, {"tolerance": 0.3}]),
)
def test_what_is_accepted_runs_to_finite_figures(
    topology: Any, workload: Any, policy: str, execution: Any, more: Any
) -> None:
    experiment = experiment_of(topology, workload, policy, {**more, "execution": Execution(**execution)})
    if experiment is None:
        return
    assert finite_figures_or_words(experiment)


def finite_figures_or_words(experiment: Experiment) -> str:
    """The figures as JSON, which has no NaN, or why the experiment cannot run."""
    try:
        return json.dumps(summary_json(simulate(experiment)), allow_nan=False)
    except UserError as refused:
        return str(refused).strip()
