"""Drift: what is replayed, seen in the order of rows that the planner knew."""

from pathlib import Path

import numpy as np
import pytest

from simulator.workload.load import load_workload
from simulator.workload.popularity.drifted import Drifted
from simulator.workload.popularity.runs import from_counts
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.shuffle import permute

BASE = ZipfMandelbrot(50_000, 1.1, 2.0)


def by_row(base: ZipfMandelbrot, share: float, among: int, key: int) -> np.ndarray:
    """The replayed share of each row, worked out row by row."""
    rows = np.arange(base.rows)
    law = base.share_between(rows, rows + 1)
    replayed = np.zeros(max(base.rows, among))
    replayed[: base.rows] = (1 - share) * law
    replayed[permute(among, rows, key=key)] += share * law
    return replayed


class TestDeclared:
    @pytest.mark.parametrize("among", [20_000, 50_000, 400_000])
    @pytest.mark.parametrize("share", [0.1, 1.0])
    def test_a_segment_gets_what_its_rows_get(self, share: float, among: int) -> None:
        """The hottest moved rows exactly, the rest as spread evenly."""
        base = ZipfMandelbrot(min(20_000, among), 1.1, 2.0)
        drifted = Drifted(base, share, among, key=9)
        assert drifted.rows == max(base.rows, among)
        exact = np.cumsum(by_row(base, share, among, 9))
        asked = np.unique(np.round(np.geomspace(1, drifted.rows, 50)).astype(int))
        assert drifted.cumulative_share(asked) == pytest.approx(exact[asked - 1], rel=1e-9)

    def test_beyond_the_heads_the_moved_rows_are_spread_evenly(self) -> None:
        base = ZipfMandelbrot(200_000, 1.0)
        drifted = Drifted(base, 0.5, 200_000, key=3)
        exact = np.cumsum(by_row(base, 0.5, 200_000, 3))
        asked = np.array([10, 1_000, 50_000, 150_000])
        assert drifted.cumulative_share(asked) == pytest.approx(exact[asked - 1], rel=2e-3)

    def test_no_drift_is_the_planned_popularity(self) -> None:
        rows = np.array([1, 10, 10_000])
        assert Drifted(BASE, 0.0, 50_000, 1).cumulative_share(rows) == pytest.approx(
            BASE.cumulative_share(rows)
        )

    def test_uniform_popularity_cannot_drift(self) -> None:
        uniform = Uniform(1000)
        drifted = Drifted(uniform, 0.7, 1000, 1)
        assert drifted.cumulative_share([1, 500]) == pytest.approx([0.001, 0.5])

    def test_more_drift_means_fewer_hits_of_the_planned_hot_rows(self) -> None:
        hits = [
            float(Drifted(BASE, share, 50_000, 1).cumulative_share(500)) for share in (0.0, 0.2, 0.5, 1.0)
        ]
        assert hits == sorted(hits, reverse=True)
        assert hits[-1] < 0.1

    def test_new_hot_rows_are_blocks_of_their_own(self) -> None:
        drifted = Drifted(BASE, 0.5, 50_000, key=4)
        blocks = drifted.blocks(heads=2_000)
        place = int(permute(50_000, np.array([0]), key=4)[0])
        at = int(np.searchsorted(blocks.edges, place))
        assert blocks.edges[at : at + 2].tolist() == [place, place + 1]
        assert blocks.shares[at] == pytest.approx(by_row(BASE, 0.5, 50_000, 4)[place], rel=1e-9)
        assert (blocks.rows == 1).sum() <= 2_000 + 100
        assert blocks.shares.sum() == pytest.approx(1.0)

    def test_a_huge_table_drifts_at_no_cost(self) -> None:
        drifted = Drifted(ZipfMandelbrot(10**12, 1.0), 0.3, 10**12, key=1)
        assert len(drifted.blocks(1_000).shares) < 5_000
        assert drifted.cumulative_share(10**12) == 1.0

    def test_it_drifts_again_from_where_it_is(self) -> None:
        once = Drifted(BASE, 0.5, 50_000, key=1)
        twice = Drifted(once, 0.5, 50_000, key=2)
        assert float(twice.cumulative_share(100)) < float(once.cumulative_share(100))
        assert twice.cumulative_share(50_000) == 1.0


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def workload_file(folder: Path, table: str) -> Path:
    write(
        folder,
        "w.yaml",
        f"name: w\nbatch_per_rank: 1\ntables:\n  - {{name: t, rows: 100, dim: 4, {table}}}\n",
    )
    return folder / "w.yaml"


LAW = "length: 5, popularity: {kind: zipf, s: 1}"


