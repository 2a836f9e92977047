"""Practitioners' cases 15 to 21, as far as text and files go: what is written is what is meant, or it is refused."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.config.errors import ConfigError
from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount, Text
from simulator.sharding.execution import Execution
from simulator.topology.build import build_topology
from simulator.topology.load import load_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology
from simulator.units import parse_bandwidth

TOPOLOGY = """\
name: t
islands: 4
gpus_per_island: 2
scale_up:
  bandwidth: 300 GB/s
  latency: 1e-6 s
scale_out:
  nic_bandwidth: 25Gbps
  fabric: {kind: leaf_spine, islands_per_leaf: 2, oversubscription: 8:1}
"""


class Table(StrictModel):
    name: Text
    rows: PositiveCount


def topology(tmp_path: Path, text: str) -> Topology:
    path = tmp_path / "t.yaml"
    path.write_bytes(text.encode())
    return load_topology(path)


def refused(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        topology(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def table(tmp_path: Path, text: str) -> Table:
    path = tmp_path / "table.yaml"
    path.write_text(text)
    return load_model(path, Table)


def table_refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        table(tmp_path, text)
    return str(caught.value).removeprefix(f"{tmp_path}/")


# 15. A link at half its rate from the start is the topology with half that bandwidth.


def test_half_from_the_start_is_half_the_bandwidth() -> None:
    data: dict[str, Any] = yaml.safe_load(TOPOLOGY) | {
        "perturb": [{"target": "nic/3", "from": "0 s", "factor": 0.5}]
    }
    perturbed = build_topology(TopologySpec.model_validate(data))
    del data["perturb"]
    data["overrides"] = [{"target": "nic/3", "bandwidth": "12.5 Gbit/s"}]
    slower = build_topology(TopologySpec.model_validate(data))
    assert perturbed.capacity_changes == slower.capacity_changes == ()
    assert perturbed.resources.capacity_bytes_per_s.tolist() == slower.resources.capacity_bytes_per_s.tolist()
    assert perturbed.inter_island_bytes_per_s.tolist() == slower.inter_island_bytes_per_s.tolist()


def test_a_link_that_fails_for_good_is_told_to_the_replay() -> None:
    data: dict[str, Any] = yaml.safe_load(TOPOLOGY) | {"perturb": [{"target": "leaf/1/up", "factor": 0}]}
    made = build_topology(TopologySpec.model_validate(data))
    (change,) = made.capacity_changes
    assert (change.time_s, made.resources.names[change.resource], change.factor) == (0, "leaf/1/up", 0)


# 16. Bandwidths.


@pytest.mark.parametrize(
    ("text", "expected"),
    [("25Gbps", 3.125e9), ("25 Gbit/s", 3.125e9), ("25 GB/s", 25e9), ("25GiB/s", 26_843_545_600.0)],
)
def test_spellings_of_a_bandwidth(tmp_path: Path, text: str, expected: float) -> None:
    made = topology(tmp_path, TOPOLOGY.replace("25Gbps", text))
    assert made.spec.scale_out is not None
    assert made.spec.scale_out.nic_bandwidth == expected


def test_four_hundred_gigabits_are_fifty_gigabytes_exactly() -> None:
    assert parse_bandwidth("400 Gbit/s") == parse_bandwidth("50 GB/s") == 50_000_000_000


def test_a_bare_bandwidth_is_refused_with_both_spellings(tmp_path: Path) -> None:
    assert refused(tmp_path, TOPOLOGY.replace("25Gbps", "25")) == [
        "t.yaml:8:18: scale_out.nic_bandwidth: the bare number 25 has no unit: write '25 Gbit/s' or '25 GB/s'"
    ]


def test_lower_case_is_refused_for_b_and_b_differ(tmp_path: Path) -> None:
    assert refused(tmp_path, TOPOLOGY.replace("25Gbps", "25 gb/s")) == [
        "t.yaml:8:18: scale_out.nic_bandwidth: '25 gb/s' is ambiguous, for b and B differ: "
        "write GB/s for bytes or Gbit/s for bits"
    ]


# 17. Numbers.


@pytest.mark.parametrize(
    ("text", "rows"), [("1e9", 10**9), ("8_000_000", 8_000_000), ("1.0", 1), ("010", 10), ("+5", 5)]
)
def test_counts(tmp_path: Path, text: str, rows: int) -> None:
    assert table(tmp_path, f"name: t\nrows: {text}\n").rows == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.5", "1.5 is not a whole number"),
        ("8,000,000", "'8,000,000' has commas: write 8_000_000"),
        ("0", "found 0: must be at least 1"),
        ("-3", "found -3: must be at least 1"),
        (".inf", "inf is not a whole number"),
        (".nan", "nan is not a whole number"),
        ("'5'", "found '5': must be a whole number"),
        ("10M", "found '10M': must be a whole number"),
        ("yes", "found yes: must be a whole number"),
        ("", "found nothing: must be a whole number"),
    ],
)
def test_what_is_no_count(tmp_path: Path, text: str, said: str) -> None:
    assert table_refused(tmp_path, f"name: t\nrows: {text}\n").partition(": rows: ")[2] == said


def test_exponents_in_quantities(tmp_path: Path) -> None:
    made = topology(tmp_path, TOPOLOGY)
    assert made.routes([0], [1]).latency_s.tolist() == [1e-6]


# 18. Words that YAML 1.1 takes for booleans.


@pytest.mark.parametrize("word", ["off", "Off", "OFF", "no", "false", "none", "'none'"])
def test_dedup_off_is_off(tmp_path: Path, word: str) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(f"dedup: {word}\n")
    assert load_model(path, Execution).dedup == "none"


def test_switches_may_be_words(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text("pipelining: on\nshared_stream: no\n")
    execution = load_model(path, Execution)
    assert (execution.pipelining, execution.shared_stream) == (True, False)


@pytest.mark.parametrize("word", ["no", "off", "on", "yes", "true", "False"])
def test_a_name_is_not_a_boolean(tmp_path: Path, word: str) -> None:
    assert table_refused(tmp_path, f"name: {word}\nrows: 3\n") == (
        f"table.yaml:1:7: name: got a boolean ({word}): quote it"
    )
    assert table(tmp_path, f"name: '{word}'\nrows: 3\n").name == word


def test_a_key_is_not_a_boolean(tmp_path: Path) -> None:
    assert refused(tmp_path, TOPOLOGY + "on: 3\n") == ["t.yaml:10:1: on: got a boolean as a key: quote it"]


# 19. A ratio is not a time of day.


@pytest.mark.parametrize(
    ("text", "ratio"), [("8:1", 8.0), ("1:1", 1.0), ("3:2", 1.5), ("7", 7.0), ("'20:1'", 20.0)]
)
def test_oversubscription(tmp_path: Path, text: str, ratio: float) -> None:
    made = topology(tmp_path, TOPOLOGY.replace("8:1", text))
    uplink = made.resources.capacity_bytes_per_s[made.resources.names.index("leaf/0/up")]
    assert uplink == 4 * 3.125e9 / ratio


def test_ratios_outside_of_braces(tmp_path: Path) -> None:
    block = "  fabric:\n    kind: leaf_spine\n    islands_per_leaf: 2\n    oversubscription: 8:1\n"
    made = topology(tmp_path, TOPOLOGY[: TOPOLOGY.index("  fabric")] + block)
    assert made.spec.scale_out is not None
    assert made.spec.scale_out.fabric.oversubscription == 8.0  # type: ignore[union-attr]


# 20. Files.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TOPOLOGY + "islands: 5\n", ["t.yaml:10:1: islands: the same key twice, first in line 2"]),
        (
            TOPOLOGY.replace("latency", "latancy"),
            [
                "t.yaml:6:3: scale_up.latancy: unknown key, allowed: bandwidth, latency, efficiency, pair_cap, "
                "startup, message_gap, did you mean 'latency'?"
            ],
        ),
        (
            TOPOLOGY.replace("  bandwidth", "\tbandwidth"),
            ["t.yaml:5:1: a tab in the indentation: use spaces"],
        ),
        ("", ["t.yaml:1:1: the file is empty"]),
        ("\n# nothing\n", ["t.yaml:1:1: the file is empty"]),
        ("- a\n- b\n", ["t.yaml:1:1: found a list, expected a mapping of keys"]),
        ("just words\n", ["t.yaml:1:1: found only 'just words', expected a mapping of keys"]),
    ],
)
def test_one_line_with_file_and_line_number(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert refused(tmp_path, text) == expected


@pytest.mark.parametrize(
    "text", ["\ufeff" + TOPOLOGY, TOPOLOGY.replace("\n", "\r\n"), "\ufeff" + TOPOLOGY.replace("\n", "\r\n")]
)
def test_byte_order_marks_and_carriage_returns_simply_work(tmp_path: Path, text: str) -> None:
    assert topology(tmp_path, text).spec == topology(tmp_path, TOPOLOGY).spec


def test_all_problems_of_a_file_come_in_one_report(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("25Gbps", "25").replace("4\n", "0\n").replace("1e-6 s", "1 GB") + "nmae: x\n"
    lines = refused(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == [
        "islands",
        "scale_up.latency",
        "scale_out.nic_bandwidth",
        "nmae",
    ]


# 21. What makes no sense as a quantity.

NUMBERS = {
    "scale_up.bandwidth": "GB/s",
    "scale_up.pair_cap": "GB/s",
    "scale_out.nic_bandwidth": "GB/s",
    "gpu.hbm_capacity": "GB",
    "gpu.hbm_bandwidth": "GB/s",
}
LENGTHS = ("scale_up.latency", "scale_up.message_gap", "scale_out.latency", "scale_up.startup.alpha")
SHARES = ("scale_up.efficiency", "scale_out.efficiency")


def with_value(path: str, value: object) -> dict[str, Any]:
    data: dict[str, Any] = copy.deepcopy(yaml.safe_load(TOPOLOGY))
    holder = data
    *above, last = path.split(".")
    for key in above:
        holder = holder.setdefault(key, {})
    holder[last] = value
    return data


def check(tmp_path: Path, data: dict[str, Any]) -> list[str]:
    return refused(tmp_path, yaml.safe_dump(data, sort_keys=False))


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "0", "-1", "1e99"])
def test_sizes_and_rates_are_positive_and_finite(tmp_path: Path, path: str, number: str) -> None:
    (line,) = check(tmp_path, with_value(path, f"{number} {NUMBERS[path]}"))
    assert f": {path}: " in line


@pytest.mark.parametrize("path", LENGTHS)
@pytest.mark.parametrize("number", ["nan", "inf", "-1", "1e99"])
def test_durations_are_not_negative_and_finite(tmp_path: Path, path: str, number: str) -> None:
    (line,) = check(tmp_path, with_value(path, f"{number} us"))
    assert f": {path}: " in line


@pytest.mark.parametrize("path", SHARES)
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0, -0.1, 1.01, "0.8", True, None])
def test_efficiencies_are_shares(tmp_path: Path, path: str, number: object) -> None:
    (line,) = check(tmp_path, with_value(path, number))
    assert f": {path}: " in line


@pytest.mark.parametrize("path", ["islands", "gpus_per_island", "gpus_per_host", "world_size"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0, -1, 2.5, "two", True])
def test_counts_are_counts(tmp_path: Path, path: str, number: object) -> None:
    lines = check(tmp_path, with_value(path, number))
    assert any(f": {path}: " in line for line in lines)
