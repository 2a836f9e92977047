from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from simulator.config.errors import ConfigError, Finding, Place, Problem, dotted, refuse
from simulator.config.explain import known_keys
from simulator.config.load import json_schema, load_model, load_value
from simulator.config.model import StrictModel
from simulator.config.types import Bandwidth, PositiveCount, Share, Text


class Zipf(StrictModel):
    kind: Literal["zipf"]
    s: float = Field(1.0, ge=0)


class Uniform(StrictModel):
    kind: Literal["uniform"] = "uniform"


class Table(StrictModel):
    name: Text = Field(description="what results call it; required")
    rows: PositiveCount
    share: Share = 1.0
    popularity: Annotated[Zipf | Uniform, Field(discriminator="kind")] = Uniform()
    dtype: Literal["fp16", "fp32"] = "fp16"


class Model(StrictModel):
    name: Text
    link: Bandwidth = 1.0
    tables: tuple[Table, ...] = ()
    policy: str | Table = "x"
    limits: dict[str, int] = Field(default_factory=dict)
    until: float | None = Field(None, alias="from", gt=0)
    flag: bool = False
    steps: Annotated[int, Field(ge=1)] | Literal["auto"] = 8
    short: list[int] = Field(default_factory=list, max_length=2)

    @model_validator(mode="after")
    def check(self) -> "Model":
        names = [table.name for table in self.tables]
        found = [
            Finding(("tables", number, "name"), f"{name!r} stands twice")
            for number, name in enumerate(names)
            if name in names[:number]
        ]
        if found:
            refuse(found)
        return self


def lines(folder: Path, text: str) -> list[str]:
    path = folder / "m.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_model(path, Model)
    assert caught.value.source == str(path)
    return [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]


