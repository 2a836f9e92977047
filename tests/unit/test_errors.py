"""Lines of errors: whole as long as a person reads them, cut in the middle beyond."""

import pickle
from pathlib import Path

import pytest

from simulator.config.document import load_document
from simulator.config.errors import ConfigError, Place, Problem
from simulator.errors import LONGEST_LINE, UserError, shortened


@pytest.mark.parametrize("length", [0, 1, LONGEST_LINE - 1, LONGEST_LINE])
def test_a_line_that_can_be_read_stays(length: int) -> None:
    assert shortened("x" * length) == "x" * length


@pytest.mark.parametrize("length", [LONGEST_LINE + 1, 10**6])
def test_a_longer_one_keeps_both_ends(length: int) -> None:
    line = shortened("file:1:1: found " + "x" * length + ", expected a mapping")
    assert len(line) <= LONGEST_LINE
    assert line.startswith("file:1:1: found x")
    assert line.endswith("x, expected a mapping")
    assert " ... " in line


def test_each_line_of_an_error_is_cut_by_itself() -> None:
    first, second, third = str(UserError("\n".join(["a", "b" * 10**6, "c"]))).split("\n")
    assert (first, third) == ("a", "c")
    assert len(second) <= LONGEST_LINE


def test_a_value_of_a_megabyte_does_not_flood_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("1 " * 500_000)
    with pytest.raises(ConfigError) as caught:
        load_document(tmp_path / "x.yaml")
    assert len(str(caught.value)) <= LONGEST_LINE
    assert str(caught.value).endswith(", expected a mapping of keys")


def test_a_key_of_a_megabyte_does_not_either() -> None:
    error = ConfigError("t.yaml", [Problem(("k" * 10**6,), "unknown key", Place(1, 1))])
    assert len(str(error)) <= LONGEST_LINE


def test_errors_travel_between_processes() -> None:
    assert str(pickle.loads(pickle.dumps(UserError("a\nb")))) == "a\nb"
