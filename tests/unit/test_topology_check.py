"""Figures that do not fit together, each with what is said of it."""

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from simulator.config.explain import explain
from simulator.topology.spec import TopologySpec

GOOD: dict[str, Any] = {
    "name": "t",
    "islands": 4,
    "gpus_per_island": 8,
    "scale_up": {"bandwidth": "450 GB/s"},
    "scale_out": {"nic_bandwidth": "400 Gbit/s"},
}
LEAVES = {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": "2:1"}
REMOVED = object()


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    for key, value in changes.items():
        holder = data
        *above, last = key.split(".")
        for part in above:
            holder = holder[part]
        if value is REMOVED:
            del holder[last]
        else:
            holder[last] = value
    return data


def said(changes: dict[str, Any]) -> list[str]:
    data = changed(changes)
    with pytest.raises(ValidationError) as caught:
        TopologySpec.model_validate(data)
    return [problem.line("") for problem in explain(caught.value, data, TopologySpec)]


def test_the_good_one_is_good() -> None:
    assert TopologySpec.model_validate(GOOD).island_sizes == (8, 8, 8, 8)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"gpus_per_island": REMOVED},
            ["gpus_per_island: is missing: ranks of an island, needed unless islands is a list of sizes"],
        ),
        (
            {"islands": [8, 8]},
            ["gpus_per_island: stands beside a list of island sizes: leave one of the two out"],
        ),
        ({"world_size": 30}, ["world_size: is 30, but 4 islands of 8 are 32 ranks"]),
        (
            {"islands": [8, 4], "gpus_per_island": REMOVED, "world_size": 16},
            ["world_size: is 16, but islands of 8, 4 are 12 ranks"],
        ),
        (
            {"islands": [2] * 20, "gpus_per_island": REMOVED, "world_size": 1},
            ["world_size: is 1, but islands of 2, 2, 2, 2, 2, 2, 2, 2, ... are 40 ranks"],
        ),
        (
            {"islands": 10**9},
            [
                "islands: 8,000,000,000 ranks are too many, allowed: 16,384; one matrix of bytes between all pairs "
                "would take 512 EB of memory"
            ],
        ),
        (
            {"islands": 4096},
            [
                "islands: 32,768 ranks are too many, allowed: 16,384; one matrix of bytes between all pairs would "
                "take 8.59 GB of memory"
            ],
        ),
        (
            {"islands": [16_000, 400], "gpus_per_island": REMOVED},
            [
                "islands: 16,400 ranks are too many, allowed: 16,384; one matrix of bytes between all pairs would "
                "take 2.15 GB of memory"
            ],
        ),
        ({"scale_up": REMOVED}, ["scale_up: is missing, but an island has 8 ranks that it must join"]),
        ({"scale_out": REMOVED}, ["scale_out: is missing, but it must join 4 islands"]),
        (
            {"scale_up": REMOVED, "scale_out": REMOVED},
            [
                "scale_up: is missing, but an island has 8 ranks that it must join",
                "scale_out: is missing, but it must join 4 islands",
            ],
        ),
        ({"gpus_per_host": 3}, ["gpus_per_host: hosts of 3 cannot make up an island of 8"]),
        (
            {"gpus_per_host": 12},
            ["gpus_per_host: a host of 12 cannot be made up of whole islands of 8"],
        ),
        (
            {"islands": [8, 4], "gpus_per_island": REMOVED, "gpus_per_host": 16},
            ["gpus_per_host: a host of 16 cannot be made up of whole islands of 8, 4"],
        ),
        (
            {"scale_out.nics_per_island": [8, 8]},
            ["scale_out.nics_per_island: has 2 entries for 4 islands"],
        ),
        (
            {"scale_out.nics_per_island": 10**9},
            ["scale_out.nics_per_island: 4,000,000,000 NICs are too many, allowed: 65,536"],
        ),
        (
            {"scale_out.gpu_to_nic": [0, 0, 0, 0, 0, 0, 0, 1e6]},
            ["scale_out.gpu_to_nic: 4,000,004 NICs are too many, allowed: 65,536"],
        ),
        (
            {"scale_out.nic_bandwidth": "500 GB/s"},
            [
                "scale_out.nic_bandwidth: one NIC of 500 GB/s is faster than the scale-up port of a GPU, 450 GB/s: "
                "are bits and bytes swapped?"
            ],
        ),
        (
            {"scale_out.gpu_to_nic": [0, 1]},
            ["scale_out.gpu_to_nic: has 2 entries for 8 GPUs of an island"],
        ),
        (
            {"scale_out.nics_per_island": 2, "scale_out.gpu_to_nic": [0, 0, 0, 0, 1, 1, 1, 2]},
            ["scale_out.gpu_to_nic[7]: NIC 2 does not exist: allowed are 0 to 1"],
        ),
        (
            {"scale_out.gpu_to_nic": [[0, 1], [1, 2], 3, 4, 5, 6, 7, 8]},
            ["scale_out.gpu_to_nic: the bonds [0, 1] and [1, 2] share a NIC: they must be equal or apart"],
        ),
        (
            {"scale_out.fabric": {"kind": "torus", "dims": [2, 3], "link_bandwidth": "10 GB/s"}},
            ["scale_out.fabric.dims: 2 x 3 are 6 islands, but there are 4"],
        ),
        (
            {"scale_out.fabric": {**LEAVES, "islands_per_leaf": 5}},
            ["scale_out.fabric.islands_per_leaf: 5 are more than all islands, 4"],
        ),
        (
            {
                "islands": [4, 2],
                "gpus_per_island": REMOVED,
                "scale_out.nics_per_island": 4,
                "scale_out.fabric": {"kind": "rail_only"},
            },
            [
                "scale_out.fabric: rails do not line up: a GPU port has NICs [0] in one island, [0, 1] in another"
            ],
        ),
        ({"overrides": [{"target": "nic/0"}]}, ["overrides[0]: needs bandwidth or factor, one of the two"]),
        (
            {"overrides": [{"target": "nic/0", "factor": 1, "bandwidth": "1 GB/s"}]},
            ["overrides[0]: needs bandwidth or factor, one of the two"],
        ),
        (
            {
                "overrides": [
                    {"target": "nic/32", "factor": 1},
                    {"target": "scale_up/-1", "factor": 1},
                    {"target": "leaf/0", "factor": 1},
                ]
            },
            [
                "overrides[0].target: 'nic/32' does not exist: allowed are nic/0 to nic/31",
                "overrides[1].target: 'scale_up/-1' does not exist: allowed are scale_up/0 to scale_up/31",
                "overrides[2].target: 'leaf/0' is not a port or a link: allowed are scale_up/0 to scale_up/31, "
                "nic/0 to nic/31",
            ],
        ),
        (
            {"scale_out.fabric": LEAVES, "overrides": [{"target": "leaf/2", "factor": 1}]},
            ["overrides[0].target: 'leaf/2' does not exist: allowed are leaf/0 to leaf/1"],
        ),
        (
            {"scale_out.fabric": LEAVES, "overrides": [{"target": "leaf/0/dwon", "factor": 1}]},
            [
                "overrides[0].target: 'leaf/0/dwon' does not exist: allowed are leaf/0 to leaf/1; "
                "did you mean 'leaf/0/down'?"
            ],
        ),
        (
            {"overrides": [{"target": "nci/0", "factor": 1}]},
            [
                "overrides[0].target: 'nci/0' is not a port or a link: allowed are scale_up/0 to scale_up/31, "
                "nic/0 to nic/31; did you mean 'nic'?"
            ],
        ),
        (
            {"islands": 1, "scale_out": REMOVED, "overrides": [{"target": "nic/0", "factor": 1}]},
            ["overrides[0].target: 'nic/0' is not a port or a link: allowed are scale_up/0 to scale_up/7"],
        ),
        (
            {
                "perturb": [
                    {"kind": "late", "target": "rank/32", "by": "5 ms"},
                    {"kind": "slow", "target": "nic/0", "factor": 0.5},
                    {"kind": "late", "target": "rank/05", "by": "5 ms"},
                    {"kind": "late", "target": "rank/", "by": "5 ms"},
                ]
            },
            [
                "perturb[0].target: 'rank/32' does not exist: allowed are rank/0 to rank/31",
                "perturb[1].target: 'nic/0' is not a rank: allowed are rank/0 to rank/31",
                "perturb[2].target: 'rank/05' is not a rank: allowed are rank/0 to rank/31",
                "perturb[3].target: 'rank/' is not a rank: allowed are rank/0 to rank/31",
            ],
        ),
        (
            {"perturb": [{"target": "rank/3", "factor": 0.5}]},
            [
                "perturb[0].target: 'rank/3' has no link of its own: a rank wants `kind: late` or `kind: slow`",
            ],
        ),
        (
            {"perturb": [{"target": "nic/3", "factor": 0.5, "from": "2 ms", "until": "1 ms"}]},
            ["perturb[0].until: ends before it begins: until 1 ms, from 2 ms"],
        ),
        (
            {"perturb": [{"target": "nic/3", "factor": 0.5, "from": "1 ms", "until": "1 ms"}]},
            ["perturb[0].until: ends before it begins: until 1 ms, from 1 ms"],
        ),
    ],
)
def test_what_does_not_fit(changes: dict[str, Any], expected: list[str]) -> None:
    assert said(changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"islands": 0}, "islands: found 0: must be a count of at least 1, or a list of them, one an island"),
        ({"islands": []}, "islands: found an empty list: must be a count of at least 1"),
        ({"islands": [8, 0]}, "islands: found a list of 2: entry 1 is 0, each must be a count of at least 1"),
        ({"islands": [8, 1.5]}, "islands: found a list of 2: entry 1 is 1.5, each must be a whole number"),
        ({"islands": "8x8"}, "islands: found '8x8': must be a whole number"),
        (
            {"islands": ["8 8 4"]},
            "islands: found a list of 1: entry 0 is '8 8 4', each must be a whole number; with commas between: "
            "[8, 8, 4]",
        ),
        ({"gpus_per_island": 0}, "gpus_per_island: found 0: must be at least 1"),
        ({"world_size": 1e300}, "world_size: 1e+300 is out of range: at most 2^62"),
        ({"scale_up.efficiency": 1.2}, "scale_up.efficiency: found 1.2: must be at most 1"),
        ({"scale_up.efficiency": 0}, "scale_up.efficiency: found 0: must be greater than 0"),
        ({"scale_up.efficiency": "80%"}, "scale_up.efficiency: found '80%': must be a number"),
        (
            {"scale_up.latency": "1 GB"},
            "scale_up.latency: '1 GB' is not a duration: 'GB' is not one of the units",
        ),
        ({"scale_up.bandwidth": "1 us"}, "scale_up.bandwidth: '1 us' is not a bandwidth: 'us' is not one of"),
        ({"scale_up.bandwidth": "450 GB"}, "scale_up.bandwidth: '450 GB' is a size, not a bandwidth"),
        ({"scale_up.pair_cap": "0 GB/s"}, "scale_up.pair_cap: '0 GB/s' is zero: it must be greater"),
        (
            {"scale_up.startup": "8 us"},
            "scale_up.startup: found '8 us', allowed: a mapping with the keys alpha, gamma",
        ),
        ({"gpu": {"hbm_capacity": "80 GB/s"}}, "gpu.hbm_capacity: '80 GB/s' is not a size"),
        ({"gpu": {"hbm_bandwidth": "3 TB"}}, "gpu.hbm_bandwidth: '3 TB' is a size, not a bandwidth"),
        (
            {"scale_out.fabric": {"kind": "rail_only", "cross_rail": "direct"}},
            "scale_out.fabric.cross_rail: found 'direct': a rail-only fabric has no path from rail to rail, "
            "allowed: 'scale_up', over the rail-mate",
        ),
        (
            {"scale_out.fabric": {"kind": "rail_only", "cross_rail": "pxn"}},
            "scale_out.fabric.cross_rail: found 'pxn', allowed: 'scale_up'",
        ),
        (
            {"scale_out.fabric": {**LEAVES, "oversubscription": "0:1"}},
            "scale_out.fabric.oversubscription: '0:1' is not a positive ratio: write it like '7:1'",
        ),
        (
            {"scale_out.fabric": {"kind": "torus", "dims": [], "link_bandwidth": "1 GB/s"}},
            "scale_out.fabric.dims: found an empty list: at least 1 entry is needed",
        ),
        (
            {"scale_out.fabric": {"kind": "torus", "dims": [1, 1, 2, 2], "link_bandwidth": "1 GB/s"}},
            "scale_out.fabric.dims: found a list of 4: at most 3 entries are allowed",
        ),
        (
            {"scale_out.fabric": {"kind": "torus", "dims": [4]}},
            "scale_out.fabric.link_bandwidth: is missing: rate of the link to one neighbour, one direction",
        ),
        (
            {"scale_out.gpu_to_nic": []},
            "scale_out.gpu_to_nic: found an empty list: must be a list with one NIC",
        ),
        ({"scale_out.gpu_to_nic": 3}, "scale_out.gpu_to_nic: found 3: must be a list with one NIC"),
        (
            {"scale_out.gpu_to_nic": [0, []]},
            "scale_out.gpu_to_nic: found a list of 2: must name at least one NIC",
        ),
        (
            {"scale_out.gpu_to_nic": [0, [1, 1]]},
            "scale_out.gpu_to_nic: found a list of 2: must name at least one NIC",
        ),
        (
            {"scale_out.gpu_to_nic": [0, -1]},
            "scale_out.gpu_to_nic: found a list of 2: must name at least one NIC",
        ),
        ({"scale_out.message_gap": "-1 us"}, "scale_out.message_gap: '-1 us' is negative"),
        (
            {"perturb": [{"kind": "late", "target": "rank/1"}]},
            "perturb[0].by: is missing: how late it starts",
        ),
        (
            {"perturb": [{"target": "nic/1", "factor": 1.5}]},
            "perturb[0].factor: found 1.5: must be at most 1",
        ),
        (
            {"perturb": [{"kind": "slow", "target": "rank/1", "factor": 0}]},
            "perturb[0].factor: found 0: must be greater than 0",
        ),
        (
            {"perturb": [{"kind": "fast", "target": "rank/1"}]},
            "perturb[0].kind: found 'fast', allowed: 'late', 'slow', 'link'",
        ),
        (
            {"perturb": ["rank/1"]},
            "perturb[0]: found 'rank/1', allowed: a mapping with the keys kind, target, factor",
        ),
        ({"overrides": {"target": "nic/1"}}, "overrides: found a mapping, allowed: a list"),
        (
            {"overrides": [{"target": "nic/1", "factor": 0}]},
            "overrides[0].factor: found 0: must be greater than 0",
        ),
        ({"island_sizes": [8, 8]}, "island_sizes: unknown key, allowed: name, source, islands"),
        ({"scale_out.nic_bandwith": "1 GB/s"}, "did you mean 'nic_bandwidth'?"),
    ],
)
def test_what_no_key_may_hold(changes: dict[str, Any], expected: str) -> None:
    (line,) = said(changes)
    assert expected in line


