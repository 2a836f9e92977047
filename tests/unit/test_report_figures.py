"""What plotly.js is given equals the CSV files: numbers of the interactive pictures, read without a browser."""

from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from html_page import Page
from results_folder import write_folder

from simulator.report.build import build_report
from simulator.report.folder import Results, read_results
from simulator.report.plots import latency, links, made_of, matrix, memory, popularity, timeline, traffic
from simulator.report.plots.catalogue import PLOTS, plots_of
from simulator.report.plots.style import SYNC_COLOURS, TIER_COLOURS, house_style

POLICIES = ("row_wise", "table_wise", "flexshard")
SIX_DIGITS = 1e-5


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_results(write_folder(tmp_path_factory.mktemp("results"), policies=POLICIES))


def channels(colour: str) -> list[int]:
    """Red, green and blue of "#RRGGBB"."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def total(figure: dict) -> float:
    """All bars' lengths."""
    return sum(sum(trace["x"]) for trace in figure["data"])


def test_traffic_is_that_of_the_summary(results: Results) -> None:
    (view,) = traffic.PLOT.views(results)
    moved = sum(row["inter_island_bytes"] + row["intra_island_bytes"] for row in results.summary["policies"])
    assert total(view.figure) * 1e9 == pytest.approx(moved, rel=SIX_DIGITS)


def test_latency_is_that_of_the_phases(results: Results) -> None:
    (view,) = latency.PLOT.views(results)
    means = results.phases.groupby(["policy", "phase"])[["mean_wait_s", "transfer_s"]].mean()
    waits = [trace for trace in view.figure["data"] if trace["name"] == latency.WAITING]
    assert sum(sum(trace["x"]) for trace in waits) / 1e3 == pytest.approx(
        means["mean_wait_s"].sum(), rel=SIX_DIGITS
    )
    assert total(view.figure) / 1e3 == pytest.approx(means.to_numpy().sum(), rel=SIX_DIGITS)


def test_memory_is_that_of_the_file(results: Results) -> None:
    (view,) = memory.PLOT.views(results)
    assert total(view.figure) * 1e9 == pytest.approx(results.memory["bytes"].sum(), rel=SIX_DIGITS)
    assert view.figure["layout"]["shapes"][0]["x0"] == 1.5


def test_the_matrix_is_that_of_the_files(results: Results) -> None:
    views = matrix.PLOT.views(results)
    assert [view.label for view in views] == list(POLICIES)
    for view in views:
        cells = matrix.embedding_matrix(results, view.label)
        (trace,) = view.figure["data"]
        shown = np.array([[value or 0 for value in row] for row in trace["z"]])
        np.testing.assert_allclose(shown, cells, rtol=5e-3)
        assert (trace["x0"], trace["dx"]) == (0, 1)
        assert view.figure["layout"]["xaxis"]["dtick"] == 1  # no rank is a half


def test_a_large_matrix_is_averaged_in_blocks(tmp_path: Path) -> None:
    results = read_results(write_folder(tmp_path, policies=("row_wise",), island_sizes=(8,) * 20))
    (view,) = matrix.PLOT.views(results)
    (trace,) = view.figure["data"]
    assert len(trace["z"]) == len(trace["z"][0]) == 54  # blocks of 3
    assert (trace["x0"], trace["dx"]) == (1, 3)
    assert "mean of a block" in trace["hovertemplate"]
    assert trace["z"][0][0] == pytest.approx(
        matrix.embedding_matrix(results, "row_wise")[:3, :3].mean(), rel=5e-3
    )


def test_links_are_those_of_the_file(results: Results) -> None:
    scale_up, nic = links.PLOT.views(results)
    assert (scale_up.label, nic.label) == ("scale-up ports", "NIC ports")
    for policy, trace in zip(POLICIES, nic.figure["data"], strict=True):
        own = results.links[(results.links["policy"] == policy) & (results.links["kind"] == "nic")]
        shown = dict(zip(trace["customdata"], trace["y"], strict=True))
        assert shown == pytest.approx(
            dict(zip(own["resource"], own["utilisation"], strict=True)), rel=SIX_DIGITS
        )
        assert trace["y"] == sorted(trace["y"], reverse=True)


