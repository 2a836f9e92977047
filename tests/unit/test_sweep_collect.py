"""Collecting a sweep: every point once, in order, whatever was there before."""

import pytest
from sweep_inputs import small_sweep

from simulator.errors import UserError
from simulator.sweeps.bench import Bench, Result
from simulator.sweeps.collect import Progress, collect
from simulator.sweeps.csv_file import read_rows, write_rows
from simulator.sweeps.run import combine, manifest, run_sweep
from simulator.sweeps.workers import ThisProcess

NIC, BATCH = "topology.scale_out.nic_bandwidth", "workload.batch_per_rank"


class Counting(ThisProcess):
    """Counts the points it computes, and stops like a kill after so many."""

    def __init__(self, at_most: int = 10**9) -> None:
        self.computed: list[str] = []
        self.at_most = at_most

    def run(self, tasks):
        for results in super().run(tasks):
            if len(self.computed) == self.at_most:
                raise KeyboardInterrupt
            self.computed += [result.key for result in results]
            yield results


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.csv"


def test_rows_are_those_of_the_points_in_their_order(tmp_path, path):
    sweep = small_sweep(tmp_path)
    rows = collect(sweep, path)
    assert [row["key"] for row in rows] == [point.key for point in sweep.points("bound")]
    assert read_rows(path)[1] == rows
    assert rows[0][NIC] == "100 Gbit/s"
    assert rows[0]["world_size"] == "4"
    assert float(rows[0]["communication_s"]) > float(rows[-2]["communication_s"])


def test_it_goes_on_where_it_was_interrupted_and_ends_alike(tmp_path, path):
    sweep = small_sweep(tmp_path)
    whole = tmp_path / "whole.csv"
    collect(sweep, whole)
    first, second = Counting(3), Counting()
    with pytest.raises(KeyboardInterrupt):
        collect(sweep, path, workers=first)
    assert len(read_rows(path)[1]) == 3
    collect(sweep, path, workers=second)
    assert path.read_bytes() == whole.read_bytes()
    assert len(first.computed) == 3
    assert len(second.computed) == 5
    assert not set(first.computed) & set(second.computed)


