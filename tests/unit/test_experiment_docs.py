"""docs/experiments.md: its tables have the keys of the schema and their defaults, its example loads."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from simulator.experiment import spec
from simulator.experiment.experiment import load_experiment
from simulator.sharding.execution import Execution

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
SECTIONS = {
    heading.replace("`", ""): body
    for heading, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
SCHEMA_OF_SECTION: dict[str, type[BaseModel]] = {
    "The file": spec.ExperimentSpec,
    "precision": spec.Precision,
    "execution": Execution,
}
ELSEWHERE = ("policies", "precision", "execution")  # whose defaults have a table of their own, or a page


def cells_by_key(section: str) -> dict[str, list[str]]:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", SECTIONS[section], re.MULTILINE)
    return {key: cells.split(" | ") for key, cells in rows}


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_keys_are_those_of_the_schema(section: str) -> None:
    assert list(cells_by_key(section)) == list(SCHEMA_OF_SECTION[section].model_fields)


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_every_row_has_kind_meaning_and_default(section: str) -> None:
    for key, cells in cells_by_key(section).items():
        assert len(cells) == 3, key
        assert all(cells), key


@pytest.mark.parametrize("section", SCHEMA_OF_SECTION)
def test_defaults_are_those_of_the_schema(section: str) -> None:
    cells = cells_by_key(section)
    for key, field in SCHEMA_OF_SECTION[section].model_fields.items():
        told = cells[key][-1]
        assert (told == "required") == field.is_required(), key
        if not field.is_required() and key not in ELSEWHERE:
            stated = re.search(r"default (.+)$", field.description or "")
            assert stated is not None, key
            assert told == stated[1], key
            default = str(field.default).lower() if isinstance(field.default, bool) else field.default
            assert field.default is None or told == str(default), key


@pytest.mark.parametrize("section", ["execution", "The file"])
def test_choices_are_those_of_the_schema(section: str) -> None:
    properties = SCHEMA_OF_SECTION[section].model_json_schema()["properties"]
    for key, (kind, *_) in cells_by_key(section).items():
        choices = properties[key].get("enum")
        if choices:
            assert re.findall(r"`(\w+)`", kind) == choices, key


def test_the_example_loads(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "x.yaml").write_text(example.replace("../", f"{ROOT}/"))
    experiment = load_experiment(tmp_path / "x.yaml")
    assert experiment.iterations == "auto"
    assert experiment.precision == spec.Precision(relative_half_width=0.02, maximum=50)
    assert [entry.label for entry in experiment.policies] == ["row_wise", "tiers"]


def test_the_readme_leads_to_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("(docs/experiments.md)") == 2
