"""The page of a sweep: its numbers are the CSV's, what is cut is said, and failed points are told with their error."""

import json
from pathlib import Path

import pytest
from html_page import Page

from simulator.errors import UserError
from simulator.sweeps.csv_file import read_rows, write_rows
from simulator.sweeps.page import MOST_ROWS
from simulator.sweeps.plot import MOST_DOTS, MOST_PLACES, evenly, medians, varied_keys
from simulator.sweeps.rows import FIGURES, MEMORY, Row, columns
from simulator.sweeps.run import build_page

NIC, SKEW, SHAPE = "topology.scale_out.nic_bandwidth", "workload.tables.items.popularity.s", "topology.fabric"
HOSTILE = '</script><b>"&amp;%{x}'
POLICIES = ("row_wise", "tiers")


def row(number: int, policy: str, nic: str, skew: str, **more: str) -> Row:
    """A point's row; every figure is told apart by the point's number."""
    figures = {name: str(number + place + 1) for place, name in enumerate(FIGURES[:-1])}
    times = {name: f"{(number + 1) / 1000:.12g}" for name in figures if name.endswith("_s")}
    inputs = {"topology": "four", "workload": "load", "world_size": "4", "iterations": "1", "seed": "0"}
    return {
        **{NIC: nic, SKEW: skew, "policy": policy, "engine": "bound", **inputs, **figures, **times},
        **{"bottleneck": f"nic/{number}/egress", "key": f"{number:064x}", **more},
    }


def grid(skews: int = 4) -> list[Row]:
    """Points of two bandwidths, some skews and both policies."""
    settings = [
        (nic, f"{1 + 0.1 * skew:.12g}") for nic in ("100 Gbit/s", "200 Gbit/s") for skew in range(skews)
    ]
    pairs = [(policy, *setting) for setting in settings for policy in POLICIES]
    return [row(number, *pair) for number, pair in enumerate(pairs)]


def failed(number: int, error: str) -> Row:
    point = row(number, "tiers", "100 Gbit/s", "9", error=error)
    return {key: text for key, text in point.items() if key not in FIGURES}


def page_of(folder: Path, rows: list[Row], **options: str) -> Page:
    write_rows(folder / "sweep.csv", columns([NIC, SKEW]), rows)
    return Page(build_page(folder, **options).read_text(encoding="utf-8"))


class TestTable:
    def test_numbers_are_those_of_the_csv(self, tmp_path: Path) -> None:
        page = page_of(tmp_path, grid())
        _, rows = read_rows(tmp_path / "sweep.csv")
        shown = page.rows("All points")
        assert len(shown) == len(rows) == 16
        for cells, point in zip(shown, rows, strict=True):
            policy, nic, skew, *figures, bottleneck = cells
            assert (policy, bottleneck) == (point["policy"], point["bottleneck"])
            assert float(nic) == float(point[NIC].split()[0])
            assert float(skew) == float(point[SKEW])
            assert sorted(map(float, figures)) == sorted(float(point[name]) for name in FIGURES[:-1])

    def test_what_all_points_share_has_no_column(self, tmp_path: Path) -> None:
        assert "engine" not in page_of(tmp_path, grid()).text("button")
        two = [*grid(), row(99, "tiers", "100 Gbit/s", "1", engine="fluid")]
        assert "engine" in page_of(tmp_path, two).text("button")

    def test_the_best_of_each_policy_stands_first(self, tmp_path: Path) -> None:
        best = page_of(tmp_path, grid()).rows("Each policy's quickest")
        assert [cells[:3] for cells in best] == [["row_wise", "100.0", "1.0"], ["tiers", "100.0", "1.0"]]

    def test_of_too_many_points_the_quickest_are_shown_and_it_is_said(self, tmp_path: Path) -> None:
        page = page_of(tmp_path, grid(skews=300)[::-1])
        shown = page.rows("All points")
        assert len(shown) == MOST_ROWS
        assert [cells[-1] for cells in shown[:2]] == ["nic/0/egress", "nic/1/egress"]
        said = "The 1,000 points of 1,200 with least communication are shown; sweep.csv has all."
        assert said in page.text("p")

    def test_a_key_that_some_points_lack(self, tmp_path: Path) -> None:
        rows = grid()
        del rows[0][SKEW]
        assert page_of(tmp_path, rows).rows("All points")[0][:3] == ["row_wise", "100.0", ""]