def test_a_file_cut_in_the_middle_of_a_row_goes_on(tmp_path, path):
    sweep = small_sweep(tmp_path)
    collect(sweep, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    counting = Counting()
    collect(sweep, path, workers=counting)
    assert path.read_bytes() == whole
    assert 0 < len(counting.computed) < 8


def test_a_finished_sweep_computes_nothing(tmp_path, path):
    sweep, counting = small_sweep(tmp_path), Counting()
    collect(sweep, path)
    before = path.read_bytes()
    collect(sweep, path, workers=counting)
    assert counting.computed == []
    assert path.read_bytes() == before


GROWN = {BATCH: [16, 64], "execution.dedup": ["none", "rank"]}


def test_a_sweep_that_grows_computes_what_is_new_and_puts_aside_what_is_no_longer_in_it(tmp_path, path):
    collect(small_sweep(tmp_path), path)
    counting = Counting()
    rows = collect(small_sweep(tmp_path, vary=GROWN), path, workers=counting)
    names, own = read_rows(path)
    assert len(counting.computed) == 6  # batch 16 without dedup was there, at the file's own NIC
    assert own == rows
    assert [name for name in names if "." in name] == list(GROWN)
    other_names, others = read_rows(tmp_path / "out_other.csv")
    assert len(others) == 6
    assert not {row["key"] for row in own} & {row["key"] for row in others}
    assert [name for name in other_names if "." in name] == [NIC, BATCH]


def test_a_sweep_that_is_what_it_was_again_takes_its_rows_back(tmp_path, path):
    collect(small_sweep(tmp_path), path)
    before, counting = path.read_bytes(), Counting()
    collect(small_sweep(tmp_path, vary=GROWN), path)
    collect(small_sweep(tmp_path), path, workers=counting)
    assert counting.computed == []
    assert path.read_bytes() == before
    assert len(read_rows(tmp_path / "out_other.csv")[1]) == 6
    combine([path, tmp_path / "out_other.csv"], tmp_path / "all.csv")
    assert len(read_rows(tmp_path / "all.csv")[1]) == 8 + 6


def test_rows_of_an_edited_workload_file_are_no_longer_the_sweep_s(tmp_path, path):
    """The points are called alike: nothing but their keys tells them from those of the file as it was."""
    vary = {NIC: ["100 Gbit/s", "200 Gbit/s"]}
    collect(small_sweep(tmp_path, vary=vary, policies=["row_wise"]), path)
    sweep = small_sweep(tmp_path, vary=vary, policies=["row_wise"])
    load = tmp_path / "load.yaml"
    load.write_text(load.read_text().replace("batch_per_rank: 32", "batch_per_rank: 128"))
    rows = collect(sweep, path)
    assert read_rows(path)[1] == rows
    assert [row["key"] for row in rows] == [point.key for point in sweep.points("bound")]
    assert len(read_rows(tmp_path / "out_other.csv")[1]) == 2


@pytest.mark.parametrize("at_most", [0, 3, 6])
def test_a_kill_after_the_sweep_changed_loses_no_row(tmp_path, path, at_most):
    collect(small_sweep(tmp_path, then={"for": "best 1"}), path)
    before = {row["key"] for row in read_rows(path)[1]}
    changed = small_sweep(tmp_path, vary=GROWN, then={"for": "best 1"})
    with pytest.raises(KeyboardInterrupt):
        collect(changed, path, workers=Counting(at_most))
    own, others = (read_rows(each)[1] for each in (path, tmp_path / "out_other.csv"))
    assert before <= {row["key"] for row in (*own, *others)}
    points = {point.key for engine in ("bound", "fluid") for point in changed.points(engine)}
    assert {row["key"] for row in own} <= points
    collect(changed, path)
    counting = Counting()
    collect(small_sweep(tmp_path, then={"for": "best 1"}), path, workers=counting)
    assert counting.computed == []


def test_one_value_spelled_in_two_ways_is_one_point(tmp_path, path):
    counting = Counting()
    rows = collect(
        small_sweep(tmp_path, vary={NIC: ["100 Gbit/s", "12.5 GB/s"]}, policies=["row_wise"]),
        path,
        workers=counting,
    )
    assert len(counting.computed) == 1
    assert [row[NIC] for row in rows] == ["100 Gbit/s"]


def test_points_that_are_equal_are_computed_once(tmp_path, path):
    """An option at its default and left out is one point to compute, and two rows of the sweep."""
    counting = Counting()
    policies = [{"name": "row_wise", "dedup": "rank"}]
    rows = collect(
        small_sweep(tmp_path, vary={"execution.dedup": ["none", "rank"]}, policies=policies),
        path,
        workers=counting,
    )
    assert len(counting.computed) == 1
    assert [row["execution.dedup"] for row in rows] == ["none", "rank"]
    assert rows[0]["communication_s"] == rows[1]["communication_s"]


FAILING = {"topology.gpu.hbm_capacity": ["1 kB", "1 GB"], BATCH: [16, -1]}


class TestErrors:
    def test_they_are_rows_and_do_not_stop_the_rest(self, tmp_path, path):
        rows = collect(small_sweep(tmp_path, vary=FAILING, policies=["row_wise"]), path)
        assert ["error" in row for row in rows] == [True, True, False, True]
        assert "does not fit" in rows[0]["error"]
        assert "batch_per_rank" in rows[1]["error"]
        assert "communication_s" not in rows[0]
        assert read_rows(path)[1] == rows

    def test_they_are_computed_again_when_asked_to(self, tmp_path, path):
        sweep = small_sweep(tmp_path, vary=FAILING, policies=["row_wise"])
        collect(sweep, path)
        idle, again = Counting(), Counting()
        collect(sweep, path, workers=idle)
        collect(sweep, path, workers=again, retry=True)
        assert idle.computed == []
        assert len(again.computed) == 1

    def test_a_figure_takes_the_place_of_an_error(self, tmp_path, path, monkeypatch):
        sweep = small_sweep(tmp_path, vary={"seed": [0]}, policies=["row_wise"])
        with monkeypatch.context() as patch:
            patch.setattr(Bench, "result", lambda self, point: Result(point.key, {}, "boom"))
            assert collect(sweep, path)[0]["error"] == "boom"
        assert "error" not in collect(sweep, path, retry=True)[0]
        assert len(read_rows(path)[1]) == 1


class TestThen:
    def test_the_second_pass_follows_the_first(self, tmp_path, path):
        rows = collect(small_sweep(tmp_path, then={"for": "best 1"}), path)
        assert [row["engine"] for row in rows] == ["bound"] * 8 + ["fluid"] * 2
        for row in rows[8:]:
            own = [each for each in rows[:8] if each["policy"] == row["policy"]]
            best = min(own, key=lambda each: float(each["communication_s"]))
            assert (row[NIC], row[BATCH]) == (best[NIC], best[BATCH])
            assert float(row["communication_s"]) >= float(best["communication_s"]) * (1 - 1e-9)

    def test_points_that_failed_are_not_looked_at_again(self, tmp_path, path):
        vary = {"topology.gpu.hbm_capacity": ["1 kB", "1 GB"]}
        rows = collect(small_sweep(tmp_path, vary=vary, policies=["row_wise"], then={"for": "all"}), path)
        assert [row["engine"] for row in rows] == ["bound", "bound", "fluid"]

    def test_when_all_failed_there_is_nothing_to_look_at_again(self, tmp_path, path):
        sweep = small_sweep(tmp_path, vary={"topology.hbm_capacity": ["1 B"]}, then={"for": "all"})
        rows = collect(sweep, path)
        assert [row["engine"] for row in rows] == ["bound", "bound"]
        assert all("does not fit" in row["error"] for row in rows)

    @pytest.mark.parametrize("at_most", [0, 7, 8, 9])
    def test_an_interrupted_one_ends_alike(self, tmp_path, path, at_most):
        sweep, whole = small_sweep(tmp_path, then={"for": "pareto"}), tmp_path / "whole.csv"
        collect(sweep, whole)
        with pytest.raises(KeyboardInterrupt):
            collect(sweep, path, workers=Counting(at_most))
        collect(sweep, path)
        assert path.read_bytes() == whole.read_bytes()


class TestProgress:
    def test_passes_are_told_as_they_go(self, tmp_path, path):
        told: list[Progress] = []
        sweep = small_sweep(tmp_path, then={"for": "best 1"})
        collect(sweep, path, observer=told.append)
        assert [(each.engine, each.computed) for each in told] == [
            *(("bound", count) for count in range(9)),
            *(("fluid", count) for count in range(3)),
        ]
        told.clear()
        collect(sweep, path, observer=told.append)
        assert [(each.points, each.known, each.computed) for each in told] == [(8, 8, 0), (2, 2, 0)]

    def test_failures_are_counted(self, tmp_path, path):
        told: list[Progress] = []
        sweep = small_sweep(tmp_path, vary=FAILING, policies=["row_wise"])
        collect(sweep, path, observer=told.append)
        assert told[0] == Progress("bound", points=4, known=2, computed=0, failed=2)
        assert told[-1] == Progress("bound", points=4, known=2, computed=2, failed=3)


class TestFolder:
    def test_it_has_the_csv_a_plot_and_a_manifest(self, tmp_path):
        out = tmp_path / "out"
        run_sweep(small_sweep(tmp_path), out)
        assert sorted(file.name for file in out.iterdir()) == [
            "manifest.json",
            "plotly.min.js",
            "report.html",
            "sweep.csv",
            "sweep.png",
            "sweep.svg",
        ]

    def test_a_sweep_without_an_answer_has_no_plot(self, tmp_path):
        sweep = small_sweep(tmp_path, vary={"topology.gpu.hbm_capacity": ["1 kB"]}, policies=["row_wise"])
        run_sweep(sweep, tmp_path / "out")
        assert not (tmp_path / "out" / "sweep.png").exists()

    def test_a_folder_that_cannot_be_is_refused_before_any_work(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(UserError, match="cannot be used for results"):
            run_sweep(small_sweep(tmp_path), tmp_path / "file", workers=Counting(0))

    def test_the_manifest_says_all_and_names_no_folder(self, tmp_path):
        said = manifest(small_sweep(tmp_path, then={"for": "best 10 %"}))
        assert said["sweep"]["vary"] == {"grid": small_sweep(tmp_path).spec.vary.grid}
        assert said["sweep"]["then"]["for"] == "best 10 %"
        assert said["topology"]["name"] == "four"
        assert str(tmp_path) not in str(said)


def test_two_halves_combine_into_the_whole(tmp_path, path):
    halves = []
    for number, nic in enumerate(("100 Gbit/s", "200 Gbit/s")):
        halves.append(tmp_path / f"{number}.csv")
        collect(small_sweep(tmp_path, vary={NIC: [nic], BATCH: [16, 32]}), halves[-1])
    combine(halves, path)
    whole = tmp_path / "whole.csv"
    collect(small_sweep(tmp_path), whole)
    assert path.read_bytes() == whole.read_bytes()


def test_another_file_is_not_overwritten(tmp_path, path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="no CSV of a sweep"):
        collect(small_sweep(tmp_path), path)
    assert path.read_text() == "a,b\n1,2\n"


def test_rows_of_an_older_file_keep_their_labels_until_they_are_written_anew(tmp_path, path):
    sweep = small_sweep(tmp_path, vary={"seed": [0]}, policies=[{"name": "row_wise", "label": "old"}])
    collect(sweep, path)
    renamed = small_sweep(tmp_path, vary={"seed": [0]}, policies=[{"name": "row_wise", "label": "new"}])
    counting = Counting()
    rows = collect(renamed, path, workers=counting)
    assert counting.computed == []
    assert [row["policy"] for row in rows] == ["new"]
    names, everything = read_rows(path)
    write_rows(path, names, everything)
    assert [row["policy"] for row in everything] == ["new"]
