"""Every shipped file with bytes changed, and files of nonsense under real keys: each is read or refused in lines."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.config.load import json_schema
from simulator.errors import UserError
from simulator.validate import MODELS, validate_file

ROOT = Path(__file__).parents[2]
KINDS = {"topologies": "topology", "workloads": "workload", "experiments": "experiment"}
FOLDERS = tuple(KINDS)
SHIPPED = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.yaml"))]
PIECES = [
    b"\t",
    b"\n",
    b": ",
    b"- ",
    b"&a ",
    b"*a",
    b"!!x ",
    b"{",
    b"]",
    b"'",
    b"\xff",
    b"\0",
    b"1e9",
    b"no",
    b"-",
    b"~",
]
READ = re.compile(r"(topology|workload|experiment|sweep|prices)\b.*")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which the files that experiments name are there."""
    folder = tmp_path_factory.mktemp("shipped")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("figures"))
    return folder


def read_or_refused(path: Path) -> bool:
    """Whether a file was read, or refused in lines of text. Anything but UserError passes through."""
    try:
        return READ.fullmatch(validate_file(path)) is not None
    except UserError as error:
        return all(line.strip() and line.isprintable() for line in str(error).splitlines())


@settings(deadline=None, max_examples=150)
@given(file=st.sampled_from(SHIPPED), data=st.data())
def test_shipped_files_with_bytes_changed(copies: Path, file: Path, data: st.DataObject) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content)))
        cut = data.draw(st.integers(0, 4))
        content[place : place + cut] = data.draw(st.binary(max_size=3) | st.sampled_from(PIECES))
    path = copies / file.parent.name / "changed.yaml"
    path.write_bytes(bytes(content))
    assert read_or_refused(path)


@settings(deadline=None, max_examples=60)
@given(file=st.sampled_from(SHIPPED), data=st.data())
def test_shipped_files_cut_short(copies: Path, file: Path, data: st.DataObject) -> None:
    content = file.read_bytes()
    path = copies / file.parent.name / "cut.yaml"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    assert read_or_refused(path)


@settings(deadline=None, max_examples=60)
@given(file=st.sampled_from(SHIPPED), data=st.data())
def test_shipped_files_with_lines_dropped_or_doubled(copies: Path, file: Path, data: st.DataObject) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place : place + 1] = lines[place : place + 1] * data.draw(st.sampled_from([0, 2, 3]))
    path = copies / file.parent.name / "lines.yaml"
    path.write_bytes(b"".join(lines))
    assert read_or_refused(path)


def keys_of(kind: str) -> list[str]:
    """Every key of every mapping that a kind of file knows."""
    schema = json_schema(MODELS[kind])
    models = [schema, *schema.get("$defs", {}).values()]
    return sorted({key for model in models for key in model.get("properties", {})})


KEYS = {kind: keys_of(kind) for kind in ("topology", "workload", "experiment")}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 20),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["zipf", "uniform", "fixed", "25 GB/s", "5 ms", "row_wise", "flexshard", "auto", "rank/0", "x.csv"]
    ),
)


def nonsense(keys: list[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(keys), inner, min_size=1, max_size=6)
        ),
        max_leaves=20,
    )


@settings(deadline=None, max_examples=30)
@given(kind=st.sampled_from(sorted(KEYS)), data=st.data())
def test_nonsense_under_real_keys(copies: Path, kind: str, data: st.DataObject) -> None:
    keys = KEYS[kind]
    model = MODELS[kind]
    content = data.draw(
        st.fixed_dictionaries({}, optional={key: nonsense(keys) for key in model.model_fields})
    )
    path = copies / "nonsense.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert read_or_refused(path)


@settings(deadline=None, max_examples=50)
@given(file=st.sampled_from(SHIPPED), data=st.data())
def test_nonsense_in_one_place_of_a_shipped_file(copies: Path, file: Path, data: st.DataObject) -> None:
    content = yaml.safe_load(file.read_bytes())
    owner, key = data.draw(st.sampled_from(places(content)))
    owner[key] = data.draw(nonsense(KEYS[KINDS[file.parent.name]]))
    path = copies / file.parent.name / "nonsense.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert read_or_refused(path)


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every mapping and list below `tree`, with each of its keys or indices."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place for key, value in pairs for place in [(tree, key), *places(value)]]
