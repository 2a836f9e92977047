"""Each kind of popularity, at its ends and where kinds meet."""

import tracemalloc

import numpy as np
import pytest

from simulator.workload.popularity.heavy import HeavyHitters
from simulator.workload.popularity.runs import Runs, from_counts, in_order
from simulator.workload.popularity.shares import Shares, block_edges
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot

KINDS: list[Shares] = [
    Uniform(1000),
    ZipfMandelbrot(1000, 0.0),
    ZipfMandelbrot(1000, 1.0, 2.75),
    ZipfMandelbrot(1, 1.2),
    HeavyHitters((0.2, 0.1), ZipfMandelbrot(998, 1.0)),
    from_counts(np.arange(1, 1001)),
    from_counts(np.ones(5, np.int64)),
]


@pytest.mark.parametrize("popularity", KINDS, ids=repr)
class TestEveryKind:
    def test_cumulative_share_is_zero_at_zero_and_one_from_the_last_row_on(self, popularity: Shares) -> None:
        rows = popularity.rows
        assert popularity.cumulative_share([0, rows, rows + 1, 10 * rows]).tolist() == [0.0, 1.0, 1.0, 1.0]

    def test_cumulative_share_keeps_the_shape_it_is_asked_in(self, popularity: Shares) -> None:
        assert popularity.cumulative_share(1).shape == ()
        assert popularity.cumulative_share([[1], [2]]).shape == (2, 1)

    def test_hotter_rows_come_first(self, popularity: Shares) -> None:
        rows = np.arange(popularity.rows)
        single = popularity.share_between(rows, rows + 1)
        assert (np.diff(single) <= 1e-15).all()
        assert single.sum() == pytest.approx(1.0, rel=1e-12)

    @pytest.mark.parametrize("heads", [0, 1, 7, 1_000, 65_536])
    def test_blocks_cover_all_rows_once(self, popularity: Shares, heads: int) -> None:
        blocks = popularity.blocks(heads)
        assert blocks.edges[0] == 0
        assert blocks.edges[-1] == popularity.rows
        assert (blocks.rows > 0).all()
        assert blocks.shares.sum() == pytest.approx(1.0, rel=1e-14)
        assert blocks.shares == pytest.approx(popularity.share_between(blocks.edges[:-1], blocks.edges[1:]))

    def test_what_lies_outside_the_rows_has_no_share(self, popularity: Shares) -> None:
        rows = popularity.rows
        assert popularity.share_between([rows, rows, 0], [rows, rows + 9, 0]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("rows", [10**6, 10**12, 2**60 + 1])
def test_huge_tables_cost_what_small_ones_cost(rows: int) -> None:
    ZipfMandelbrot(rows, 1.0).blocks(heads=1024)  # whatever a first call keeps
    tracemalloc.start()
    blocks = ZipfMandelbrot(rows, 1.1).blocks(heads=1024)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert blocks.edges[-1] == rows
    assert len(blocks.shares) < 4_000
    assert peak < 4_000_000


def test_block_edges_are_exact_integers_beyond_the_floats() -> None:
    edges = block_edges(2**60 + 1, 10)
    assert int(edges[-1]) == 2**60 + 1
    assert edges.dtype == np.int64


@pytest.mark.parametrize("s", [50.0, 400.0, 1000.0])
def test_extreme_skew_stays_finite(s: float) -> None:
    law = ZipfMandelbrot(10**6, s, 2.75)
    assert np.isfinite(law.blocks(100).shares).all()
    assert law.cumulative_share(100) == pytest.approx(1.0)


def test_zipf_keeps_its_blocks() -> None:
    law = ZipfMandelbrot(10**6, 1.0)
    assert law.blocks(10) is law.blocks(10)
    assert law.blocks(10) is not law.blocks(11)


class TestHeavyHitters:
    def test_hitters_hold_their_own_shares_and_the_tail_the_rest(self) -> None:
        tail = ZipfMandelbrot(97, 1.0)
        popularity = HeavyHitters((0.3, 0.2, 0.1), tail)
        assert popularity.rows == 100
        assert popularity.cumulative_share([1, 2]) == pytest.approx([0.3, 0.5])
        assert popularity.share_between(2, 3) == pytest.approx(max(0.1, 0.4 * tail.row_share(0)))

    def test_a_weak_hitter_stands_behind_hotter_rows_of_the_tail(self) -> None:
        """Tail of four rows alike, 0.225 each; the hitter of 0.1 comes last."""
        popularity = HeavyHitters((0.1,), ZipfMandelbrot(4, 0.0))
        rows = np.arange(5)
        assert popularity.share_between(rows, rows + 1) == pytest.approx([0.225, 0.225, 0.225, 0.225, 0.1])

    def test_it_is_the_sorted_union_of_both(self) -> None:
        hitters, tail = (0.05, 0.03, 0.004), ZipfMandelbrot(500, 0.8, 1.0)
        rows = np.arange(500)
        union = np.concatenate([hitters, (1 - sum(hitters)) * tail.share_between(rows, rows + 1)])
        expected = np.cumsum(-np.sort(-union))
        popularity = HeavyHitters(hitters, tail)
        assert popularity.cumulative_share(np.arange(1, 504)) == pytest.approx(expected, rel=1e-12)


class TestRuns:
    def test_equal_counts_are_one_run(self) -> None:
        popularity = from_counts(np.array([1, 5, 1, 2, 1]))
        assert popularity.edges.tolist() == [0, 1, 2, 5]
        assert popularity.shares == pytest.approx([0.5, 0.2, 0.3])

    def test_order_is_kept_where_it_is_given(self) -> None:
        popularity = in_order(np.array([1, 1, 0, 6]))
        assert popularity.edges.tolist() == [0, 2, 3, 4]
        assert popularity.cumulative_share([1, 2, 3, 4]) == pytest.approx([0.125, 0.25, 0.25, 1.0])

    def test_a_hot_row_far_behind_is_a_block_of_its_own(self) -> None:
        counts = np.ones(10_000, np.int64)
        counts[7_777] = 5_000
        blocks = in_order(counts).blocks(heads=20)
        at = int(np.searchsorted(blocks.edges, 7_777))
        assert blocks.edges[at : at + 2].tolist() == [7_777, 7_778]
        assert blocks.shares[at] == pytest.approx(5_000 / 14_999)
        assert (blocks.rows == 1).sum() <= 22

    def test_memory_follows_different_counts_not_rows(self) -> None:
        assert len(from_counts(np.full(100_000, 3)).shares) == 1

    def test_a_run_of_a_trace_is_cut_exactly(self) -> None:
        popularity = Runs(np.array([0, 1, 1_000_001]), np.array([0.5, 0.5]))
        assert popularity.share_between([500_000], [500_001]) == pytest.approx([0.5e-6], rel=1e-14)
