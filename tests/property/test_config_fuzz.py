"""No input gives a traceback: whatever a topology file holds, it loads or is refused in lines with its name."""

import copy
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.config.errors import ConfigError
from simulator.config.load import load_value
from simulator.errors import UserError
from simulator.topology.build import build_topology
from simulator.topology.load import load_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology

FOLDER = Path(__file__).parents[2] / "topologies"
SHIPPED = {file.stem: file.read_bytes() for file in sorted(FOLDER.glob("*.yaml"))}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 20),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [
            "25 GB/s",
            "25 gb/s",
            "25",
            "1 us",
            "0 s",
            "80 GB",
            "8:1",
            "nic/0",
            "nic/0/egress",
            "rank/1",
            "leaf/0/up",
            "torus/0/+x",
            "scale_up/99",
            "late",
            "slow",
            "link",
            "torus",
            "leaf_spine",
            "rail_only",
            "direct",
            "9" * 300,
        ]
    ),
)


def keys_of(schema: dict[str, Any]) -> set[str]:
    """Every key of every mapping that the schema knows."""
    models = [schema, *schema.get("$defs", {}).values()]
    return {key for model in models for key in model.get("properties", {})}


keys = st.one_of(st.sampled_from(sorted(keys_of(TopologySpec.model_json_schema()))), st.text(max_size=6))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=12,
)


def attempt(text: str) -> Topology | list[str]:
    """The topology, or the lines that refuse it."""
    try:
        return build_topology(load_value(text, TopologySpec, source="f.yaml"))
    except ConfigError as error:
        return str(error).splitlines()


def check(result: Topology | list[str]) -> None:
    if isinstance(result, Topology):
        assert result.world_size >= 1
    else:
        assert result
        assert all(line.startswith("f.yaml:") for line in result)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(keys, values, max_size=8))
def test_any_mapping_of_any_keys(data: dict[str, Any]) -> None:
    check(attempt(yaml.safe_dump(data, allow_unicode=True)))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(sorted(SHIPPED)), st.data())
def test_shipped_files_with_values_exchanged(name: str, data: st.DataObject) -> None:
    tree = copy.deepcopy(yaml.safe_load(SHIPPED[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(tree)))
        holder[key] = data.draw(values)
    check(attempt(yaml.safe_dump(tree, allow_unicode=True)))


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) in a tree."""
    found: list[tuple[Any, Any]] = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found += [(tree, key), *places(value)]
    return found or [(tree, "name")] if isinstance(tree, dict) else found


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(sorted(SHIPPED)), st.data())
def test_shipped_files_with_bytes_changed(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    content = bytearray(SHIPPED[name])
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 3))
        content[place : place + length] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"\t", b"\n", b": ", b"- "])
        )
    path = tmp_path_factory.getbasetemp() / "mutated.yaml"
    path.write_bytes(bytes(content))
    assert loads_or_is_refused(path)


def loads_or_is_refused(path: Path) -> bool:
    try:
        return load_topology(path).world_size >= 1
    except UserError as error:
        return all(line.startswith(str(path)) for line in str(error).splitlines())


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    check(attempt(text))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(content)
    assert loads_or_is_refused(path)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(sorted(SHIPPED)),
    st.dictionaries(st.one_of(keys, st.text(max_size=12)), values, max_size=3),
)
def test_any_edit(name: str, changes: dict[str, Any]) -> None:
    made = load_topology(FOLDER / f"{name}.yaml")
    assert edits_or_is_refused(made, changes)


def edits_or_is_refused(made: Topology, changes: dict[str, Any]) -> bool:
    try:
        return made.with_(**changes).world_size >= 1
    except UserError as error:
        return bool(str(error))


HOSTILE = {
    "aliases": "\n".join(
        ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
        + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    ),
    "brackets": "[" * 200_000,
    "mappings": "{a: " * 100_000,
    "indentation": "\n".join(" " * depth + "a:" for depth in range(2000)),
    "islands": "name: x\nislands: 1e9\ngpus_per_island: 8\n",
    "island list": "name: x\nislands: [1e9, 1e9]\n",
    "gpus": "name: x\nislands: 1\ngpus_per_island: 4611686018427387904\n",
    "nics": "name: x\nislands: 2\ngpus_per_island: 1\nscale_out: {nic_bandwidth: 1 GB/s, nics_per_island: 1e18}\n",
    "map": "name: x\nislands: 1\ngpus_per_island: 2\nscale_up: {bandwidth: 9 GB/s}\n"
    "scale_out: {nic_bandwidth: 1 GB/s, gpu_to_nic: [0, 1e15]}\n",
    "torus": "name: x\nislands: 2\ngpus_per_island: 1\n"
    "scale_out: {nic_bandwidth: 1 GB/s, fabric: {kind: torus, dims: [1e9, 1e9], link_bandwidth: 1 GB/s}}\n",
    "exponent": "name: x\nislands: 1\ngpus_per_island: 1\ngpu: {hbm_capacity: 1e999999999 GB}\n",
    "digits": "name: x\nislands: " + "9" * 5000 + "\n",
    "long text": "name: " + "x" * 1_000_000 + "\nislands: 1\ngpus_per_island: 1\n",
    "keys": "\n".join(f"k{number}: 1" for number in range(20_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sizes_are_refused_before_they_are_taken(name: str) -> None:
    tracemalloc.start()
    try:
        result = attempt(HOSTILE[name])
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(result, list)
    assert peak_bytes < 200e6
