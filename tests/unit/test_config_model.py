from typing import Annotated, Any, Literal

import pytest
from pydantic import ValidationError

from simulator.config.model import StrictModel, adapted, alternatives
from simulator.config.types import (
    Bandwidth,
    Bytes,
    BytesOrZero,
    Count,
    Duration,
    NonNegative,
    Positive,
    PositiveCount,
    PositiveDuration,
    PositiveShare,
    Ratio,
    Share,
    Text,
    parse_count,
    parse_number,
)


class Inner(StrictModel):
    number: int = 0


class Model(StrictModel):
    count: Count = 0
    positive_count: PositiveCount = 1
    share: Share = 0.0
    positive_share: PositiveShare = 1.0
    positive: Positive = 1.0
    non_negative: NonNegative = 0.0
    bandwidth: Bandwidth = 1.0
    size: Bytes = 1
    size_or_zero: BytesOrZero = 0
    duration: Duration = 0.0
    positive_duration: PositiveDuration = 1.0
    ratio: Ratio = 1.0
    text: Text = "x"
    switch: bool = False
    choice: Literal["none", "rank"] = "rank"
    state: Literal["off", "on"] | None = "on"
    whole: int = 0
    real: float = 0.0
    many: tuple[int, ...] = ()
    nested: tuple[tuple[Annotated[int, "x"], ...], ...] = ()
    inner: Inner = Inner()
    inners: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("count", 0, 0),
        ("count", 1e9, 10**9),
        ("count", 2**62, 2**62),
        ("positive_count", 3.0, 3),
        ("share", 1, 1.0),
        ("share", 0.25, 0.25),
        ("positive_share", 1e-9, 1e-9),
        ("positive", 7, 7.0),
        ("non_negative", 0, 0.0),
        ("bandwidth", "400 Gbit/s", 50e9),
        ("size", "80 GB", 80 * 10**9),
        ("size_or_zero", "0 B", 0),
        ("duration", "0 s", 0.0),
        ("positive_duration", "1 ms", 1e-3),
        ("ratio", "7:1", 7.0),
        ("ratio", 7, 7.0),
        ("text", "no", "no"),
        ("switch", True, True),
        ("choice", False, "none"),
        ("choice", "none", "none"),
        ("state", False, "off"),
        ("state", True, "on"),
        ("state", None, None),
        ("whole", 3.0, 3),
        ("real", 3, 3.0),
        ("many", [1, 2.0], (1, 2)),
        ("nested", [[1], [2, 3]], ((1,), (2, 3))),
        ("inner", {"number": 2.0}, Inner(number=2)),
        ("inners", [{"number": 1}, {}], (Inner(number=1), Inner())),
    ],
)
def test_accepted(key: str, value: object, expected: object) -> None:
    got = getattr(Model.model_validate({key: value}), key)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("count", 1.5, "1.5 is not a whole number"),
        ("count", -1, "must be at least 0"),
        ("count", "7", "must be a whole number"),
        ("count", True, "must be a whole number"),
        ("count", None, "must be a whole number"),
        ("count", "8,000,000", "'8,000,000' has commas: write 8_000_000"),
        ("count", 1e300, "1e+300 is out of range: at most 2^62"),
        ("count", float("inf"), "inf is not a whole number"),
        ("count", float("nan"), "nan is not a whole number"),
        ("positive_count", 0, "must be at least 1"),
        ("share", 1.01, "must be at most 1"),
        ("share", -0.01, "must be at least 0"),
        ("share", float("nan"), "must be finite"),
        ("share", "0.5", "must be a number"),
        ("share", False, "must be a number"),
        ("positive_share", 0, "must be greater than 0"),
        ("positive", 0, "must be greater than 0"),
        ("positive", float("inf"), "must be finite"),
        ("non_negative", -1e-9, "must be at least 0"),
        ("non_negative", 10**400, "is out of range"),
        ("bandwidth", 25, "has no unit"),
        ("bandwidth", "0 GB/s", "is zero"),
        ("size", "0 GB", "is zero"),
        ("duration", "-1 s", "is negative"),
        ("positive_duration", "0 s", "is zero"),
        ("ratio", True, "is not a quantity"),
        ("text", "", "at least 1 character"),
        ("text", False, "valid string"),
        ("switch", "yes", "valid boolean"),
        ("switch", 1, "valid boolean"),
        ("choice", True, "Input should be 'none' or 'rank'"),
        ("choice", "off", "Input should be 'none' or 'rank'"),
        ("whole", 3.5, "valid integer"),
        ("whole", True, "valid integer"),
        ("whole", "3", "valid integer"),
        ("real", float("nan"), "finite number"),
        ("real", float("inf"), "finite number"),
        ("many", 3, "valid tuple"),
        ("many", {"a": 1}, "valid tuple"),
        ("inner", [], "valid dictionary"),
    ],
)
def test_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({key: value})
    assert said in str(caught.value)
    assert {error["loc"][0] for error in caught.value.errors()} == {key}


def test_unknown_keys_are_refused_and_models_are_frozen() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Model.model_validate({"cuont": 1})
    with pytest.raises(ValidationError, match="frozen"):
        Model().count = 3


def test_a_model_is_taken_as_it_is() -> None:
    inner = Inner(number=3)
    assert Model.model_validate({"inner": inner}).inner == inner
    assert Model(inner=inner, inners=(inner,)).inners == (inner,)


def test_dumped_as_json_it_reads_back() -> None:
    model = Model.model_validate(
        {"bandwidth": "400 Gbit/s", "size": "40 GiB", "duration": "0.0045 us", "ratio": "7:1", "many": [1, 2]}
    )
    dumped = model.model_dump(mode="json")
    assert dumped["bandwidth"] == "50 GB/s"
    assert dumped["size"] == "40 GiB"
    assert dumped["duration"] == "4.5 ns"
    assert dumped["many"] == [1, 2]
    assert Model.model_validate(dumped | {"size_or_zero": "0 B"}) == model


def test_alternatives_of_an_annotation() -> None:
    assert alternatives(int) == [int]
    assert alternatives(int | None) == [int, type(None)]
    assert alternatives(Annotated[Annotated[int, 1] | str, 2]) == [int, str]


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        (3.0, int | float, 3.0),
        (3.0, int | None, 3),
        (3.5, int, 3.5),
        ([1], list[int], [1]),
        ([1], tuple[int, ...] | int, (1,)),
        (True, Literal["x"], True),
        (True, bool | Literal["on"], True),
        (False, Literal["none"] | int, "none"),
        ("x", int, "x"),
    ],
)
def test_adapted(value: Any, annotation: Any, expected: Any) -> None:
    got = adapted(value, annotation)
    assert got == expected
    assert type(got) is type(expected)


def test_parsers_of_bare_numbers() -> None:
    assert parse_count(-5) == -5
    assert parse_number(-5) == -5.0
