"""docs/workloads.md: its examples load, and it tells of every key of the schema and every shipped file."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from simulator.workload import spec, spec_length, spec_popularity
from simulator.workload.load import load_workload

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCHEMAS = [
    model
    for module in (spec, spec_length, spec_popularity)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == module.__name__
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(tmp_path: Path, example: str) -> None:
    (tmp_path / "clicks.dat").write_text("1 2 3 0\n\n7 7\n")
    (tmp_path / "w.yaml").write_text(example)
    assert load_workload(tmp_path / "w.yaml").draw_batch(2, seed=0, iteration=0).lookups.sum() > 0


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_every_key_is_told_of(schema: type[BaseModel]) -> None:
    for key in schema.model_fields:
        assert re.search(rf"\b{key}\b", PAGE), f"{schema.__name__}.{key}"


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_every_key_says_what_it_means(schema: type[BaseModel]) -> None:
    for key, field in schema.model_fields.items():
        assert key == "kind" or field.description, f"{schema.__name__}.{key}"


def test_every_shipped_file_is_told_of() -> None:
    for path in (ROOT / "workloads").glob("*.yaml"):
        assert f"`{path.stem}`" in PAGE
