"""`permute` is a bijection of any number of rows, named by its key."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.workload.shuffle import MAX_ROWS, permute

KEYS = st.integers(0, 2**64 - 1)


@settings(deadline=None)  # the first call loads the compiler
@given(rows=st.integers(1, 5_000), key=KEYS)
def test_every_row_is_hit_once(rows: int, key: int) -> None:
    assert np.array_equal(np.sort(permute(rows, np.arange(rows), key=key)), np.arange(rows))


@settings(deadline=None)  # the first call loads the compiler
@given(rows=st.integers(2, MAX_ROWS), key=KEYS, data=st.data())
def test_different_rows_of_huge_tables_stay_different_and_inside(
    rows: int, key: int, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=50, unique=True))
    moved = permute(rows, np.array(chosen, np.int64), key=key)
    assert len(set(moved.tolist())) == len(chosen)
    assert moved.min() >= 0
    assert int(moved.max()) < rows


@settings(deadline=None)  # the first call loads the compiler
@given(rows=st.integers(1, 10**12), key=KEYS, position=st.integers(0, 10**12))
def test_a_row_goes_where_it_goes_whatever_is_asked_with_it(rows: int, key: int, position: int) -> None:
    position %= rows
    alone = permute(rows, np.array([position]), key=key)
    together = permute(rows, np.array([[0, position], [rows - 1, position]]), key=key)
    assert together.shape == (2, 2)
    assert together[0, 1] == together[1, 1] == alone[0]


@pytest.mark.parametrize("rows", [0, MAX_ROWS + 1])
def test_a_number_of_rows_it_cannot_permute_is_refused(rows: int) -> None:
    with pytest.raises(ValueError, match=r"1 to 2\^62 rows"):
        permute(rows, np.array([0]), key=1)


@pytest.mark.parametrize(
    ("rows", "key", "places"),
    [
        (10, 0, {0: 0, 1: 4, 3: 7, 5: 2, 7: 6, 9: 9}),
        (7, -4, {0: 5, 1: 0, 2: 3, 3: 6, 4: 4, 6: 2}),
        (10**7, 12345, {0: 2970883, 1999999: 3462675, 9999999: 3223292}),
        (2**62, 2**80 + 5, {0: 770270898035613655, 922337203685477632: 869011522955000305}),
    ],
)
def test_where_rows_go_never_changes(rows: int, key: int, places: dict[int, int]) -> None:
    """Results made with an earlier version depend on it; the values are those of the first, in plain numpy."""
    moved = permute(rows, np.array(list(places)), key=key)
    assert moved.tolist() == list(places.values())
