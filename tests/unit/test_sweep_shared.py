"""Lines of a sweep's plots go through settings that all values share, so a point that failed bends none."""

import json
from itertools import product

import pytest

from simulator.sweeps.csv_file import write_rows
from simulator.sweeps.plot import sweep_picture
from simulator.sweeps.rows import FIGURES, columns
from simulator.sweeps.run import build_page
from simulator.sweeps.shared import shared_note, shared_rows

NIC, BATCH, MEMORY = "topology.nic_bandwidth", "workload.batch_per_rank", "policies.tiers.memory"
KEYS = [NIC, BATCH]


def row(policy, nic, batch, *, engine="bound", **more):
    figures = dict.fromkeys(FIGURES[:-1], "1") | {"communication_s": str(int(batch) / int(nic))}
    values = {NIC: nic, BATCH: batch, "policy": policy, "engine": engine}
    return values | figures | {"key": json.dumps([policy, nic, batch, engine, more])} | more


def grid(policies=("row_wise", "tiers")):
    return [row(*each) for each in product(policies, ("100", "200"), ("16", "64", "256"))]


def without(rows, *left_out):
    return [each for each in rows if (each["policy"], each[NIC], each[BATCH]) not in left_out]


def test_a_whole_grid_is_shared():
    assert shared_rows(grid(), NIC, KEYS) == grid()
    assert shared_note(grid(), NIC, KEYS) == ""


def test_the_setting_of_a_point_that_failed_is_left_out_everywhere():
    rows = without(grid(), ("tiers", "100", "256"))
    shared = shared_rows(rows, NIC, KEYS)
    assert {each[BATCH] for each in shared} == {"16", "64"}
    assert len(shared) == 8
    note = shared_note(rows, NIC, KEYS)
    assert note == "Lines compare 8 of 11 points: the settings that every value has."


def test_lines_do_not_bend_for_it():
    rows = without(grid(), ("tiers", "100", "256"))
    figure = sweep_picture(rows, NIC, "communication_s")
    ax = figure.axes[0]
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.lines if line.get_linestyle() == "-"}
    assert lines["tiers"] == lines["row_wise"]
    assert lines["tiers"][0] == pytest.approx(2 * lines["tiers"][1])
    assert "8 of 11 points" in figure.get_supxlabel()
    assert sum(len(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "None") == 11


def test_the_page_draws_and_says_the_same(tmp_path):
    rows = without(grid(), ("tiers", "100", "256"))
    write_rows(tmp_path / "sweep.csv", columns(KEYS), rows)
    assert "Lines compare 8 of 11 points" in build_page(tmp_path).read_text()


def test_a_value_at_which_a_policy_has_no_answer_is_a_gap_of_its_line_alone():
    rows = [each for each in grid() if (each["policy"], each[NIC]) != ("tiers", "100")]
    assert shared_rows(rows, NIC, KEYS) == rows


def test_a_variant_is_compared_when_its_policy_has_it_at_every_value():
    variants = [
        row("tiers", nic, "16", **{MEMORY: memory}) for nic in ("100", "200") for memory in ("1 GB", "2 GB")
    ]
    rows = [*without(grid(), *(("tiers", nic, "16") for nic in ("100", "200"))), *variants]
    assert shared_rows(rows, NIC, [*KEYS, MEMORY]) == rows
    left = [each for each in rows if each is not variants[0]]
    assert [each for each in left if each not in shared_rows(left, NIC, [*KEYS, MEMORY])] == [variants[2]]


def test_an_engine_that_computed_a_few_points_takes_nothing_from_the_other():
    rows = [*grid(), row("tiers", "100", "64", engine="fluid"), row("tiers", "200", "64", engine="fluid")]
    assert shared_rows(rows, NIC, KEYS) == rows
    assert shared_note(rows, NIC, KEYS) == ""


def test_where_nothing_is_shared_all_points_are_drawn_and_it_is_said():
    rows = [row("row_wise", "100", "17"), row("row_wise", "150", "80"), row("row_wise", "200", "99")]
    assert shared_rows(rows, NIC, KEYS) == rows
    assert shared_note(rows, NIC, KEYS).startswith("No setting is there at every value")