class TestFromFiles:
    def test_a_bare_share_and_its_long_form_agree(self, tmp_path: Path) -> None:
        shares = []
        for drift in ("0.4", "{share: 0.4}", "{share: 0.4, to: touched}"):
            (table,) = load_workload(workload_file(tmp_path, f"{LAW}, touched: 0.5, drift: {drift}")).tables
            shares.append(table.replayed_popularity.cumulative_share([1, 20, 50]).tolist())
            assert table.touched_rows == 50
        assert shares[0] == shares[1] == shares[2]
        assert shares[0][2] == 1.0

    def test_lookups_may_drift_to_rows_never_touched(self, tmp_path: Path) -> None:
        drift = "drift: {share: 0.4, to: all}"
        (table,) = load_workload(workload_file(tmp_path, f"{LAW}, touched: 0.5, {drift}")).tables
        beyond = 1.0 - float(table.replayed_popularity.cumulative_share(50))
        assert 0.0 < beyond < 0.4
        assert table.touched_rows == 50

    def test_a_drift_of_the_workload_is_that_of_its_tables(self, tmp_path: Path) -> None:
        path = workload_file(tmp_path, LAW)
        plain = load_workload(path)
        path.write_text(path.read_text() + "drift: 0.4\n")
        own = load_workload(workload_file(tmp_path, f"{LAW}, drift: 0.4")).tables[0]
        assert (
            load_workload(path).configuration()["tables"] == plain.with_(drift=0.4).configuration()["tables"]
        )
        assert own.configuration() == plain.with_(drift=0.4).tables[0].configuration()

    def test_a_pair_of_traces_is_exact(self, tmp_path: Path) -> None:
        """Planned: id 7 four times, 3 twice, 5 once. Replayed: 3 three times, 9 twice, 7 once."""
        write(tmp_path, "old", "7 7 7 7\n3 3 5\n")
        write(tmp_path, "new", "3 3 3\n9 9 7\n")
        trace = "trace: {path: new, format: sessions}, planning: {trace: {path: old, format: sessions}}"
        (table,) = load_workload(workload_file(tmp_path, trace)).tables
        assert table.touched_rows == 3
        assert table.popularity.cumulative_share([1, 2, 3]) == pytest.approx([4 / 7, 6 / 7, 1])
        assert table.replayed_popularity.cumulative_share([1, 2, 3, 4]) == pytest.approx(
            [1 / 6, 4 / 6, 4 / 6, 1]
        )

    def test_equal_traces_replay_what_was_planned(self, tmp_path: Path) -> None:
        write(tmp_path, "t", "1 2 3 1 2 1\n9 9\n")
        trace = "trace: {path: t, format: sessions}, planning: {trace: {path: t, format: sessions}}"
        (table,) = load_workload(workload_file(tmp_path, trace)).tables
        rows = np.arange(1, 5)
        assert table.replayed_popularity.cumulative_share(rows) == pytest.approx(
            table.popularity.cumulative_share(rows)
        )

    def test_rows_alike_in_the_plan_stand_in_an_order_that_knows_nothing_of_the_replay(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path, "old", " ".join(str(row) for row in range(100)) + "\n")
        write(tmp_path, "new", " ".join(str(row) for row in range(50) for _ in range(9)) + "\n")
        trace = "trace: {path: new, format: sessions}, planning: {trace: {path: old, format: sessions}}"
        (table,) = load_workload(workload_file(tmp_path, trace)).tables
        assert 0.3 < float(table.replayed_popularity.cumulative_share(50)) < 0.7

    def test_the_halves_of_one_trace_are_another_epoch(self, tmp_path: Path) -> None:
        write(tmp_path, "t", "1 1 2\n1 2 2\n")
        halves = (
            "trace: {path: t, format: sessions, part: second_half}, "
            "planning: {trace: {path: t, format: sessions, part: first_half}}"
        )
        (table,) = load_workload(workload_file(tmp_path, halves)).tables
        assert table.popularity.cumulative_share(1) == pytest.approx(2 / 3)
        assert table.replayed_popularity.cumulative_share(1) == pytest.approx(1 / 3)

    def test_a_law_may_be_planned_from_another_law(self, tmp_path: Path) -> None:
        planning = "planning: {popularity: {kind: zipf, s: 2}}"
        (table,) = load_workload(workload_file(tmp_path, f"{LAW}, {planning}")).tables
        assert table.popularity.cumulative_share(1) == pytest.approx(ZipfMandelbrot(100, 2.0).row_share(0))
        assert table.replayed_popularity.cumulative_share(1) == pytest.approx(
            ZipfMandelbrot(100, 1.0).row_share(0)
        )


def test_counts_and_drift_go_together() -> None:
    drifted = Drifted(from_counts(np.array([6, 3, 1])), 0.5, 3, key=2)
    assert drifted.share_between([0, 1, 2], [1, 2, 3]).sum() == pytest.approx(1.0)
    assert drifted.cumulative_share(3) == 1.0
