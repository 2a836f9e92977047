"""What a workload asks for while a plan grows old."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulator.errors import UserError
from simulator.workload.ageing import ageing
from simulator.workload.lengths import fixed
from simulator.workload.load import load_workload
from simulator.workload.popularity.blend import Blend
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.popularity.runs import from_counts
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table
from simulator.workload.workload import Workload

LAW = ZipfMandelbrot(1000, 1.0)
STILL = Table("still", 1000, 8, LAW, fixed(5))
DRIFTING = replace(STILL, name="drifting").with_drift(0.19)
EPOCHS = replace(STILL, name="epochs", replayed=Uniform(1000))


def workload(*tables: Table) -> Workload:
    return Workload("changing", 4, 4, tables)


class TestDrift:
    @pytest.mark.parametrize(("age", "share"), [(0, 0.0), (50, 0.1), (100, 0.19), (200, 1 - 0.81**2)])
    def test_what_stays_shrinks_by_the_same_part_in_equal_times(self, age: float, share: float) -> None:
        aged = ageing(workload(DRIFTING), over=100).at(age).tables[0]
        assert (0.0 if aged.replayed is None else aged.replayed.share) == pytest.approx(share)

    def test_after_the_declared_time_it_is_what_the_workload_declares(self) -> None:
        aged = ageing(workload(DRIFTING), over=100).at(100).tables[0].replayed
        assert isinstance(aged, Drifted)
        declared = DRIFTING.replayed_popularity
        rows = np.array([1, 10, 100])
        assert aged.cumulative_share(rows) == pytest.approx(declared.cumulative_share(rows))

    def test_all_lookups_may_move(self) -> None:
        changes = ageing(workload(STILL.with_drift(1.0)), over=100)
        assert changes.progress(np.array([0.0, 1.0, 1000.0])).tolist() == [0.0, 1.0, 1.0]


class TestEpochs:
    @pytest.mark.parametrize(("age", "share"), [(0, 0.0), (30, 0.3), (100, 1.0), (1000, 1.0)])
    def test_lookups_go_over_evenly_and_then_stay(self, age: float, share: float) -> None:
        changes = ageing(workload(EPOCHS), over=100)
        assert changes.moved_share(EPOCHS, age) == share
        asked = changes.at(age).tables[0].replayed_popularity.cumulative_share(10)
        assert asked == pytest.approx((1 - share) * LAW.cumulative_share(10) + share * 0.01)

    def test_a_blend_is_cut_where_either_is(self) -> None:
        first, second = from_counts(np.array([9, 5, 5, 1])), from_counts(np.array([3, 3, 3, 3, 3, 3]))
        blend = Blend(first, second, 0.25)
        blocks = blend.blocks()
        assert blend.rows == 6
        assert blocks.edges.tolist() == [0, 1, 2, 3, 4, 5, 6]
        expected = 0.75 * np.array([9, 5, 5, 1, 0, 0]) / 20 + 0.25 / 6
        assert blocks.shares == pytest.approx(expected)


class TestProgress:
    def test_tables_that_do_not_change_do_not_count(self) -> None:
        changes = ageing(workload(STILL, DRIFTING, EPOCHS), over=100)
        assert changes.progress(np.array([0.0, 100.0])) == pytest.approx([0.0, (0.19 + 1.0) / 2])
        assert changes.at(50).tables[0].replayed is None

    def test_it_never_falls(self) -> None:
        ages = np.geomspace(0.01, 1e6, 200)
        progress = ageing(workload(DRIFTING, EPOCHS), over=100).progress(ages)
        assert (np.diff(progress) >= 0).all()


class TestRefused:
    def test_a_workload_that_stays(self) -> None:
        with pytest.raises(
            UserError, match=r"^workload changing: no table has a `drift` above 0, or `planning`"
        ):
            ageing(workload(STILL), over=100)

    def test_two_changes_at_once(self) -> None:
        with pytest.raises(UserError, match="table epochs has `planning` and `drift`"):
            ageing(workload(EPOCHS.with_drift(0.1)), over=100)

    def test_a_table_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "w.yaml"
        path.write_text(
            "name: w\nbatch_per_rank: 4\ntables:\n"
            "- {name: a, rows: 100, dim: 4, length: 2, popularity: {kind: zipf, s: 1}, drift: 0.5}\n"
        )
        assert ageing(load_workload(path), over=10).at(10).tables[0].replayed.share == 0.5