class TestFailed:
    def test_errors_are_counted_and_points_told(self, tmp_path: Path) -> None:
        rows = [*grid(), failed(90, "it does not fit"), failed(91, "no memory"), failed(92, "no memory")]
        page = page_of(tmp_path, rows)
        assert page.rows("Errors") == [["no memory", "2"], ["it does not fit", "1"]]
        assert [cells[-1] for cells in page.rows("Points without an answer")] == [
            "it does not fit",
            "no memory",
            "no memory",
        ]
        assert len(page.rows("All points")) == 16
        assert "(19 points, 3 failed)" in page.text("p")

    def test_a_sweep_without_an_answer(self, tmp_path: Path) -> None:
        page = page_of(tmp_path, [failed(0, "no memory")])
        assert "1 points, 1 failed: there is nothing to compare." in page.text("p")
        assert page.views == []

    def test_without_failures_nothing_is_said_of_them(self, tmp_path: Path) -> None:
        assert "Failed points" not in page_of(tmp_path, grid()).text("h2")


class TestPictures:
    def test_one_for_each_key_with_most_numbers_first(self, tmp_path: Path) -> None:
        page = page_of(tmp_path, grid())
        titles = [views[0]["figure"]["layout"]["xaxis"]["title"]["text"] for views in page.views]
        assert titles == ["s", "nic_bandwidth, Gbit/s"]

    def test_the_key_asked_for_comes_first(self, tmp_path: Path) -> None:
        figure = page_of(tmp_path, grid(), x=NIC).figure()
        assert figure["layout"]["xaxis"]["title"]["text"] == "nic_bandwidth, Gbit/s"

    def test_a_view_for_each_figure_the_chosen_first(self, tmp_path: Path) -> None:
        usual = [view["label"] for view in page_of(tmp_path, grid()).views[0]]
        assert usual == ["communication", "iteration", "bytes on NICs", "memory of the fullest GPU"]
        chosen = page_of(tmp_path, grid(), y="bound_s")
        assert [view["label"] for view in chosen.views[0]] == ["bound", *usual]

    def test_dots_are_the_points_and_lines_their_medians(self, tmp_path: Path) -> None:
        figure = page_of(tmp_path, grid(), x=NIC).figure()
        own = [point for point in grid() if point["policy"] == "tiers"]
        line, dots = [trace for trace in figure["data"] if trace["name"] == "tiers"]
        assert line["x"] == [100.0, 200.0]
        times_ms = [1e3 * float(point["communication_s"]) for point in own]
        assert dots["y"] == pytest.approx(times_ms)
        assert line["y"] == pytest.approx([sum(part) / 4 for part in (times_ms[:4], times_ms[4:])])
        assert dots["customdata"][0] == "nic_bandwidth=100 Gbit/s, s=1"

    def test_values_that_are_no_numbers_stand_in_turn(self, tmp_path: Path) -> None:
        rows = [point | {SHAPE: shape} for point, shape in zip(grid(), "ab" * 8, strict=True)]
        write_rows(tmp_path / "sweep.csv", columns([NIC, SKEW, SHAPE]), rows)
        page = Page(build_page(tmp_path, x=SHAPE).read_text())
        axis = page.figure()["layout"]["xaxis"]
        assert (axis["tickvals"], axis["ticktext"]) == ([0.0, 1.0], ["a", "b"])

    def test_seeds_that_vary_are_a_key(self, tmp_path: Path) -> None:
        rows = [point | {"seed": str(place % 2)} for place, point in enumerate(grid())]
        assert varied_keys(rows) == [NIC, SKEW, "seed"]
        assert len(page_of(tmp_path, rows).views) == 3

    def test_nothing_varied_has_no_picture(self, tmp_path: Path) -> None:
        rows = [{key: text for key, text in point.items() if key not in (NIC, SKEW)} for point in grid()[:2]]
        write_rows(tmp_path / "sweep.csv", columns([]), rows)
        assert Page(build_page(tmp_path).read_text()).views == []

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"x": "nic"}, "'nic' was not varied, allowed: "), ({"y": "speed"}, "'speed' is no figure to draw")],
    )
    def test_what_cannot_be_drawn(self, tmp_path: Path, options: dict, message: str) -> None:
        with pytest.raises(UserError, match=message):
            page_of(tmp_path, grid(), **options)

    def test_many_points_are_few_dots(self, tmp_path: Path) -> None:
        figure = page_of(tmp_path, grid(skews=700)).figure()
        dots = sum(len(trace["x"]) for trace in figure["data"] if trace["mode"] == "markers")
        assert 0.9 * MOST_DOTS <= dots <= 1.01 * MOST_DOTS
        assert all(len(trace["x"]) <= MOST_PLACES for trace in figure["data"] if trace["mode"] == "lines")


