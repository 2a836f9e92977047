import os
from pathlib import Path

import pytest

from simulator.config.document import MOST_BYTES, Document, load_document, parse_document
from simulator.config.errors import ConfigError, Place
from simulator.errors import UserError


def parsed(text: str) -> Document:
    return parse_document(text, "f.yaml")


def refused(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parsed(text)
    return str(caught.value).splitlines()


def test_plain_data() -> None:
    document = parsed("a: 1\nb: [x, 2.5, {c: null}]\nd:\n  - e: 'no'\n    f: |\n      two\n      lines\n")
    assert document.data == {
        "a": 1,
        "b": ["x", 2.5, {"c": None}],
        "d": [{"e": "no", "f": "two\nlines\n"}],
    }


def test_places_of_values_and_keys() -> None:
    document = parsed("a: 1\nb:\n  c: [x, y]\n  d: {e: f}\n")
    assert document.place(("a",)) == Place(1, 4)
    assert document.place(("a",), of_key=True) == Place(1, 1)
    assert document.place(("b", "c", 1)) == Place(3, 10)
    assert document.place(("b", "d", "e")) == Place(4, 10)
    assert document.place(("b", "d", "e"), of_key=True) == Place(4, 7)
    assert document.place(("b", "missing")) == Place(3, 3)
    assert document.place(("nowhere", "at", "all")) == Place(1, 1)


def test_texts_are_as_written() -> None:
    document = parsed("a: 1e9\nb: off\nc: '0x1F'\n")
    assert [document.texts[(key,)] for key in "abc"] == ["1e9", "off", "0x1F"]


def test_quoted_scalars_are_text() -> None:
    assert parsed("a: '1'\nb: \"no\"\nc: 'null'\n").data == {"a": "1", "b": "no", "c": "null"}


def test_aliases_stand_for_their_anchors() -> None:
    document = parsed("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n")
    assert document.data == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": 1}]}
    assert document.place(("c", "b")) == Place(2, 4)


def test_an_anchor_may_be_set_anew() -> None:
    assert parsed("a: &x 1\nb: *x\nc: &x 2\nd: *x\n").data == {"a": 1, "b": 1, "c": 2, "d": 2}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["f.yaml:1:1: the file is empty"]),
        ("# only a comment\n", ["f.yaml:1:1: the file is empty"]),
        ("a: 1\na: 2\n", ["f.yaml:2:1: a: the same key twice, first in line 1"]),
        ("a: {b: 1, b: 2}\n", ["f.yaml:1:11: a.b: the same key twice, first in line 1"]),
        ("a: 1\n'a': 2\n", ["f.yaml:2:1: a: the same key twice, first in line 1"]),
        ("on: 1\n", ["f.yaml:1:1: on: got a boolean as a key: quote it"]),
        ("a:\n  no: 1\n", ["f.yaml:2:3: a.no: got a boolean as a key: quote it"]),
        ("1: a\n", ["f.yaml:1:1: 1: got a number as a key: quote it"]),
        ("~: a\n", ["f.yaml:1:1: ~: got nothing as a key: quote it"]),
        ("? [a]\n: b\n", ["f.yaml:1:3: a key must be text"]),
        ("x: &a 1\n*a : 2\n", ["f.yaml:2:1: a key must be text, not an alias"]),
        ("a: 1\n---\nb: 2\n", ["f.yaml:2:1: a second document begins here, one is allowed"]),
        (
            "a: !!python/object:os.system x\n",
            [
                "f.yaml:1:4: the tag tag:yaml.org,2002:python/object:os.system is refused: YAML is plain data here"
            ],
        ),
        (
            "a: !!int '3'\n",
            ["f.yaml:1:4: the tag tag:yaml.org,2002:int is refused: YAML is plain data here"],
        ),
        ("a: !x {b: 1}\n", ["f.yaml:1:4: the tag !x is refused: YAML is plain data here"]),
        ("a: *x\n", ["f.yaml:1:4: the alias *x has no finished anchor before it"]),
        ("a: &x [*x]\n", ["f.yaml:1:8: the alias *x has no finished anchor before it"]),
        (
            "a: &x {b: 1}\nc:\n  <<: *x\n",
            ["f.yaml:3:3: c.<<: merge keys are not supported: write the keys out"],
        ),
        ("a:\n\t- b\n", ["f.yaml:2:1: a tab in the indentation: use spaces"]),
        ("a:\n  b: 1\n \tc: 2\n", ["f.yaml:3:2: a tab in the indentation: use spaces"]),
        ("a: " + "9" * 500 + "\n", ["f.yaml:1:4: a number of 500 characters is too long"]),
        (
            "a: 1\na: 2\nb: !x 3\non: 4\n",
            [
                "f.yaml:2:1: a: the same key twice, first in line 1",
                "f.yaml:3:4: the tag !x is refused: YAML is plain data here",
                "f.yaml:4:1: on: got a boolean as a key: quote it",
            ],
        ),
    ],
)
def test_refusals(text: str, lines: list[str]) -> None:
    assert refused(text) == lines


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\n", "f.yaml:2:1: not YAML: "),
        ("a: {b: 1\nc: 2\n", "f.yaml:2:2: not YAML: "),
        ("a: 'open\n", "f.yaml:2:1: not YAML: "),
        ("a: b: c\n", "f.yaml:1:5: not YAML: "),
        ("a: @x\n", "f.yaml:1:4: not YAML: "),
        ("a: 1\n b: 2\n", "f.yaml:2:3: not YAML: "),
        ("a: \x00\n", "f.yaml:1:4: not YAML: "),
        ("a: 1\nb: \x07\n", "f.yaml:2:4: not YAML: "),
    ],
)
def test_what_is_no_yaml_ends_the_reading(text: str, place: str) -> None:
    (line,) = refused(text)
    assert line.startswith(place)


