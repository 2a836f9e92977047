"""A sweep for people: short names, the table, the picture, the progress."""

import pytest

from simulator.errors import UserError
from simulator.sweeps.collect import Progress
from simulator.sweeps.names import as_numbers, short_names
from simulator.sweeps.plot import draw_sweep, medians, most_varied, places_of, plot_sweep
from simulator.sweeps.progress import Clock, finished_text, sweep_progress
from simulator.sweeps.text import best_rows, sweep_text

NIC, S = "topology.scale_out.nic_bandwidth", "workload.tables.items.popularity.s"


def row(policy: str, latency_ms: float, engine: str = "bound", **values: str) -> dict[str, str]:
    return {
        "policy": policy,
        "engine": engine,
        "communication_s": str(latency_ms / 1000),
        "inter_island_bytes": "1000",
        "imbalance": "1.5",
        "memory_bytes_per_rank_max": "80000000",
        "key": f"{policy}{latency_ms}{engine}{values}",
        **values,
    }


ROWS = [
    row("row_wise", 30, **{NIC: "100 Gbit/s", S: "0.9"}),
    row("row_wise", 40, **{NIC: "100 Gbit/s", S: "1.1"}),
    row("row_wise", 10, **{NIC: "400 Gbit/s", S: "0.9"}),
    row("flexshard", 8, **{NIC: "100 Gbit/s", S: "0.9"}),
    row("flexshard", 3, **{NIC: "400 Gbit/s", S: "0.9"}),
]
COLOURS = {"row_wise": "#111111", "flexshard": "#222222", "a": "#333333"}


class TestNames:
    def test_the_last_words_that_tell_keys_apart(self):
        keys = [NIC, S, "workload.tables.users.popularity.s", "topology.scale_up.latency"]
        assert list(short_names(keys).values()) == [
            "nic_bandwidth",
            "items.popularity.s",
            "users.popularity.s",
            "latency",
        ]

    def test_a_key_that_ends_another_stays_whole(self):
        assert short_names(["a.b", "x.a.b"]) == {"a.b": "a.b", "x.a.b": "x.a.b"}

    @pytest.mark.parametrize(
        ("texts", "numbers"),
        [
            (["100 Gbit/s", "400 Gbit/s"], ([100.0, 400.0], "Gbit/s")),
            (["100 Gbit/s", "50 GB/s"], ([12.5e9, 50e9], "B/s")),
            (["1 us", "2 ms"], ([1e-6, 2e-3], "s")),
            (["1 GB", "1 MiB"], ([1e9, 1048576.0], "B")),
            (["8", "1.5"], ([8.0, 1.5], "")),
            (["rank", "none"], None),
            (["8", "8 GB"], None),
            (["8", "inf"], None),
            (["nan", "1"], None),
        ],
    )
    def test_values_as_numbers(self, texts, numbers):
        assert as_numbers(texts) == numbers


class TestTable:
    def test_each_policy_has_its_best_point(self):
        best = best_rows([*ROWS, row("row_wise", 12, "fluid", **{NIC: "400 Gbit/s"})])
        assert {key: found["communication_s"] for key, found in best.items()} == {
            ("row_wise", "bound"): "0.01",
            ("flexshard", "bound"): "0.003",
            ("row_wise", "fluid"): "0.012",
        }

    def test_it_fits_and_tells_errors_by_how_often(self):
        failed = [{**row("row_wise", 1), "error": error} for error in ("x y " * 30, "b", "b", "c", "d")]
        text = sweep_text([*ROWS, *failed], width=80)
        assert max(map(len, text.splitlines())) <= 80
        assert text.startswith("10 points, 5 failed\n")
        assert "nic_bandwidth=400 Gbit/s, s=0.9" in " ".join(text.split())
        assert text.index("2 failed: b") < text.index("1 failed: x")
        assert "... and 1 other errors" in text

    def test_of_a_sweep_without_an_answer(self):
        assert sweep_text([{**row("row_wise", 1), "error": "boom"}], width=80).startswith(
            "1 points, 1 failed"
        )