def test_popularity_is_that_of_the_file(results: Results) -> None:
    view = popularity.PLOT.views(results)[0]
    curve = popularity.curves(results, "flexshard")[0]
    (whole,) = [
        trace for trace in view.figure["data"] if trace["meta"] == curve.label and "dash" in trace["line"]
    ]
    own = results.popularity[results.popularity["table"] == curve.tables[0]]
    np.testing.assert_allclose(whole["x"], own["rows"], rtol=SIX_DIGITS)
    np.testing.assert_allclose(whole["y"], own["cumulative_share"], rtol=SIX_DIGITS)


def test_of_many_curves_some_are_shown(tmp_path: Path) -> None:
    tables = tuple(f"{letter}_table" for letter in "abcdefghijklmnopqrstuvwxyz")
    results = read_results(write_folder(tmp_path, tables=tables))
    view = popularity.PLOT.views(results)[0]
    assert len({trace["meta"] for trace in view.figure["data"]}) == popularity.MOST_CURVES


class TestTimeline:
    def test_bars_are_the_files_slices(self, results: Results) -> None:
        for view in timeline.PLOT.views(results):
            lanes = results.timeline(view.label)
            waits = [trace for trace in view.figure["data"] if trace["name"] == timeline.WAITING]
            waiting_ms = 1e3 * (lanes["start_s"] - lanes["enter_s"]).sum()
            working_ms = 1e3 * (lanes["end_s"] - lanes["start_s"]).sum()
            assert sum(sum(trace["x"]) for trace in waits) == pytest.approx(waiting_ms, rel=SIX_DIGITS)
            assert total(view.figure) == pytest.approx(waiting_ms + working_ms, rel=SIX_DIGITS)

    def test_a_row_for_each_lane(self, results: Results) -> None:
        axis = timeline.PLOT.views(results)[0].figure["layout"]["yaxis"]
        assert axis["ticktext"] == [
            "rank 0 slowest",
            "rank 3 fastest",
            "rank 4 slowest",
            "rank 7 fastest",
        ]

    def test_islands_are_parted(self, results: Results) -> None:
        (line,) = timeline.PLOT.views(results)[0].figure["layout"]["shapes"]
        assert line["y0"] == line["y1"] == 1.5

    def test_a_phase_has_one_colour_under_all_policies(self, results: Results) -> None:
        colours: dict[str, set[str]] = {}
        for view in timeline.PLOT.views(results):
            for trace in view.figure["data"]:
                if trace["name"] != timeline.WAITING:
                    colours.setdefault(trace["name"], set()).add(trace["marker"]["color"])
        assert all(len(found) == 1 for found in colours.values())
        assert len({min(found) for found in colours.values()}) == len(colours)

    def test_a_phase_has_the_hue_that_its_tier_has_elsewhere(self, results: Results) -> None:
        colour_of = timeline.colours(results)
        assert colour_of["embeddings_global"] == TIER_COLOURS["global"]
        assert colour_of["embeddings_island"] == TIER_COLOURS["island"]
        assert colour_of["replica_sync_replicated"] == SYNC_COLOURS["replica_sync"]
        for tier in ("global", "island"):
            red, green, blue = (channels(TIER_COLOURS[tier])[at] for at in range(3))
            for step in ("ids", "gradients"):
                shaded = channels(colour_of[f"{step}_{tier}"])
                assert shaded[0] * green == pytest.approx(shaded[1] * red, abs=256)
                assert shaded[1] * blue == pytest.approx(shaded[2] * green, abs=256)

    def test_streams_that_overlap_share_the_lanes_height(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, policies=("row_wise",))
        path = folder / "timeline_row_wise.csv"
        path.write_text(path.read_text() + "0,0,slowest,compute,compute,early,0,0,0.05\n")
        (view,) = timeline.PLOT.views(read_results(folder))
        assert {width for trace in view.figure["data"] for width in trace["width"]} == {0.4}

    def test_streams_in_turn_do_not(self, results: Results) -> None:
        view = timeline.PLOT.views(results)[0]
        assert {width for trace in view.figure["data"] for width in trace["width"]} == {0.8}

    def test_the_finding_names_the_ends(self, results: Results) -> None:
        said = timeline.PLOT.finding(results)
        assert said.startswith(
            "Under flexshard rank 0 moves bytes longest, 110 ms; rank 7 shortest, 110 ms, and waits"
        )

    def test_without_traffic(self, tmp_path: Path) -> None:
        results = read_results(write_folder(tmp_path, traffic=False))
        assert timeline.PLOT.finding(results) == "Under row_wise no rank moves a byte."