@pytest.mark.parametrize(
    "changes",
    [
        {"world_size": 32},
        {"islands": [8, 8, 4], "gpus_per_island": REMOVED, "world_size": 20, "gpus_per_host": 8},
        {"islands": [3, 5, 7], "gpus_per_island": REMOVED},
        {"gpus_per_host": 4},
        {"gpus_per_host": 16},
        {"islands": 2048},
        {"scale_out.nic_bandwidth": "450 GB/s"},
        {"scale_up": REMOVED, "gpus_per_island": 1, "scale_out.nic_bandwidth": "9 TB/s"},
        {"islands": 1, "scale_out": REMOVED},
        {"islands": 1, "scale_out.fabric": LEAVES},
        {"scale_out.fabric": {**LEAVES, "islands_per_leaf": 4}},
        {"scale_out.fabric": {**LEAVES, "islands_per_leaf": 3}},
        {"scale_out.fabric": {**LEAVES, "oversubscription": "1:2"}},
        {"scale_out.fabric": {"kind": "torus", "dims": [2, 1, 2], "link_bandwidth": "1 GB/s"}},
        {"scale_out.gpu_to_nic": [[0, 1], [0, 1], 2, 2, 3, 3, 4, 5]},
        {"scale_up.pair_cap": "900 GB/s"},
        {"overrides": [{"target": "nic/31/egress", "factor": 1e-9}]},
        {"perturb": [{"target": "nic/31/ingress", "factor": 0, "until": "1 ns"}]},
    ],
)
def test_what_fits(changes: dict[str, Any]) -> None:
    assert TopologySpec.model_validate(changed(changes)).name == "t"


def test_a_schema_error_comes_before_what_does_not_fit() -> None:
    assert said({"world_size": 30, "scale_up.efficiency": 2}) == [
        "scale_up.efficiency: found 2: must be at most 1"
    ]