class TestPlot:
    def test_the_key_with_most_numbers_is_across(self):
        assert most_varied(ROWS, [S, NIC]) == S
        assert most_varied([*ROWS, row("row_wise", 1, **{NIC: "200 Gbit/s"})], [S, NIC]) == NIC
        assert most_varied([row("a", 1, mode="x"), row("a", 1, mode="y")], ["mode"]) == "mode"

    def test_lines_go_through_medians(self):
        assert medians([2.0, 1.0, 2.0, 2.0], [9.0, 5.0, 1.0, 3.0]) == {1.0: 5.0, 2.0: 3.0}

    def test_values_that_are_no_numbers_stand_in_turn(self):
        assert places_of(["rank", "none", "rank"]) == ({"rank": 0.0, "none": 1.0}, "in turn")

    def test_what_is_drawn_is_what_the_rows_say(self):
        from matplotlib.figure import Figure

        ax = Figure().subplots()
        draw_sweep(ax, ROWS, NIC, "communication_s", COLOURS)
        lines = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
        assert list(lines["row_wise"].get_xdata()) == [100.0, 400.0]
        assert list(lines["row_wise"].get_ydata()) == [30.0, 10.0]  # s=1.1 is not there at 400 Gbit/s
        assert list(lines["flexshard"].get_ydata()) == [8.0, 3.0]
        assert ax.get_xlabel() == "Gbit/s"
        assert ax.get_ylabel() == "communication, ms"
        assert {name: line.get_color() for name, line in lines.items()} == {
            policy: COLOURS[policy] for policy in ("row_wise", "flexshard")
        }

    def test_a_second_engine_is_told_apart(self):
        from matplotlib.figure import Figure

        ax = Figure().subplots()
        draw_sweep(
            ax, [*ROWS, row("row_wise", 11, "fluid", **{NIC: "400 Gbit/s"})], NIC, "communication_s", COLOURS
        )
        labels = [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]
        assert labels == ["row_wise, bound", "flexshard, bound", "row_wise, fluid"]

    def test_wide_ranges_are_logarithmic(self):
        from matplotlib.figure import Figure

        ax = Figure().subplots()
        rows = [row("a", 1, **{NIC: "1 Gbit/s"}), row("a", 500, **{NIC: "900 Gbit/s"})]
        draw_sweep(ax, rows, NIC, "communication_s", COLOURS)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")

    @pytest.mark.parametrize("y", ["inter_island_bytes", "imbalance"])
    def test_other_figures(self, y, tmp_path):
        plot_sweep(ROWS, tmp_path / "p", y=y)
        assert (tmp_path / "p.png").exists()
        assert (tmp_path / "p.svg").exists()

    def test_what_cannot_be_drawn(self, tmp_path):
        with pytest.raises(UserError, match="'speed' is no figure"):
            plot_sweep(ROWS, tmp_path / "p", y="speed")
        with pytest.raises(UserError, match="'seed' was not varied, allowed: "):
            plot_sweep(ROWS, tmp_path / "p", x="seed")


class TestProgress:
    def test_rate_and_remaining_time(self):
        progress = Progress("bound", points=100, known=20, computed=20, failed=0)
        assert Clock(10.0).pace(progress, 14.0) == ", 5 points/s, 12 s left"
        assert Clock(10.0).pace(Progress("bound", 100, 20, 0, 0), 14.0) == ""
        assert Clock(10.0).pace(progress, 10.0) == ""

    def test_words(self):
        assert finished_text(Progress("bound", 2000, 20, 1100, 0)) == "1,120 of 2,000 bound points"
        assert finished_text(Progress("fluid", 4, 0, 1, 1)) == "1 of 4 fluid points, 1 failed"

    def test_a_line_at_every_tenth_of_each_pass(self, capsys):
        with sweep_progress("name") as observer:
            for engine in ("bound", "fluid"):
                for computed in range(101):
                    observer(Progress(engine, 100, 0, computed, 0))
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 22
        assert lines[0] == "name: 0 of 100 bound points"
        assert lines[1].startswith("name: 10 of 100 bound points, ")
        assert lines[-1].startswith("name: 100 of 100 fluid points, ")

    def test_a_bar_on_a_terminal(self, monkeypatch):
        import io
        import sys

        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr(sys, "stderr", Terminal())
        with sweep_progress("name") as observer:
            for computed in range(3):
                observer(Progress("bound", 2, 0, computed, 0))
        shown = sys.stderr.getvalue()
        assert "bound" in shown
        assert "2/2" in shown
