"""Batches: who looks up how much, in which tables, under which key."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.errors import UserError
from simulator.workload.lengths import empirical, fixed, lognormal
from simulator.workload.popularity.runs import in_order
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import RankSkew, Workload

LENGTHS = lognormal(mean=20, sigma=1.0, min=0, max=200)


def table(name: str = "items", **changes: object) -> Table:
    defaults = {"rows": 1000, "dim": 16, "popularity": ZipfMandelbrot(400, 1.0), "length": LENGTHS}
    return Table(name=name, **{**defaults, **changes})  # type: ignore[arg-type]


def workload(*tables: Table, **changes: object) -> Workload:
    defaults = {"name": "test", "batch_per_rank": 32, "element_bytes": 2, "tables": tables or (table(),)}
    return Workload(**{**defaults, **changes})  # type: ignore[arg-type]


class TestStatistics:
    def test_a_policy_sees_expected_lookups_and_touched_rows(self) -> None:
        (seen,) = workload(table(length=fixed(50))).statistics().tables
        assert (seen.name, seen.rows, seen.touched_rows, seen.row_bytes) == ("items", 1000, 400, 32)
        assert seen.lookups_per_rank == 32 * 50

    def test_it_sees_the_planned_popularity_not_the_replayed(self) -> None:
        drifted = table().with_drift(0.5)
        (seen,) = workload(drifted).statistics().tables
        assert seen.popularity is drifted.popularity
        assert drifted.replayed_popularity is not drifted.popularity


class TestDrawing:
    def test_the_same_seed_draws_the_same_batch(self) -> None:
        first = workload().draw_batch(8, seed=3, iteration=2)
        again = workload().draw_batch(8, seed=3, iteration=2)
        assert np.array_equal(first.lookups, again.lookups)
        assert (first.seed, first.iteration, first.repeats) == (3, 2, None)

    @pytest.mark.parametrize("change", [{"seed": 4, "iteration": 2}, {"seed": 3, "iteration": 1}])
    def test_another_seed_or_iteration_draws_afresh(self, change: dict[str, int]) -> None:
        first = workload().draw_batch(8, seed=3, iteration=2)
        assert not np.array_equal(first.lookups, workload().draw_batch(8, **change).lookups)

    def test_a_table_draws_the_same_whatever_stands_beside_it(self) -> None:
        alone = workload(table("b")).draw_batch(8, seed=1, iteration=0)
        beside = workload(table("a"), table("b"), table("c")).draw_batch(8, seed=1, iteration=0)
        assert np.array_equal(alone.lookups[:, 0], beside.lookups[:, 1])

    def test_tables_and_ranks_draw_on_their_own(self) -> None:
        lookups = workload(table("a"), table("b")).draw_batch(500, seed=1, iteration=0).lookups
        assert abs(np.corrcoef(lookups.T)[0, 1]) < 0.2
        assert len(np.unique(lookups[:, 0])) > 100
        assert lookups.mean() == pytest.approx(32 * LENGTHS.mean, rel=0.05)

    def test_a_batch_of_fifty_tables_on_1024_ranks_is_drawn_at_once(self) -> None:
        many = workload(*[table(f"t{index}") for index in range(50)])
        batch = many.draw_batch(1024, seed=0, iteration=0)
        assert batch.lookups.shape == (1024, 50)
        assert batch.lookups.dtype == np.int64


class TestUnevenBatches:
    def test_a_rank_may_have_an_empty_batch(self) -> None:
        batch = workload(batch_of_rank=((2, 0), (3, 64))).draw_batch(4, seed=1, iteration=0)
        assert batch.lookups[2, 0] == 0
        assert batch.lookups[3, 0] > batch.lookups[0, 0]

    def test_lengths_may_all_be_zero(self) -> None:
        assert workload(table(length=fixed(0))).draw_batch(4, seed=1, iteration=0).lookups.sum() == 0

    def test_no_samples_at_all_are_no_lookups(self) -> None:
        assert workload(batch_per_rank=0).draw_batch(4, seed=1, iteration=0).lookups.sum() == 0

    @pytest.mark.parametrize(
        ("changes", "key"),
        [({"batch_of_rank": ((8, 1),)}, "batch_of_rank"), ({"rank_skew": RankSkew(8, 1.0)}, "rank_skew")],
    )
    def test_a_rank_that_is_not_there_is_an_error_with_the_ranks_there_are(
        self, changes: dict[str, object], key: str
    ) -> None:
        with pytest.raises(UserError, match=rf"workload test: {key} names rank 8, there are 0\.\.7"):
            workload(**changes).draw_batch(8, seed=0, iteration=0)


class TestRankSkew:
    LENGTH = empirical([1, 10, 100], [1, 1, 1])

    def test_one_rank_holds_the_longest_sequences_of_the_cluster(self) -> None:
        even = workload(table(length=self.LENGTH), batch_per_rank=100)
        skewed = replace(even, rank_skew=RankSkew(2, 1.0))
        lookups = skewed.draw_batch(8, seed=1, iteration=0).lookups[:, 0]
        assert lookups[2] == 100 * 100
        others = np.delete(lookups, 2)
        assert others.max() < 1.5 * others.min()

    def test_the_cluster_as_a_whole_looks_up_as_much(self) -> None:
        skewed = workload(table(length=self.LENGTH), batch_per_rank=100, rank_skew=RankSkew(0, 0.5))
        means = [skewed.draw_batch(8, seed=seed, iteration=0).lookups.mean() for seed in range(60)]
        assert np.mean(means) == pytest.approx(100 * 37, rel=0.02)

    def test_a_share_of_zero_skews_nothing(self) -> None:
        lookups = (
            workload(table(length=self.LENGTH), batch_per_rank=100, rank_skew=RankSkew(0, 0.0))
            .draw_batch(64, seed=1, iteration=0)
            .lookups[:, 0]
        )
        assert abs(lookups[0] - lookups.mean()) < 4 * lookups.std()

    def test_more_samples_than_can_be_dealt_are_refused(self) -> None:
        huge = workload(batch_per_rank=10**9, rank_skew=RankSkew(0, 1.0))
        with pytest.raises(
            UserError, match="rank_skew deals samples one by one, 4000000000 are more than 50000000"
        ):
            huge.draw_batch(4, seed=1, iteration=0)

    def test_an_empty_rank_cannot_hold_them(self) -> None:
        skewed = workload(batch_of_rank=((1, 0),), rank_skew=RankSkew(1, 1.0))
        assert skewed.draw_batch(4, seed=1, iteration=0).lookups[1, 0] == 0


class TestStreams:
    def test_tables_of_one_stream_look_up_the_same_ids(self) -> None:
        batch = workload(table("a", stream="s"), table("b", stream="s"), table("c")).draw_batch(
            16, seed=1, iteration=0
        )
        assert np.array_equal(batch.lookups[:, 0], batch.lookups[:, 1])
        assert not np.array_equal(batch.lookups[:, 0], batch.lookups[:, 2])

    def test_their_rows_lie_in_equal_places(self) -> None:
        rows = np.arange(100)
        where = {
            name: table(name, stream=stream).positions(rows, start=0, stop=1000, seed=5)
            for name, stream in (("a", "s"), ("b", "s"), ("c", ""))
        }
        assert np.array_equal(where["a"], where["b"])
        assert not np.array_equal(where["a"], where["c"])

    def test_a_stream_is_not_the_table_of_its_name(self) -> None:
        assert table("a", stream="s").stream_key != table("s").stream_key


class TestRepeats:
    def test_repeats_are_some_of_the_later_lookups(self) -> None:
        batch = workload(table(length=fixed(10), repeat_share=0.25), batch_per_rank=1000).draw_batch(
            20, seed=1, iteration=0
        )
        assert batch.repeats is not None
        assert batch.repeats.mean() == pytest.approx(1000 * 9 * 0.25, rel=0.02)

    @pytest.mark.parametrize(
        ("length", "share", "repeats"), [(1, 1.0, 0), (0, 1.0, 0), (5, 1.0, 4 * 32), (5, 0.0, 0)]
    )
    def test_the_first_lookup_of_a_sample_repeats_nothing(
        self, length: int, share: float, repeats: int
    ) -> None:
        batch = workload(
            table("a", length=fixed(length), repeat_share=share), table("b", repeat_share=0.1)
        ).draw_batch(4, seed=1, iteration=0)
        assert batch.repeats is not None
        assert (batch.repeats[:, 0] == repeats).all()

    def test_they_change_no_number_of_lookups(self) -> None:
        plain = workload().draw_batch(8, seed=1, iteration=0)
        repeating = workload(table(repeat_share=0.5)).draw_batch(8, seed=1, iteration=0)
        assert np.array_equal(plain.lookups, repeating.lookups)


class TestPositions:
    def test_shuffled_rows_fill_the_run(self) -> None:
        where = table().positions(np.arange(100, 300), start=100, stop=300, seed=1)
        assert np.array_equal(np.sort(where), np.arange(200))
        assert not np.array_equal(where, np.arange(200))

    def test_sorted_rows_lie_by_heat(self) -> None:
        where = table(order="sorted").positions(np.array([100, 105]), start=100, stop=300, seed=1)
        assert where.tolist() == [0, 5]

    def test_another_run_or_seed_shuffles_anew(self) -> None:
        rows = np.arange(100, 150)
        places = [
            table().positions(rows, start=start, stop=stop, seed=seed).tolist()
            for start, stop, seed in ((100, 300, 1), (100, 301, 1), (99, 300, 1), (100, 300, 2))
        ]
        assert len({tuple(place) for place in places}) == 4

    def test_a_run_of_2_to_60_rows_is_placed_at_once(self) -> None:
        huge = table(rows=2**60 + 1, popularity=ZipfMandelbrot(2**60 + 1, 1.0))
        where = huge.positions(np.arange(1000), start=0, stop=2**60 + 1, seed=1)
        assert len(set(where.tolist())) == 1000
        assert int(where.max()) <= 2**60


class TestConfiguration:
    def test_it_is_plain_data_that_tells_workloads_apart(self) -> None:
        base = workload().configuration()
        for other in (
            workload(batch_per_rank=33),
            workload(table(dim=8)),
            workload(table(length=fixed(20))),
            workload(table(popularity=ZipfMandelbrot(400, 1.01))),
            workload(table().with_drift(0.1)),
            workload(table(order="sorted")),
            workload(table(stream="s")),
            workload(rank_skew=RankSkew(0, 1.0)),
        ):
            assert other.configuration() != base
        assert workload().configuration() == base

    def test_measured_curves_count_by_content(self) -> None:
        curves = [
            workload(table(popularity=in_order(np.array(counts)))).configuration()
            for counts in ([3, 1], [3, 2])
        ]
        assert curves[0] != curves[1]