class TestLines:
    def test_few_places_are_exact(self) -> None:
        assert medians([2.0, 1.0, 2.0, 2.0], [9.0, 5.0, 1.0, 3.0]) == {1.0: 5.0, 2.0: 3.0}

    def test_many_places_are_neighbourhoods(self) -> None:
        places = [float(place) for place in range(480)]
        line = medians(places[::-1], [2 * place for place in places[::-1]])
        assert len(line) == MOST_PLACES
        assert list(line) == sorted(line)
        assert all(height == 2 * place for place, height in line.items())
        assert next(iter(line)) == 4.5

    @pytest.mark.parametrize(("count", "expected"), [(0, 0), (1, 1), (10, 10), (11, 6), (1000, 10)])
    def test_dots_at_even_steps(self, count: int, expected: int) -> None:
        assert len(evenly(count, 10)) == expected


class TestPage:
    def test_of_a_csv_that_lies_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "joined.csv"
        write_rows(path, columns([NIC, SKEW]), grid())
        assert build_page(path) == tmp_path / "joined.html"
        assert "joined" in Page((tmp_path / "joined.html").read_text()).text("h1")

    def test_its_manifest_is_shown(self, tmp_path: Path) -> None:
        manifest = {"name": "mine", "sweep": {"engine": "bound"}, "versions": {"numpy": "2"}}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        page = page_of(tmp_path, grid())
        assert page.text("h1") == "mine"
        assert "engine: bound" in page.text("pre")
        assert "versions: numpy" in page.text("dt")

    def test_a_manifest_of_something_else_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "manifest.json").write_text('{"name": "a run"}')
        assert page_of(tmp_path, grid()).text("h1") == "sweep"

    def test_no_points_yet(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"sweep\.csv: has no points yet"):
            page_of(tmp_path, [])

    def test_a_csv_of_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "sweep.csv").write_text("a,b\n1,2\n")
        with pytest.raises(UserError, match="is no CSV of a sweep"):
            build_page(tmp_path)

    def test_the_same_bytes_each_time(self, tmp_path: Path) -> None:
        page_of(tmp_path, grid())
        first = (tmp_path / "report.html").read_bytes()
        page_of(tmp_path, grid())
        assert (tmp_path / "report.html").read_bytes() == first

    def test_the_headline_is_of_the_fluid_engine_where_it_was_used(self, tmp_path: Path) -> None:
        rows = [*grid(), row(99, "tiers", "100 Gbit/s", "1", engine="fluid")]
        assert "tiers communicates quickest: 100 ms an iteration with the fluid" in page_of(
            tmp_path, rows
        ).text("p")

    def test_values_are_listed(self, tmp_path: Path) -> None:
        page = page_of(tmp_path, grid(skews=20))
        assert NIC in page.text("dt")
        assert "100 Gbit/s, 200 Gbit/s (2 values)" in page.text("dd")
        assert "1, 1.1, 1.2, 1.3, 1.4, ... 2.9 (20 values)" in page.text("dd")

    def test_what_a_user_named_stays_text(self, tmp_path: Path) -> None:
        rows = [
            *(row(number, HOSTILE, "100 Gbit/s", str(number), topology=HOSTILE) for number in (1, 2)),
            failed(3, HOSTILE),
        ]
        page = page_of(tmp_path, rows)
        assert len(page.scripts) == 1
        assert page.open == []
        assert page.rows("Errors") == [[HOSTILE, "1"]]
        figure = page.figure()
        assert figure["data"][0]["meta"] == '&lt;/script&gt;&lt;b&gt;"&amp;amp;%{x}'
        assert all("%{meta}" in trace["hovertemplate"] for trace in figure["data"])
        assert all("script" not in trace["hovertemplate"] for trace in figure["data"])

    def test_memory_has_its_own_unit(self, tmp_path: Path) -> None:
        rows = [point | {MEMORY: str(8e10)} for point in grid()]
        figure = page_of(tmp_path, rows).figure(view=3)
        assert figure["layout"]["yaxis"]["title"]["text"] == "memory of the fullest GPU, GB"


def test_a_policy_has_one_colour_in_all_pictures_although_some_lack_others(tmp_path: Path) -> None:
    """Over the bandwidth only the second policy has points: it keeps the second colour there."""
    rows = grid()
    for point in rows:
        if point["policy"] == POLICIES[0]:
            del point[NIC]
    page = page_of(tmp_path, rows)
    found: dict[str, set[str]] = {policy: set() for policy in POLICIES}
    for views in page.views:
        for trace in views[0]["figure"]["data"]:
            found[trace["name"]].add(trace.get("line", trace.get("marker"))["color"])
    assert [len(colours) for colours in found.values()] == [1, 1]
    assert len(set().union(*found.values())) == 2
