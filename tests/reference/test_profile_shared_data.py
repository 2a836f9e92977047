"""Profiles of real traces and histograms, against the figures that were measured on them elsewhere.

The files are not part of the project; where they are absent these tests skip.
"""

from pathlib import Path

import pytest

from simulator.workload.profile import Profile, profile_locality, profile_trace
from simulator.workload.traces.source import Format, TraceSource

DATA = Path(__file__).parents[3] / "shared" / "data"
TRACES: dict[str, tuple[str, Format]] = {
    "kosarak": ("kosarak_part.dat", "sessions"),
    "beauty": ("bert4rec_beauty.txt", "user_item"),
    "wikipedia": ("sasrec_wikipedia.txt", "user_item"),
}
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the measured data are not here")
_known: dict[str, Profile] = {}


def profile(name: str) -> Profile:
    if name not in _known:
        file, format = TRACES[name]
        _known[name] = profile_trace(TraceSource(DATA / "sequences" / file, format))
    return _known[name]


@pytest.mark.parametrize(
    ("name", "shares", "exponent"),
    [
        ("kosarak", (0.297, 0.465, 0.781), 0.97),
        ("beauty", (0.041, 0.179, 0.541), 0.68),
        ("wikipedia", (0.012, 0.070, 0.278), 0.46),
    ],
)
def test_skew_of_the_traces(name: str, shares: tuple[float, ...], exponent: float) -> None:
    assert [round(share, 3) for share in profile(name).top_shares] == list(shares)
    assert round(profile(name).zipf.s, 2) == exponent


def test_sizes_of_the_traces() -> None:
    assert [(profile(name).lookups, profile(name).rows_touched) for name in TRACES] == [
        (294_022, 17_034),
        (353_962, 54_542),
        (157_474, 1_000),
    ]


def test_repeats_inside_a_sequence_of_wikipedia() -> None:
    lengths = profile("wikipedia").lengths
    assert lengths is not None
    assert lengths.lookups_per_distinct == pytest.approx(9.75, abs=0.005)
    assert lengths.repeat_share > 0.9


@pytest.mark.parametrize("name", ["kosarak", "beauty"])
def test_the_others_do_not_repeat(name: str) -> None:
    lengths = profile(name).lengths
    assert lengths is not None
    assert lengths.lookups_per_distinct == pytest.approx(1.0, abs=0.01)
    assert lengths.repeat_share == 0.0


def test_news_hardly_drift_and_edits_do() -> None:
    drifts = {name: profile(name).drift for name in TRACES}
    kept = {
        name: drift.achieved_shares[2] / drift.possible_shares[2] for name, drift in drifts.items() if drift
    }
    assert kept["kosarak"] > 0.95
    assert kept["wikipedia"] < 0.5


@pytest.mark.parametrize(
    ("year", "shares", "exponent"),
    [("2021", (0.30, 0.47, 0.70), 0.90), ("2022", (0.29, 0.47, 0.72), 0.90)],
)
def test_production_like_histograms(year: str, shares: tuple[float, ...], exponent: float) -> None:
    measured = profile_locality(DATA / "locality" / f"locality_stats_{year}.txt")
    assert [round(share, 2) for share in measured.top_shares] == list(shares)
    assert round(measured.zipf.s, 2) == exponent