def test_values_of_a_repeated_key_are_dropped_whole() -> None:
    text = "a: {b: 1}\na: {b: 2, c: [3]}\n"
    assert refused(text) == ["f.yaml:2:1: a: the same key twice, first in line 1"]


def test_depth_is_bounded() -> None:
    assert parsed("a: " + "[" * 49 + "]" * 49).data
    assert refused("a: " + "[" * 50 + "]" * 50) == ["f.yaml:1:53: nested deeper than 50 levels"]


def test_depth_is_bounded_through_aliases() -> None:
    lines = ["a0: &a0 [1]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 60)]
    (line,) = refused("\n".join(lines))
    assert line.endswith("nested deeper than 50 levels, aliases written out")


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (line,) = refused("\n".join(lines))
    assert line.endswith("more than 100,000 values, aliases written out")


def test_too_many_values_are_refused() -> None:
    (line,) = refused("a: [" + "1," * 100_001 + "]")
    assert "more than 100,000 values" in line


def write(folder: Path, content: bytes) -> Path:
    path = folder / "f.yaml"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa: 1\nb: 2\n",
        b"a: 1\r\nb: 2\r\n",
        b"a: 1\rb: 2\r",
        b"a: 1\nb: 2",
        b"--- \na: 1\nb: 2\n...\n",
    ],
)
def test_byte_order_marks_and_line_ends_work(tmp_path: Path, content: bytes) -> None:
    assert load_document(write(tmp_path, content)).data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"- a\n", ":1:1: found a list, expected a mapping of keys"),
        (b"3\n", ":1:1: found only 3, expected a mapping of keys"),
        (b"~\n", ":1:1: found only None, expected a mapping of keys"),
        (b"a: 1\nb: caf\xe9\n", ":2:7: byte 0xe9 is not UTF-8: save the file as UTF-8"),
        ("a: 1\n".encode("utf-16"), ":1:1: byte 0xff is not UTF-8: save the file as UTF-8"),
        (b"\x80", ":1:1: byte 0x80 is not UTF-8: save the file as UTF-8"),
    ],
)
def test_files_that_hold_something_else(tmp_path: Path, content: bytes, said: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        load_document(path)
    assert str(caught.value) == f"{path}{said}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    large = write(tmp_path, b" " * (MOST_BYTES + 1))
    for path, said in (
        (tmp_path / "none.yaml", f"{tmp_path}/none.yaml: no such file or directory"),
        (tmp_path, f"{tmp_path}: is a folder, expected a file"),
        (fifo, f"{fifo}: is not a regular file"),
        (large, f"{large}: 4.19 MB are too much for a YAML file, at most 4.19 MB"),
        (Path("a\0b"), "'a\\x00b' cannot be the name of a file"),
        (tmp_path / ("x" * 300), f"{tmp_path}/{'x' * 300}: file name too long"),
    ):
        with pytest.raises(UserError) as caught:
            load_document(path)
        assert str(caught.value) == said


def test_the_python_parser_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    text = "a: 1e9\nb: [x, {c: no}]\nd: 'q'\ne: &x 3\nf: *x\n"
    fast = parsed(text)
    monkeypatch.setattr("simulator.config.document._Loader", yaml.SafeLoader)
    slow = parsed(text)
    assert (fast.data, fast.places, fast.texts) == (slow.data, slow.places, slow.texts)


def test_a_report_has_an_end() -> None:
    lines = refused("a: 1\n" * 5000)
    assert len(lines) == 101
    assert lines[0] == "f.yaml:2:1: a: the same key twice, first in line 1"
    assert lines[-1] == "f.yaml: and more problems"


def test_control_characters_cannot_reach_the_terminal() -> None:
    assert refused('"a\\e[31m\\n": 1\n"a\\e[31m\\n": 2\n') == [
        "f.yaml:2:1: a\\x1b[31m\\n: the same key twice, first in line 1"
    ]
