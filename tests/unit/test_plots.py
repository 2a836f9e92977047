"""Plots of a results folder: what they draw is what the files say, at any size, the same each time."""

import warnings
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from results_folder import write_folder

from simulator.report.folder import Results, read_results
from simulator.report.plots import latency, links, matrix, memory, popularity, traffic
from simulator.report.plots.catalogue import PLOTS
from simulator.report.plots.plot import Plot
from simulator.report.plots.style import (
    SYNC_COLOURS,
    TIER_COLOURS,
    house_style,
    policy_title,
    save,
    shade,
    shortened,
)

TEN = (
    *(
        "row_wise",
        "table_wise",
        "column_wise",
        "table_row_wise",
        "data_parallel",
        "two_dimensional group_size=16",
    ),
    *(
        "hybrid",
        "flexshard",
        "flexshard memory=hbm dedup=rank sync=sparse sync_algorithm=flat tiers=concurrent",
    ),
    "flexshard $\\frac{1}{2 & <b>bold</b> \\n",
)
SHAPES = {
    "usual": {},
    "one policy, one GPU": {"policies": ("row_wise",), "island_sizes": (1,), "traffic": False},
    "ten policies, four ranks": {"policies": TEN, "island_sizes": (2, 2)},
    "uneven islands, many tables": {
        "island_sizes": (8, 4, 1),
        "tables": tuple(f"{letter}_table_with_a_name_longer_than_labels" for letter in "abcdefghijkl"),
    },
    "1,024 ranks": {"policies": ("row_wise", "flexshard"), "island_sizes": (8,) * 128},
    "no traffic": {"traffic": False},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    root = tmp_path_factory.mktemp("folders")
    return {name: read_results(write_folder(root / name, **shape)) for name, shape in SHAPES.items()}


@pytest.fixture
def usual(folders: dict[str, Results]) -> Results:
    return folders["usual"]


@cache
def drawn(plot: Plot, results: Results) -> Figure:
    """The figure with everything at its final place; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with house_style():
            figure = plot.draw(results)
            figure.canvas.draw()
    return figure


def texts(figure: Figure) -> list[str]:
    found = (text.get_text() for text in figure.findobj(Text) if text.get_visible())
    return [text for text in found if text.strip()]


class TestAnyShape:
    @pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_nothing_leaves_the_picture(self, folders: dict[str, Results], plot: Plot, shape: str) -> None:
        figure = drawn(plot, folders[shape])
        needed, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        slack_in = 0.03
        assert needed.x0 >= -slack_in
        assert needed.y0 >= -slack_in
        assert needed.x1 <= width + slack_in
        assert needed.y1 <= height + slack_in

    @pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_the_finding_is_a_sentence(self, folders: dict[str, Results], plot: Plot, shape: str) -> None:
        finding = plot.finding(folders[shape])
        assert finding.endswith(".")
        assert "nan" not in finding
        assert "None" not in finding
        assert len(finding) < 400

    @pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
    def test_the_title_is_the_question(self, usual: Results, plot: Plot) -> None:
        assert plot.question.endswith("?")
        assert drawn(plot, usual).get_suptitle() == plot.question

    @pytest.mark.parametrize(
        "plot", [plot for plot in PLOTS if plot is not popularity.PLOT], ids=lambda plot: plot.name
    )
    def test_every_policy_is_named(self, folders: dict[str, Results], plot: Plot) -> None:
        shown = texts(drawn(plot, folders["ten policies, four ranks"]))
        assert (
            sum(text.startswith(("row_wise", "table_wise", "column_wise", "hybrid")) for text in shown) == 4
        )
        assert any("$\\frac{1}{2" in text or "$\\fra" in text for text in shown)


class TestTraffic:
    def test_bars_end_where_the_bytes_of_a_policy_do(self, usual: Results) -> None:
        figure = drawn(traffic.PLOT, usual)
        ends: dict[float, float] = {}
        for bar in figure.axes[0].patches:
            y = round(bar.get_y() + bar.get_height() / 2, 3)
            ends[y] = max(ends.get(y, 0.0), bar.get_x() + bar.get_width())
        expected = [
            row[key] / 1e9
            for row in usual.summary["policies"]
            for key in ("inter_island_bytes", "intra_island_bytes")
        ]
        np.testing.assert_allclose([ends[y] for y in sorted(ends)], expected, rtol=1e-9)

    def test_synchronisation_is_told_apart(self, usual: Results) -> None:
        by_use = traffic.traffic_by_use(usual)
        sync = by_use.loc[("flexshard", "replica sync"), "inter_island_bytes"]
        (row,) = [row for row in usual.summary["policies"] if row["policy"] == "flexshard"]
        assert sync == row["replica_sync_inter_island_bytes"]
        assert ("flexshard", "replicated all-to-all") not in by_use.index
        assert by_use.loc[("flexshard", "island all-to-all"), "inter_island_bytes"] == 0

    def test_the_legend_shows_what_occurs(self, usual: Results) -> None:
        legend = drawn(traffic.PLOT, usual).axes[0].get_legend()
        names = [text.get_text() for text in legend.get_texts()]
        assert names == ["global all-to-all", "island all-to-all", "replica sync"]
        colours = [to_hex(patch.get_facecolor()).upper() for patch in legend.get_patches()]
        assert colours == [TIER_COLOURS["global"], TIER_COLOURS["island"], SYNC_COLOURS["replica_sync"]]

    def test_findings(self, folders: dict[str, Results]) -> None:
        assert traffic.finding(folders["no traffic"]) == "With row_wise no byte travels between islands."
        found = traffic.finding(folders["usual"])
        assert found.startswith("flexshard puts least on the NICs: 1.90 GB an iteration, 182 MB of it")
        assert found.endswith("row_wise puts 11.0 GB there.")

    def test_the_baseline_is_named_when_none_is_better(self, tmp_path: Path) -> None:
        results = read_results(write_folder(tmp_path, baseline="flexshard"))
        assert traffic.finding(results).startswith("No policy puts less on the NICs than flexshard: 1.90 GB")


class TestLatency:
    def test_waiting_is_hatched_and_as_long_as_measured(self, usual: Results) -> None:
        bars = drawn(latency.PLOT, usual).axes[0].patches
        hatched = sum(bar.get_width() for bar in bars if bar.get_hatch())
        plain = sum(bar.get_width() for bar in bars if not bar.get_hatch())
        means = usual.phases.groupby(["policy", "phase"])[["mean_wait_s", "transfer_s"]].mean().sum()
        assert hatched == pytest.approx(1e3 * means["mean_wait_s"])
        assert plain == pytest.approx(1e3 * means["transfer_s"])

    def test_steps_stand_in_the_order_of_the_program(self, usual: Results) -> None:
        labels = [label.get_text() for label in drawn(latency.PLOT, usual).axes[0].get_yticklabels()]
        assert labels == ["ids", "embeddings", "gradients"] * 3 + ["replica sync"]

    def test_a_phase_without_a_tier_counts(self, tmp_path: Path) -> None:
        """The dense all-reduce belongs to no tier of rows."""
        write_folder(tmp_path, policies=("row_wise",), iterations=1)
        path = tmp_path / "phases.csv"
        path.write_text(
            path.read_text() + "row_wise,0,dense_sync,dense_sync,,8,4,4,0.0,0.0,0.5,0.4,nic/0/egress\n"
        )
        times_s = latency.time_by_phase(read_results(tmp_path))
        assert times_s.loc[("row_wise", "dense_sync", ""), "transfer_s"] == 0.5
        assert "dense sync" in latency.chart(read_results(tmp_path)).legend()

    def test_a_policy_without_communication_says_so(self, folders: dict[str, Results]) -> None:
        shown = texts(drawn(latency.PLOT, folders["no traffic"]))
        assert shown.count("no communication") == 3

    def test_findings(self, folders: dict[str, Results]) -> None:
        assert latency.finding(folders["no traffic"]) == "row_wise spends no time on communication."
        assert latency.finding(folders["usual"]) == (
            "flexshard communicates fastest: 120 ms an iteration, 111 ms without synchronisation; "
            "9.1 % of its collectives' time is waiting."
        )


class TestMemory:
    def test_the_line_is_at_the_baseline(self, usual: Results) -> None:
        (line,) = drawn(memory.PLOT, usual).axes[0].lines
        np.testing.assert_allclose(line.get_xdata(), [1.5, 1.5])

    def test_tiers_are_stacked_to_the_total(self, usual: Results) -> None:
        bars = [bar for bar in drawn(memory.PLOT, usual).axes[0].patches if bar.get_width() > 0]
        assert [round(bar.get_width(), 6) for bar in bars] == [1.5, 1.5, 0.2, 0.3, 1.5]
        assert [to_hex(bar.get_facecolor()).upper() for bar in bars[-3:]] == [
            TIER_COLOURS[tier] for tier in ("replicated", "island", "global")
        ]
        assert memory.totals(usual) == {"row_wise": 1.5e9, "table_wise": 1.5e9, "flexshard": 2.0e9}

    def test_findings(self, usual: Results, tmp_path: Path) -> None:
        assert memory.finding(usual) == (
            "1 of 2 other policies needs more than row_wise (1.50 GB on the fullest GPU); "
            "flexshard needs most, 2.00 GB."
        )
        results = read_results(write_folder(tmp_path, baseline="flexshard"))
        assert memory.finding(results) == "No policy needs more than flexshard: 2.00 GB on the fullest GPU."


class TestPopularity:
    def test_tables_alike_share_a_curve(self, usual: Results) -> None:
        curves = popularity.curves(usual, "flexshard")
        assert [(curve.tables, curve.label) for curve in curves] == [
            (("items_0", "items_1"), "items_0 and 1 alike"),
            (("users",), "users"),
        ]

    def test_tables_cut_differently_do_not(self, tmp_path: Path) -> None:
        write_folder(tmp_path, policies=("flexshard",))
        path = tmp_path / "tiers.csv"
        path.write_text(
            path.read_text().replace("items_1,replicated,0,1000,", "items_1,replicated,0,500,", 1)
        )
        assert len(popularity.curves(read_results(tmp_path), "flexshard")) == 3

    def test_dots_are_at_the_cuts(self, usual: Results) -> None:
        lines = drawn(popularity.PLOT, usual).axes[0].lines
        dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines if line.get_marker() == "o"]
        assert [x for x, _ in dots] == [1000, 100_000] * 2
        expected = np.log1p([1000, 100_000]) / np.log1p(1e7)
        np.testing.assert_allclose([y for _, y in dots], [*expected, *expected**2], rtol=0.02)

    def test_the_curve_has_the_colours_of_its_tiers(self, usual: Results) -> None:
        lines = drawn(popularity.PLOT, usual).axes[0].lines
        spans = [
            (line.get_xdata()[0], line.get_xdata()[-1], line.get_color())
            for line in lines
            if line.get_marker() != "o" and line.get_linestyle() == "-"
        ]
        assert spans[:3] == [
            (1, 1000, TIER_COLOURS["replicated"]),
            (1000, 100_000, TIER_COLOURS["island"]),
            (100_000, 10_000_000, TIER_COLOURS["global"]),
        ]

    def test_a_panel_for_each_way_of_cutting(self, folders: dict[str, Results]) -> None:
        groups = popularity.policies_that_cut(folders["ten policies, four ranks"])
        assert groups == (("hybrid",), TEN[-3:])
        assert len(drawn(popularity.PLOT, folders["ten policies, four ranks"]).axes) == 2

    def test_without_cuts_the_first_policy_is_shown(self, folders: dict[str, Results]) -> None:
        assert popularity.policies_that_cut(folders["one policy, one GPU"]) == (("row_wise",),)

    def test_neighbours_of_one_tier_are_one_run(self, tmp_path: Path) -> None:
        write_folder(tmp_path, policies=("row_wise",), tables=("items_0",))
        (tmp_path / "tiers.csv").write_text(
            "policy,table,tier,start_row,stop_row,lookup_share\n"
            "row_wise,items_0,global,0,10,0.5\nrow_wise,items_0,global,10,20,0.2\nrow_wise,items_0,island,20,30,0.1\n"
        )
        runs = popularity.tier_runs(read_results(tmp_path), "row_wise")
        assert runs == {"items_0": (("global", 0, 20), ("island", 20, 30))}

    def test_a_table_of_one_row(self, tmp_path: Path) -> None:
        write_folder(tmp_path, policies=("row_wise",), tables=("items_0",))
        (tmp_path / "popularity.csv").write_text("table,rows,cumulative_share\nitems_0,1,1.0\n")
        (tmp_path / "tiers.csv").write_text(
            "policy,table,tier,start_row,stop_row,lookup_share\nrow_wise,items_0,global,0,1,1.0\n"
        )
        results = read_results(tmp_path)
        assert len(texts(drawn(popularity.PLOT, results))) > 3
        assert "100.0 % of the lookups in items_0" in popularity.finding(results)

    def test_of_many_tables_two_are_named(self, folders: dict[str, Results]) -> None:
        shown = texts(drawn(popularity.PLOT, folders["uneven islands, many tables"]))
        assert [text[:2] for text in shown if text.endswith("labels")] == ["a_", "l_"]

    def test_the_finding(self, usual: Results) -> None:
        assert popularity.finding(usual) == (
            "The hottest 1 % of rows hold 71.4 % of the lookups in items_0 and 1 alike "
            "and 51.0 % of the lookups in users."
        )


class TestMatrix:
    def test_tiers_are_summed_and_the_diagonal_left_out(self, usual: Results) -> None:
        whole = matrix.embedding_matrix(usual, "flexshard")
        parts = [usual.matrix("flexshard", f"embeddings_{tier}") for tier in ("global", "island")]
        expected = parts[0] + parts[1]
        np.fill_diagonal(expected, 0)
        np.testing.assert_array_equal(whole, expected)
        assert expected[0, 1] > parts[0][0, 1] > 0

    def test_blocks_are_means(self) -> None:
        whole = np.arange(49).reshape(7, 7)
        cells = matrix.averaged(whole, cells=4)
        assert cells.shape == (4, 4)
        assert cells[0, 0] == whole[:2, :2].mean()
        assert cells[3, 0] == whole[6, :2].mean()
        assert cells[3, 3] == 48
        np.testing.assert_array_equal(matrix.averaged(whole, cells=7), whole)

    def test_borders_are_those_of_the_islands(self, folders: dict[str, Results]) -> None:
        ax = drawn(matrix.PLOT, folders["uneven islands, many tables"]).axes[0]
        assert sorted({line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0] > 0}) == [7.5, 11.5]

    def test_many_islands_have_no_borders(self, folders: dict[str, Results]) -> None:
        figure = drawn(matrix.PLOT, folders["1,024 ranks"])
        assert not figure.axes[0].lines
        (image,) = figure.axes[0].images
        assert image.get_array().shape == (128, 128)

    def test_colours_are_common_and_logarithmic(self, usual: Results) -> None:
        norms = [ax.images[0].norm for ax in drawn(matrix.PLOT, usual).axes if ax.images]
        assert len({id(norm) for norm in norms}) == 1
        every = [matrix.embedding_matrix(usual, policy) for policy in usual.policies]
        assert norms[0].vmax == max(each.max() for each in every)
        assert norms[0].vmin == min(each[each > 0].min() for each in every)

    def test_equal_bytes_have_a_scale_too(self) -> None:
        norm = matrix.common_norm([np.array([[0.0, 5.0], [5.0, 0.0]])])
        assert (norm.vmin, norm.vmax) == (0.5, 5.0)

    def test_pairs_without_a_byte_are_blank(self, usual: Results) -> None:
        (image,) = drawn(matrix.PLOT, usual).axes[0].images
        np.testing.assert_array_equal(image.get_array().mask, np.eye(8, dtype=bool))

    def test_without_traffic_there_is_no_scale(self, folders: dict[str, Results]) -> None:
        figure = drawn(matrix.PLOT, folders["no traffic"])
        assert not any(text.startswith("from one rank") for text in texts(figure))
        assert matrix.finding(folders["no traffic"]) == "No embeddings travel between ranks."

    def test_findings(self, usual: Results, tmp_path: Path) -> None:
        sent = matrix.embedding_matrix(usual, "flexshard").sum(axis=1)
        assert f"under flexshard {sent.max() / sent.mean():.2f}x." in matrix.finding(usual)
        alone = read_results(write_folder(tmp_path, policies=("row_wise",)))
        assert matrix.finding(alone).startswith("Under row_wise the busiest rank sends 1.63x the mean.")


class TestLinks:
    def test_profiles_fall_from_the_busiest(self, usual: Results) -> None:
        profile = links.sorted_utilisation(usual, "row_wise", "nic")
        assert len(profile) == 16
        assert (np.diff(profile) <= 0).all()
        (patch,) = drawn(links.PLOT, usual).axes[1].patches
        np.testing.assert_array_equal(patch.get_data().values, profile)

    def test_many_links_share_steps_that_the_busiest_sets(self, folders: dict[str, Results]) -> None:
        results = folders["1,024 ranks"]
        profile = links.sorted_utilisation(results, "row_wise", "nic")
        data = drawn(links.PLOT, results).axes[1].patches[0].get_data()
        np.testing.assert_array_equal(data.values, profile[::16])
        np.testing.assert_allclose(data.edges, np.arange(129) / 128)

    def test_a_panel_for_each_policy_and_kind(self, usual: Results) -> None:
        figure = drawn(links.PLOT, usual)
        assert len(figure.axes) == 3 * 2
        assert [ax.get_xlabel() for ax in figure.axes[-2:]] == [
            "scale-up ports, busiest first",
            "NIC ports, busiest first",
        ]

    def test_findings(self, usual: Results, folders: dict[str, Results]) -> None:
        assert links.finding(usual) == (
            "The busiest link is nic/6/ingress under table_wise: busy at its full rate for 99.0 % "
            "of the communication time."
        )
        assert links.finding(folders["no traffic"]) == "No link carries a byte."

    def test_a_cluster_without_links(self, tmp_path: Path) -> None:
        write_folder(tmp_path, policies=("row_wise",), island_sizes=(1,), traffic=False)
        (tmp_path / "links.csv").write_text("\n")
        results = read_results(tmp_path)
        assert links.finding(results) == "No link carries a byte."
        assert any("one GPU" in text for text in texts(drawn(links.PLOT, results)))


class TestStyle:
    def test_steps_and_tiers_are_told_apart(self) -> None:
        steps = ("ids_gather", "ids", "embeddings", "embeddings_spread", "gradients_gather", "gradients")
        phases = [(step, tier) for step in steps for tier in ("island", "group", "global")]
        phases += [("replica_sync", tier) for tier in ("replicated", "island", "group")]
        phases.append(("dense_sync", ""))
        assert len({shade(*phase) for phase in phases}) == len(phases)
        assert {shade(*phase).upper() for phase in phases} >= {*SYNC_COLOURS.values()}

    def test_no_date_and_no_version_in_the_files(self, usual: Results, tmp_path: Path) -> None:
        with house_style():
            save(memory.PLOT.draw(usual), tmp_path / "memory")
        text = (tmp_path / "memory.svg").read_text()
        assert "<dc:date>" not in text
        assert matplotlib.__version__ not in text
        assert b"Matplotlib" not in (tmp_path / "memory.png").read_bytes()

    def test_a_users_settings_change_nothing_and_stay(self, usual: Results, tmp_path: Path) -> None:
        with house_style():
            save(memory.PLOT.draw(usual), tmp_path / "plain")
        with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "svg.fonttype": "none"}):
            with house_style():
                save(memory.PLOT.draw(usual), tmp_path / "changed")
            assert matplotlib.rcParams["font.size"] == 30
        assert (tmp_path / "plain.svg").read_bytes() == (tmp_path / "changed.svg").read_bytes()

    def test_a_dot_in_a_files_name_stays(self, usual: Results, tmp_path: Path) -> None:
        with house_style():
            save(memory.PLOT.draw(usual), tmp_path / "memory")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.png", "memory.svg"]

    def test_a_name_in_another_script_is_no_warning(self, tmp_path: Path) -> None:
        results = read_results(write_folder(tmp_path, policies=("行", "flexshard")))
        assert "行 (baseline)" in texts(drawn(memory.PLOT, results))

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("row_wise", "row_wise"), ("x" * 10, "x" * 10), ("abcdefghijklmno", "abcdef…mno")],
    )
    def test_long_names_keep_both_ends(self, name: str, expected: str) -> None:
        assert shortened(name, 10) == expected

    def test_the_baseline_is_marked_within_the_same_length(self) -> None:
        assert policy_title("row_wise", "row_wise") == "row_wise (baseline)"
        assert policy_title("row_wise", "other") == "row_wise"
        assert len(policy_title("x" * 80, "x" * 80, 30)) == 30
