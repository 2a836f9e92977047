"""The sentence of a comparison: both traffic figures, both times, and never without assumptions."""

from typing import Any

import pytest

from simulator.report.headline import Headline, headline, sentence

ASSUMPTIONS = ("Synthetic skew.", "No other job on the cluster.")


def row(
    policy: str, *, a2a: float = 100, nic: float = 90, time: float = 10, without: float | None = None
) -> dict[str, Any]:
    return {
        "policy": policy,
        "global_all_to_all_bytes": a2a,
        "inter_island_bytes": nic,
        "communication_s": time,
        "communication_without_sync_s": time if without is None else without,
    }


def summary(*rows: dict[str, Any]) -> dict[str, Any]:
    """The first row is the baseline."""
    base = rows[0]["communication_s"]
    return {
        "baseline": rows[0]["policy"],
        "policies": [
            {
                **each,
                "communication_speedup": base / each["communication_s"] if each["communication_s"] else None,
            }
            for each in rows
        ],
    }


def test_two_traffic_figures_and_two_times() -> None:
    found = sentence(summary(row("row_wise"), row("flexshard", a2a=15, nic=27, time=2, without=1.6)))
    assert found == (
        "Against row_wise, flexshard cuts global all-to-all traffic by 85.0 % and cuts all traffic between islands, "
        "synchronisation included, by 70.0 %; its communication is 5.00x as fast (6.25x without synchronisation)."
    )


def test_the_fastest_policy_is_told() -> None:
    found = sentence(
        summary(row("row_wise"), row("hybrid", time=5), row("flexshard", time=4), row("table_wise", time=8))
    )
    assert found.startswith("Against row_wise, flexshard ")
    assert "2.50x as fast" in found


def test_the_baseline_need_not_come_first() -> None:
    data = summary(row("row_wise"), row("flexshard", time=5))
    data["policies"].reverse()
    assert sentence(data).startswith("Against row_wise, flexshard ")


def test_no_gain_is_said() -> None:
    """Uniform popularity: FlexShard gains nothing and says so."""
    found = sentence(summary(row("row_wise"), row("flexshard", time=10.01), row("table_wise", time=20)))
    assert found.startswith(
        "No policy communicates faster than row_wise here. Against row_wise, flexshard leaves "
    )
    assert "1.00x as fast" in found


def test_a_gain_that_is_none_in_all_digits_shown_is_no_gain() -> None:
    assert sentence(summary(row("row_wise", time=10.04), row("flexshard"))).startswith(
        "No policy communicates faster"
    )
    assert sentence(summary(row("row_wise", time=10.06), row("flexshard"))).startswith("Against row_wise")


def test_more_traffic_is_said() -> None:
    found = sentence(summary(row("row_wise"), row("flexshard", nic=108, time=5)))
    assert "leaves global all-to-all traffic as it is" in found
    assert "raises all traffic between islands, synchronisation included, by 20.0 %" in found


def test_nothing_under_a_ratio() -> None:
    one_island = summary(row("row_wise", a2a=0, nic=0), row("flexshard", a2a=0, nic=0, time=5))
    assert "compares with no global all-to-all traffic" in sentence(one_island)
    assert "nan" not in sentence(one_island).lower()


def test_traffic_where_there_was_none() -> None:
    found = sentence(summary(row("data_parallel", a2a=0), row("row_wise", a2a=50, time=5)))
    assert "adds global all-to-all traffic where there was none" in found


def test_no_time_without_synchronisation() -> None:
    found = sentence(summary(row("row_wise"), row("data_parallel", a2a=0, time=5, without=0)))
    assert "(n/a without synchronisation)" in found


def test_one_policy() -> None:
    assert sentence(summary(row("row_wise"))) == "Only row_wise was run: there is nothing to compare it with."


def test_one_gpu() -> None:
    silent = summary(row("row_wise", a2a=0, nic=0, time=0), row("flexshard", a2a=0, nic=0, time=0))
    assert sentence(silent) == "row_wise takes no time to communicate here: there is nothing to speed up."


def test_the_assumptions_come_along() -> None:
    assert headline(summary(row("row_wise")), ASSUMPTIONS).assumptions == ASSUMPTIONS


def test_there_is_no_headline_without_assumptions() -> None:
    with pytest.raises(ValueError, match="must come with its assumptions"):
        headline(summary(row("row_wise")), ())
    with pytest.raises(ValueError, match="must come with its assumptions"):
        Headline("Six times as fast.", ())