class TestMadeOf:
    def test_parts_are_those_of_the_explanation(self, results: Results) -> None:
        (view,) = made_of.PLOT.views(results)
        communication_s = sum(results.explanation(policy).anatomy.communication_s for policy in POLICIES)
        assert total(view.figure) / 1e3 == pytest.approx(communication_s, rel=SIX_DIGITS)
        assert [trace["name"] for trace in view.figure["data"]] == ["evenly spread bytes", "start-up"]

    def test_the_finding_tells_the_distance_from_the_bound(self, results: Results) -> None:
        said = made_of.PLOT.finding(results)
        assert said.startswith("flexshard takes 1.11x the time of its port bound, ")
        assert "most of the rest is start-up, 1" in said


def test_a_folder_of_an_older_version_has_a_page_without_the_first_iteration(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "timeline_flexshard.csv").unlink()
    results = read_results(folder)
    assert [plot.name for plot in plots_of(results)] == [
        plot.name for plot in PLOTS if not plot.needs_first_iteration
    ]
    build_report(folder)
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert "Timeline of the first iteration" not in page.text("h2")
    assert "Comparison" in page.text("h2")


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_every_figure_is_plain_data_of_moderate_size(results: Results, plot) -> None:
    for view in plot.views(results):
        assert set(view.figure) == {"data", "layout"}
        assert view.figure["layout"]["height"] < 2000


class TestWhereTheListBegins:
    """The view that is shown first is the one that the sentence names."""

    @staticmethod
    def begun(folder: Path, name: str) -> str:
        page = Page(build_report(folder).read_text(encoding="utf-8"))
        at = [attributes["id"] for attributes in page.all("figure")].index(name)
        labels = [view["label"] for view in page.views[at]]
        chosen = ["selected" in attributes for attributes in page.all("option")]
        before = sum(len(views) for views in page.views[:at] if len(views) > 1)
        return labels[chosen[before : before + len(labels)].index(True)]

    def test_links_begin_with_the_kind_of_the_busiest(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, policies=POLICIES)
        assert "nic/" in links.PLOT.finding(read_results(folder))
        assert self.begun(folder, "links") == "NIC ports"

    def test_ranks_begin_with_the_policy_that_is_named_first(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, policies=("table_wise", "flexshard", "row_wise"))
        for plot in (timeline.PLOT, matrix.PLOT):
            begun = self.begun(folder, plot.name)
            assert plot.finding(read_results(folder)).startswith(f"Under {begun} ")


def test_a_page_elsewhere_links_to_the_timelines_where_they_are(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a run", policies=("row_wise",))
    other = tmp_path / "pages"
    other.mkdir()
    for page in (build_report(folder), build_report(folder, other / "page.html")):
        text = Page(page.read_text(encoding="utf-8"))
        (address,) = [each["href"] for each in text.all("a") if "trace_" in str(each["href"])]
        assert (page.parent / unquote(str(address))).resolve() == folder / "trace_row_wise.json"


def test_a_long_legend_leaves_the_timelines_labels_apart(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, policies=("row_wise", *(f"flexshard {place}" for place in range(6))))
    with (folder / "timeline_row_wise.csv").open("a") as file:
        file.writelines(f"0,0,slowest,compute,compute,dense {place},0,0,0.05\n" for place in range(30))
    with house_style():
        figure = timeline.draw(read_results(folder))
        figure.draw_without_rendering()
    for ax in figure.axes:
        boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
        assert all(lower.y1 < upper.y0 for lower, upper in pairwise(boxes))
