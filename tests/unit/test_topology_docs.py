"""docs/topologies.md: its tables have the keys of the schema, their defaults, and every shipped file's own figures."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from simulator.topology import spec
from simulator.topology.load import load_topology

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "topologies.md").read_text(encoding="utf-8")
SECTIONS = {
    re.sub("`", "", heading): body
    for heading, body in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##+ |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
SCHEMA_OF_SECTION: dict[str, type[BaseModel]] = {
    "The file": spec.TopologySpec,
    "gpu": spec.GpuSpec,
    "scale_up": spec.ScaleUpSpec,
    "scale_out": spec.ScaleOutSpec,
    "startup": spec.StartupSpec,
    "non_blocking": spec.NonBlockingSpec,
    "rail_only": spec.RailOnlySpec,
    "leaf_spine": spec.LeafSpineSpec,
    "torus": spec.TorusSpec,
    "Overrides": spec.OverrideSpec,
    "late": spec.LateSpec,
    "slow": spec.SlowSpec,
    "link": spec.LinkSpec,
}
LONGEST_DEFAULT = 40  # longer ones are told in other words
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CLUSTER = """
name: x
islands: 2
gpus_per_island: 8
scale_up: {bandwidth: 450 GB/s}
scale_out: {nic_bandwidth: 400 Gbit/s}
"""


def cells_by_key(section: str) -> dict[str, list[str]]:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", SECTIONS[section], re.MULTILINE)
    return {key: cells.split(" | ") for key, cells in rows}


def fields_by_key(schema: type[BaseModel]) -> dict[str, object]:
    return {field.alias or name: field for name, field in schema.model_fields.items()}


def test_every_schema_has_a_section() -> None:
    schemas = {
        model
        for model in vars(spec).values()
        if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == spec.__name__
    }
    assert schemas == set(SCHEMA_OF_SECTION.values())


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_keys_are_those_of_the_schema(section: str) -> None:
    assert list(cells_by_key(section)) == list(fields_by_key(SCHEMA_OF_SECTION[section]))


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_every_row_has_kind_meaning_and_default(section: str) -> None:
    for key, cells in cells_by_key(section).items():
        assert len(cells) == 3, key
        assert all(cells), key


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_defaults_are_those_of_the_schema(section: str) -> None:
    cells = cells_by_key(section)
    for name, field in SCHEMA_OF_SECTION[section].model_fields.items():
        told = cells[field.alias or name][-1]
        assert (told == "required") == field.is_required(), name
        stated = re.search(r"default:? (.+)$", field.description or "")
        if stated and len(stated[1]) <= LONGEST_DEFAULT:
            assert told == stated[1], name


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(tmp_path: Path, example: str) -> None:
    text = example if example.startswith("name:") else CLUSTER + example
    (tmp_path / "x.yaml").write_text(text)
    assert load_topology(tmp_path / "x.yaml").world_size == 16


def test_there_are_examples_of_all_parts() -> None:
    assert {example.split(":")[0] for example in EXAMPLES} == {"name", "overrides", "perturb"}


@pytest.mark.parametrize("path", sorted((ROOT / "topologies").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_files_are_told_of_as_they_are(path: Path) -> None:
    row = re.search(rf"^\| `{path.stem}` \| (.*) \|$", SECTIONS["Shipped topologies"], re.MULTILINE)
    assert row is not None
    gpus, port, nic, fabric, _ = row[1].split(" | ")
    topology = load_topology(path)
    assert topology.spec.scale_up is not None
    assert topology.spec.scale_out is not None
    sizes = topology.island_sizes
    shape = f"{len(sizes)} x {sizes[0]}" if len(set(sizes)) == 1 else " + ".join(map(str, sizes))
    assert gpus.replace(" chips", "").startswith(shape)
    edited = topology.with_(**{"scale_up.bandwidth": port, "nic_bandwidth": nic})
    assert edited.spec.scale_up == topology.spec.scale_up
    assert edited.spec.scale_out == topology.spec.scale_out
    assert topology.spec.scale_out.fabric.kind == fabric


def test_shipped_files_name_their_sources() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", SECTIONS["Shipped topologies"], re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "topologies").glob("*.yaml"))


def test_what_if_edits_work() -> None:
    code = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1].replace('"topologies/', f'"{ROOT}/topologies/'), names)
    assert names["faster"].world_size == 2 * names["cluster"].world_size
