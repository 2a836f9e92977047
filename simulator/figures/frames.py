"""Questions that drawing functions ask of a dataset's frame, answered with plain numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.arrays import FloatArray

if TYPE_CHECKING:
    from pandas import DataFrame


def chosen(frame: "DataFrame", **wanted: Any) -> "DataFrame":
    """The rows whose columns have these values."""
    keep = np.ones(len(frame), dtype=np.bool_)
    for column, value in wanted.items():
        keep &= (frame[column] == value).to_numpy(np.bool_)
    return frame[keep]


def names(frame: "DataFrame", column: str) -> list[str]:
    """The different texts of a column, in the order in which they first stand."""
    return [str(value) for value in frame[column].unique()]


def levels(frame: "DataFrame", column: str) -> FloatArray:
    """The different numbers of a column, ascending."""
    return np.unique(numbers(frame, column))


def numbers(frame: "DataFrame", column: str) -> FloatArray:
    """[rows] a column; NaN where there is nothing."""
    return frame[column].to_numpy(np.float64)


def mean(frame: "DataFrame", column: str, **wanted: Any) -> float:
    """Mean of a column over the rows with these values, which are seeds of one point."""
    return float(np.mean(numbers(chosen(frame, **wanted), column)))


def series(frame: "DataFrame", column: str, over: str, **wanted: Any) -> FloatArray:
    """[levels] the mean of a column at each number of `over`; NaN where there is none."""
    rows = chosen(frame, **wanted)
    own, value = numbers(rows, over), numbers(rows, column)
    return np.array(
        [np.mean(value[own == level]) if (own == level).any() else np.nan for level in levels(frame, over)]
    )