def test_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "name: a\nlink: 25Gbps\ntables: [{name: t, rows: 1e9, popularity: {kind: zipf, s: 1.15}}]\nfrom: 2\n"
    )
    model = load_model(path, Model)
    assert model.link == 3.125e9
    assert model.tables == (Table(name="t", rows=10**9, popularity=Zipf(kind="zipf", s=1.15)),)
    assert model.until == 2.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: no\n", ["1:7: name: got a boolean (no): quote it"]),
        ("name: 0o17\n", ["1:7: name: got a number (0o17): quote it"]),
        ("name: [a]\n", ["1:7: name: found a list of 1, allowed: text"]),
        ("name:\n", ["1:6: name: found nothing, allowed: text"]),
        ("name: ''\n", ["1:7: name: found '': at least 1 character is needed"]),
        (
            "name: " + "x" * 2001 + "\n",
            ["1:7: name: found '" + "x" * 56 + "...: at most 2000 characters are allowed"],
        ),
        ("link: 3 GB/s\n", ["1:1: name: is missing"]),
        (
            "nmae: a\n",
            [
                "1:1: name: is missing",
                "1:1: nmae: unknown key, allowed: name, link, tables, policy, limits, from, flag, steps, short, "
                "did you mean 'name'?",
            ],
        ),
        (
            "name: a\nqqq: {b: 1}\n",
            ["2:1: qqq: unknown key, allowed: name, link, tables, policy, limits, from, flag, steps, short"],
        ),
        (
            "name: a\nuntil: 3\n",
            [
                "2:1: until: unknown key, allowed: name, link, tables, policy, limits, from, flag, steps, short"
            ],
        ),
        ("name: a\nfrom: 0\n", ["2:7: from: found 0, allowed: more than 0"]),
        ("name: a\nfrom: .nan\n", ["2:7: from: found .nan, allowed: a finite number"]),
        ("name: a\nfrom: x\n", ["2:7: from: found 'x', allowed: a number"]),
        ("name: a\nflag: 1\n", ["2:7: flag: found 1, allowed: true or false"]),
        (
            "name: a\nlink: 400\n",
            ["2:7: link: the bare number 400 has no unit: write '400 Gbit/s' or '400 GB/s'"],
        ),
        ("name: a\ntables: 3\n", ["2:9: tables: found 3, allowed: a list"]),
        (
            "name: a\ntables: [3]\n",
            [
                "2:10: tables[0]: found 3, allowed: a mapping with the keys name, rows, share, popularity, dtype"
            ],
        ),
        (
            "name: a\ntables:\n  - rows: 1.5\n    share: 2\n",
            [
                "3:5: tables[0].name: is missing: what results call it",
                "3:11: tables[0].rows: 1.5 is not a whole number",
                "4:12: tables[0].share: found 2: must be at most 1",
            ],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, dtype: fp61}]\n",
            ["2:36: tables[0].dtype: found 'fp61', allowed: 'fp16' or 'fp32', did you mean 'fp16'?"],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, dtype: on}]\n",
            ["2:36: tables[0].dtype: found on (a boolean: quote it), allowed: 'fp16' or 'fp32'"],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, popularity: {kind: zpif}}]\n",
            [
                "2:48: tables[0].popularity.kind: found 'zpif', allowed: 'zipf', 'uniform', did you mean 'zipf'?"
            ],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, popularity: {s: 1}}]\n",
            ["2:41: tables[0].popularity.kind: is missing, allowed: 'zipf', 'uniform'"],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, popularity: zipf}]\n",
            ["2:41: tables[0].popularity: found 'zipf', allowed: a mapping with the keys kind, s"],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1, popularity: {kind: zipf, s: -1, q: 2}}]\n",
            [
                "2:57: tables[0].popularity.s: found -1, allowed: at least 0",
                "2:61: tables[0].popularity.q: unknown key, allowed: kind, s",
            ],
        ),
        (
            "name: a\npolicy: {rows: 1}\n",
            ["2:9: policy.name: is missing: what results call it"],
        ),
        (
            "name: a\npolicy: [x]\n",
            [
                "2:9: policy: found a list of 1, allowed: text or a mapping with the keys name, rows, share, "
                "popularity, dtype"
            ],
        ),
        ("name: a\nsteps: 1.5\n", ["2:8: steps: found 1.5, allowed: a whole number or 'auto'"]),
        ("name: a\nsteps: -1\n", ["2:8: steps: found -1, allowed: at least 1 or 'auto'"]),
        ("name: a\nlimits: {b: x}\n", ["2:13: limits.b: found 'x', allowed: a whole number"]),
        ("name: a\nlimits: [1]\n", ["2:9: limits: found a list of 1, allowed: a mapping of keys"]),
        (
            "name: a\nshort: [1, 2, 3]\n",
            ["2:8: short: found a list of 3: at most 2 entries are allowed"],
        ),
        (
            "name: a\ntables: [{name: t, rows: 1}, {name: t, rows: 2}, {name: t, rows: 3}]\n",
            ["2:37: tables[1].name: 't' stands twice", "2:57: tables[2].name: 't' stands twice"],
        ),
    ],
)
def test_refusals(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert lines(tmp_path, text) == expected


def test_values_of_arguments() -> None:
    assert load_value("{name: t, rows: 5}", Table, source="--table") == Table(name="t", rows=5)
    assert load_value("3.0", int, source="--n") == 3
    with pytest.raises(ConfigError) as caught:
        load_value("{name: t, rows: 5, dtpye: fp16}", Table, source="--table")
    assert str(caught.value) == (
        "--table:1:20: dtpye: unknown key, allowed: name, rows, share, popularity, dtype, did you mean 'dtype'?"
    )


def test_schema_of_a_file() -> None:
    schema = json_schema(Model)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["properties"]) == {
        "name",
        "link",
        "tables",
        "policy",
        "limits",
        "from",
        "flag",
        "steps",
        "short",
    }
    assert schema["additionalProperties"] is False
    assert schema["properties"]["link"]["examples"] == ["400 Gbit/s"]
    assert schema["$defs"]["Table"]["properties"]["name"]["description"] == "what results call it; required"


def test_known_keys_follow_the_schema() -> None:
    assert known_keys(Model, ("tables", 0, "popularity", "zipf")) == ["kind", "s"]
    assert known_keys(Model, ("tables", 0, "popularity", "uniform")) == ["kind"]
    assert known_keys(Model, ("tables", 0, "nowhere")) == []
    assert known_keys(Model, ("name",)) == []


def test_problems_stand_in_the_order_of_the_file() -> None:
    problems = [Problem(("b",), "second", Place(3, 1)), Problem(("a", 0), "first", Place(2, 9))]
    error = ConfigError("f", problems)
    assert str(error) == "f:2:9: a[0]: first\nf:3:1: b: second"
    assert [problem.text for problem in error.problems] == ["first", "second"]


def test_problems_without_a_place() -> None:
    assert Problem(("a",), "is wrong").line("") == "a: is wrong"
    assert Problem((), "is wrong").line("f") == "f: is wrong"


def test_dotted() -> None:
    assert dotted(()) == ""
    assert dotted(("a", 0, "b", "c", 2)) == "a[0].b.c[2]"
    assert dotted((0, "a")) == "[0].a"


def test_only_so_many_problems_are_told(tmp_path: Path) -> None:
    told = lines(tmp_path, "name: a\n" + "".join(f"k{number}: 1\n" for number in range(2000)))
    assert len(told) == 101
    assert told[0].startswith("2:1: k0: unknown key")
    assert told[-1] == " and more problems"
