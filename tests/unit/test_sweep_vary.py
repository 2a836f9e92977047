"""What varies: grids, lists, draws, ranges, and the forms of keys."""

import pytest
from pydantic import TypeAdapter
from sweep_inputs import small_sweep

from simulator.config.errors import ConfigError
from simulator.sweeps.vary import Vary, VarySpec, key_problem

SPEC = TypeAdapter(Vary)
NIC, BATCH = "topology.scale_out.nic_bandwidth", "workload.batch_per_rank"


def vary(data) -> VarySpec:
    return SPEC.validate_python(data)


def refusal(tmp_path, data) -> str:
    with pytest.raises(ConfigError) as error:
        small_sweep(tmp_path, vary=data)
    return str(error.value)


def test_a_mapping_of_keys_is_a_grid_with_the_first_key_slowest():
    made = list(vary({NIC: ["1 GB/s", "2 GB/s"], BATCH: [1, 2]}).combinations())
    assert made == [
        {NIC: "1 GB/s", BATCH: 1},
        {NIC: "1 GB/s", BATCH: 2},
        {NIC: "2 GB/s", BATCH: 1},
        {NIC: "2 GB/s", BATCH: 2},
    ]


def test_a_grid_may_be_called_one():
    keys = {BATCH: [1, 2, 3]}
    assert list(vary({"grid": keys}).combinations()) == list(vary(keys).combinations())


def test_a_list_is_taken_as_it_is():
    entries = [{BATCH: 1}, {NIC: "1 GB/s", BATCH: 2}]
    made = vary({"list": entries})
    assert list(made.combinations()) == entries
    assert made.keys == (BATCH, NIC)
    assert made.count == 2


def test_draws_are_counted_and_stay_inside_their_ranges():
    keys = {
        NIC: {"from": "100 Gbit/s", "to": "400 Gbit/s"},
        BATCH: {"from": 16, "to": 1024, "scale": "log"},
        "workload.drift": {"from": 0.0, "to": 0.5},
        "execution.dedup": ["none", "rank"],
    }
    made = list(vary({"random": {"count": 200, "keys": keys}}).combinations())
    assert len(made) == 200
    rates = [float(point[NIC].removesuffix(" Gbit/s")) for point in made]
    assert min(rates) >= 100
    assert max(rates) <= 400
    assert max(rates) - min(rates) > 250
    batches = [point[BATCH] for point in made]
    assert all(isinstance(batch, int) and 16 <= batch <= 1024 for batch in batches)
    assert sum(batch < 128 for batch in batches) in range(70, 130)  # half of the decades, on a log scale
    assert {point["execution.dedup"] for point in made} == {"none", "rank"}
    assert all(0 <= point["workload.drift"] <= 0.5 for point in made)


def test_more_draws_or_another_key_leave_the_others_as_they_were():
    keys = {BATCH: {"from": 1, "to": 10**6}}
    few = list(vary({"random": {"count": 5, "keys": keys}}).combinations())
    more = list(vary({"random": {"count": 9, "keys": {NIC: ["1 GB/s", "2 GB/s"], **keys}}}).combinations())
    assert [point[BATCH] for point in more[:5]] == [point[BATCH] for point in few]


def test_another_seed_draws_others():
    def draws(seed: int) -> list[dict[str, object]]:
        keys = {BATCH: {"from": 1, "to": 10**6}}
        return list(vary({"random": {"count": 3, "seed": seed, "keys": keys}}).combinations())

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "nothing is varied"),
        ({"grid": {BATCH: [1]}, "list": [{BATCH: 1}]}, "give one of grid, list and random"),
        ({BATCH: []}, "the list is empty"),
        ({"batch": [1]}, "the key 'batch' is none that can be varied"),
        ({"policies.tiers": [1]}, "the key 'policies.tiers' is none that can be varied"),
        ({"policies.tier.memory": ["hbm"]}, "unknown policy 'tier'; allowed: row_wise, tiers, flexshard"),
        ({"random": {"count": 0, "keys": {BATCH: [1]}}}, "found 0"),
        ({"random": {"count": 1, "keys": {BATCH: {"from": 4, "to": 2}}}}, "2 is not above 4"),
        ({"random": {"count": 1, "keys": {NIC: {"from": "1 GB/s", "to": "9 Gbit/s"}}}}, "another unit"),
        ({"random": {"count": 1, "keys": {BATCH: {"from": 0, "to": 2, "scale": "log"}}}}, "no logarithm"),
        ({"random": {"count": 1, "keys": {BATCH: {"from": "fast", "to": "slow"}}}}, "must be numbers"),
        (
            {BATCH: list(range(1001)), "seed": list(range(1001))},
            "1,002,001 combinations, at most 200,000 are allowed",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(tmp_path, data, words):
    text = refusal(tmp_path, data)
    assert words in text
    assert "sweep.yaml:" in text


@pytest.mark.parametrize("key", ["topology", "workload", "seed", NIC, "policies.a.b.c", "execution.dedup"])
def test_keys_of_every_form_are_allowed(key):
    assert key_problem(key) == ""


@pytest.mark.parametrize("key", ["", "engine", "topology.", "policies", "policies.x", "policies.", "nic"])
def test_keys_of_no_form_are_told(key):
    assert "none that can be varied" in key_problem(key)
