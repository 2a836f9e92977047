"""`owners_of`: which owner of a copy answers, with the luck of hot rows."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.sharding.layouts import shard_bounds
from simulator.traffic.owners import Owners, owners_of
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table

HEADS = 65_536


def table(rows: int, popularity: Uniform | ZipfMandelbrot, *, order: str = "shuffled") -> Table:
    return Table("items", rows, 4, popularity, fixed(10), order="sorted" if order == "sorted" else "shuffled")


def shares_row_by_row(of: Table, start: int, stop: int, owners: int, seed: int) -> list[float]:
    """Each row alone: where it lies, who owns that place, how often it is looked up."""
    block = -(-(stop - start) // owners)
    shares = [0.0] * owners
    for row in range(start, min(stop, of.popularity.rows)):
        position = int(of.positions(np.array([row]), start=start, stop=stop, seed=seed)[0])
        shares[position // block] += float(of.popularity.share_between(row, row + 1))
    return [share / sum(shares) for share in shares]


@pytest.mark.parametrize(
    ("rows", "owners", "expected"),
    [(10, 4, [3, 3, 3, 1]), (5, 4, [2, 2, 1, 0]), (1, 8, [1, 0, 0, 0, 0, 0, 0, 0])],
)
def test_rows_lie_in_contiguous_blocks(rows: int, owners: int, expected: list[int]) -> None:
    result = owners_of(table(rows, Uniform(rows)), 0, rows, owners, heads=HEADS, seed=1)
    assert result.rows.tolist() == expected
    assert np.allclose(result.shares, np.array(expected) / rows)


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
@pytest.mark.parametrize(("start", "stop"), [(0, 1000), (0, 7), (7, 300), (300, 1000), (0, 900)])
def test_a_table_of_few_rows_is_exact_row_by_row(order: str, start: int, stop: int) -> None:
    items = table(1000, ZipfMandelbrot(900, 1.15, 2.75), order=order)
    for owners in (1, 3, 8, 400):
        result = owners_of(items, start, stop, owners, heads=HEADS, seed=5)
        assert np.allclose(result.shares, shares_row_by_row(items, start, stop, owners, 5), atol=1e-14)


def test_an_owner_without_rows_gets_no_lookup() -> None:
    result = owners_of(table(5, ZipfMandelbrot(5, 1.0)), 0, 5, 4, heads=HEADS, seed=3)
    assert result.shares[3] == 0.0
    assert result.shares.sum() == pytest.approx(1.0)


def test_rows_that_nobody_looks_up_count_as_equal() -> None:
    result = owners_of(table(100, Uniform(10)), 10, 20, 4, heads=HEADS, seed=3)
    assert result.shares.tolist() == [0.3, 0.3, 0.3, 0.1]
    assert len(result.divide().piece_rows) == len(result.divide().block_rows) == 0


def test_the_hottest_row_of_the_design_loads_one_owner() -> None:
    """s = 1.15, q = 2.75, 4e6 touched rows: 4.5 % of the lookups, 5.7 fair shares of 128."""
    items = table(10_000_000, ZipfMandelbrot(4_000_000, 1.15, 2.75))
    result = owners_of(items, 0, items.rows, 128, heads=HEADS, seed=7)
    hottest = int(items.positions(np.array([0]), start=0, stop=items.rows, seed=7)[0])
    owner = hottest // -(-items.rows // 128)
    assert float(items.popularity.share_between(0, 1)) == pytest.approx(0.045, abs=0.0005)
    assert result.shares.argmax() == owner
    assert 5.7 < result.shares[owner] * 128 < 7.5


def test_luck_depends_on_the_seed_and_on_nothing_else() -> None:
    items = table(10_000_000, ZipfMandelbrot(4_000_000, 1.15, 2.75))
    one, again, other = (owners_of(items, 0, items.rows, 128, heads=HEADS, seed=seed) for seed in (1, 1, 2))
    assert (one.shares == again.shares).all()
    assert not np.allclose(one.shares, other.shares, rtol=0.01)


def test_the_tail_spreads_over_the_rows_that_heads_left_free() -> None:
    items = table(1_000, ZipfMandelbrot(1_000, 1.0))
    result = owners_of(items, 0, 1_000, 4, heads=100, seed=2)
    places = items.positions(np.arange(100), start=0, stop=1_000, seed=2) // 250
    free = 250 - np.bincount(places, minlength=4)
    assert np.allclose(result.divide().block_parts, free / 900)
    assert int(result.divide().block_rows.sum()) == 900
    tail = items.popularity.share_between(100, 1_000)
    heads = np.bincount(places, items.popularity.share_between(np.arange(100), np.arange(1, 101)), 4)
    assert np.allclose(result.shares, heads + tail * free / 900)


def test_a_sorted_table_is_cut_where_its_owners_end() -> None:
    """Ids by heat: the first owner has all the hot rows, exactly, however many rows there are."""
    items = table(10**12, ZipfMandelbrot(4 * 10**11, 1.0), order="sorted")
    result = owners_of(items, 0, items.rows, 16, heads=1_000, seed=1)
    bounds = shard_bounds(items.rows, 16)
    expected = items.popularity.share_between(bounds[:-1], bounds[1:])
    assert np.allclose(result.shares, expected, rtol=1e-9)
    assert result.shares[0] > 0.85
    assert (result.shares[7:] == 0.0).all()
    assert len(result.divide().block_rows) == 0


def test_row_counts_beyond_a_float_stay_exact() -> None:
    rows = 2**60 + 1
    result = owners_of(table(rows, ZipfMandelbrot(rows, 1.1)), 0, rows, 4, heads=1_000, seed=1)
    assert result.rows.tolist() == [2**58 + 1, 2**58 + 1, 2**58 + 1, 2**58 - 2]


@dataclass(frozen=True, eq=False)
class CountingTable(Table):
    """Counts the rows whose positions are asked for."""

    asked: list[int] = field(default_factory=list)

    def positions(self, rows: IntArray, *, start: int, stop: int, seed: int) -> IntArray:
        self.asked.append(len(rows))
        return super().positions(rows, start=start, stop=stop, seed=seed)


def pieces_and_blocks(result: Owners) -> int:
    return len(result.divide().piece_rows) + len(result.divide().block_rows)


def test_cost_grows_with_blocks_not_with_rows() -> None:
    results = []
    for rows in (10**6, 10**12):
        items = CountingTable("items", rows, 4, ZipfMandelbrot(rows, 1.0), fixed(10))
        results.append(owners_of(items, 0, rows, 128, heads=1_000, seed=1))
        assert items.asked == [1_000]
        assert sum(array.nbytes for array in (results[-1].rows, results[-1].shares)) == 2 * 8 * 128
    small, large = map(pieces_and_blocks, results)
    assert large < 2.2 * small < 4_000


@pytest.mark.parametrize(("before", "behind"), [(1, 5_000), (20, 1), (1, 1)])
def test_a_run_in_the_tail_may_have_its_piece_first_or_last(before: int, behind: int) -> None:
    """A block of the tail that the run cuts down to one row is a piece, wherever it stands."""
    items = table(100_000, ZipfMandelbrot(100_000, 1.0))
    edge = int(items.popularity.blocks(1_000).edges[1_100])
    division = owners_of(items, edge - before, edge + behind, 4, heads=1_000, seed=3).divide()
    whole = items.popularity.share_between(edge - before, edge + behind)
    rows = [row for row, alone in ((edge - 1, before == 1), (edge, behind == 1)) if alone]
    expected = [items.popularity.share_between(row, row + 1) / whole for row in rows]
    assert division.piece_rows.tolist() == [1] * len(rows)
    assert division.piece_shares == pytest.approx(expected, rel=0.01)
    assert int(division.block_rows.sum()) == before + behind - len(rows)
    assert division.block_shares.sum() == pytest.approx(1 - sum(expected), rel=0.01)


def test_pieces_and_blocks_add_up() -> None:
    items = table(10_000_000, ZipfMandelbrot(4_000_000, 1.15, 2.75))
    result = owners_of(items, 1_000, 3_000_000, 24, heads=HEADS, seed=7)
    division = result.divide()
    assert int(division.piece_rows.sum() + division.block_rows.sum()) == 3_000_000 - 1_000
    assert division.piece_shares.sum() + division.block_shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert result.shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(result.occupancy.piece_owner) >= 0).all()


def test_rows_alike_are_counted_together_and_none_is_lost() -> None:
    """Occupancy needs classes of rows; uniform rows are one class for each owner, skewed ones some hundred."""
    uniform = owners_of(table(50_000, Uniform(40_000)), 0, 50_000, 8, heads=HEADS, seed=1).occupancy
    assert uniform.piece_owner.tolist() == list(range(8))
    assert int(uniform.pieces.rows.sum()) == 40_000
    zipf = owners_of(
        table(10**9, ZipfMandelbrot(4 * 10**8, 1.15)), 0, 10**9, 8, heads=HEADS, seed=1
    ).occupancy
    assert int(zipf.pieces.rows.sum()) == HEADS
    assert zipf.blocks.rows.sum() == pytest.approx(4 * 10**8 - HEADS)
    assert len(zipf.pieces.rows) < 8 * 260
    assert zipf.blocks.rows.shape[1] < 260
    lookups = (zipf.pieces.rows * zipf.pieces.chance)[zipf.piece_owner == 3].sum()
    lookups += (zipf.blocks.rows * zipf.blocks.chance)[3].sum()
    assert lookups == pytest.approx(1.0)
