"""What is said under a comparison."""

from simulator.report.remarks import remarks


def row(policy, *, half_width=None, rates=(), wait=None):
    return {
        "policy": policy,
        "communication_s": 0.010,
        "longest_wait": wait,
        "spread": {"communication_s": {"mean": 0.010, "std": 0.001, "half_width": half_width}},
        "hit_rates": [
            {"tier": tier, "planned_share": planned, "achieved_share": achieved}
            for tier, planned, achieved in rates
        ],
    }


def test_the_widest_interval_is_told_and_named():
    summary = {"policies": [row("a", half_width=0.0001), row("b", half_width=0.0002)]}
    assert remarks(summary) == ["95 % intervals of communication: within ± 2.0 % (b)."]


def test_who_stayed_short_of_the_wanted_precision_is_told():
    rows = [
        row("a", half_width=0.0001) | {"iterations": 30},
        row("b", half_width=0.0002) | {"iterations": 200},
    ]
    assert remarks({"wanted_half_width": 0.015, "policies": rows})[1:] == [
        "b: communication is known within ± 2 % after 200 iterations, the `maximum`; wanted were ± 1.5 %."
    ]
    assert len(remarks({"wanted_half_width": 0.02, "policies": rows})) == 1
    assert len(remarks({"wanted_half_width": None, "policies": rows})) == 1


def test_one_iteration_has_no_interval_to_tell():
    assert remarks({"policies": [row("a")]}) == []


def test_only_hits_that_part_from_the_plan_are_told():
    rates = (("replicated", 0.8, 0.6), ("global", 0.2, 0.2001), ("island", 0.0, None))
    assert remarks({"policies": [row("a", rates=rates)]}) == [
        "a: replicated rows took 60.0 % of the lookups, planned were 80.0 %."
    ]


def test_waiting_is_told_when_it_is_most_of_the_communication():
    late = row("late", wait={"phase": "ids_global", "mean_s": 0.006})
    usual = row("usual", wait={"phase": "ids_global", "mean_s": 0.004})
    assert remarks({"policies": [late, usual, row("alone")]}) == [
        "late: ranks wait 6.00 ms on average for the last to come to ids_global, most of its communication; "
        "`shardsim explain` says for which."
    ]


def test_nobody_waits_where_nothing_is_sent():
    nothing = row("one_gpu", wait=None) | {"communication_s": 0.0}
    assert remarks({"policies": [nothing, nothing | {"longest_wait": {"phase": "a", "mean_s": 0.0}}]}) == []
