"""Fits to times that a known topology made: what was put in must come out."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from simulator.calibrate.fit import fit_terms, message_gap_s
from simulator.calibrate.measurement import Measurement, Operation
from simulator.calibrate.report import calibrate
from simulator.calibrate.terms import ScaleOutTerms, ScaleUpTerms, Terms, predict_s
from simulator.errors import UserError
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Startup

KIB, MIB = 1 << 10, 1 << 20
SIZES = tuple(64 * KIB << step for step in range(0, 14, 2))
TRUE = Terms(Startup(8e-6, 5e-9), ScaleUpTerms(300e9, 200e9, 1e-6), ScaleOutTerms(40e9, 2.5e-6, 2e-6))


def made(
    terms: Terms = TRUE,
    *,
    nodes: int,
    ranks: int,
    sizes: Iterable[int] = SIZES,
    operation: Operation = "all_to_all",
) -> list[Measurement]:
    """Times as the simulator has them."""
    topology = terms.topology(nodes=nodes, ranks=ranks)
    empty = [Measurement("made", operation, nodes, ranks, size, 1.0) for size in sizes]
    return [
        Measurement(m.device, m.operation, m.nodes, m.ranks, m.bytes, predict_s(topology, m)) for m in empty
    ]


def assert_alike(found: Terms, expected: Terms) -> None:
    assert found.startup.alpha_s == pytest.approx(expected.startup.alpha_s, rel=1e-3)
    assert found.startup.gamma_s_per_sqrt_byte == pytest.approx(
        expected.startup.gamma_s_per_sqrt_byte, rel=1e-3
    )
    for mine, theirs in ((found.scale_up, expected.scale_up), (found.scale_out, expected.scale_out)):
        assert (mine is None) == (theirs is None)
        if mine and theirs:
            assert mine.bytes_per_s == pytest.approx(theirs.bytes_per_s, rel=1e-3)
            assert mine.latency_s == theirs.latency_s
    if found.scale_up and expected.scale_up:
        assert found.scale_up.pair_cap_bytes_per_s == pytest.approx(
            expected.scale_up.pair_cap_bytes_per_s, rel=1e-3
        )
    if found.scale_out and expected.scale_out:
        assert found.scale_out.message_gap_s == pytest.approx(expected.scale_out.message_gap_s, rel=1e-2)


def test_one_node_and_pairs_give_start_up_rate_and_cap() -> None:
    measured = [*made(nodes=1, ranks=8), *made(nodes=1, ranks=2)]
    assert_alike(fit_terms(measured), Terms(TRUE.startup, TRUE.scale_up, None))


def test_nodes_give_the_nics_rate_and_the_message_gap() -> None:
    measured = [*made(nodes=1, ranks=8), *made(nodes=1, ranks=2), *made(nodes=4, ranks=32)]
    assert_alike(fit_terms(measured), TRUE)


def test_nodes_alone_give_start_up_and_the_nics_rate() -> None:
    true = Terms(TRUE.startup, None, ScaleOutTerms(40e9, 0.0, 2e-6))
    assert_alike(fit_terms(made(true, nodes=4, ranks=32)), true)


def test_one_size_between_nodes_can_not_tell_a_gap_from_a_rate() -> None:
    terms = fit_terms([*made(nodes=1, ranks=8), *made(nodes=2, ranks=16, sizes=[64 * MIB])])
    assert terms.scale_out is not None
    assert terms.scale_out.message_gap_s == 0.0
    assert terms.scale_out.bytes_per_s == pytest.approx(40e9, rel=0.05)


@pytest.mark.parametrize("alpha_s", [0.0, 3e-6, 8e-6, 1.7e-5])
def test_a_term_that_is_not_there_comes_out_as_nought(alpha_s: float) -> None:
    true = Terms(Startup(alpha_s, 0.0), ScaleUpTerms(300e9, 200e9, 1e-6), None)
    found = fit_terms([*made(true, nodes=1, ranks=8), *made(true, nodes=1, ranks=2)])
    assert found.startup.gamma_s_per_sqrt_byte == 0.0
    assert (found.startup.alpha_s == 0.0) == (alpha_s == 0.0)
    assert found.startup.alpha_s == pytest.approx(alpha_s, rel=1e-3)


def test_two_ranks_alone_have_a_rate_and_no_cap() -> None:
    terms = fit_terms(made(nodes=1, ranks=2))
    assert terms.scale_up is not None
    assert terms.scale_up.bytes_per_s == pytest.approx(200e9, rel=1e-3)
    assert terms.scale_up.pair_cap_bytes_per_s is None


def test_without_pairs_there_is_no_cap() -> None:
    terms = fit_terms(made(nodes=1, ranks=8))
    assert terms.scale_up is not None
    assert terms.scale_up.pair_cap_bytes_per_s is None


def test_terms_that_would_be_negative_are_zero() -> None:
    """Times that grow faster than the bytes would want a negative square-root term."""
    measured = [Measurement("", "all_to_all", 1, 8, size, 1e-5 + 1e-17 * size**2) for size in SIZES]
    terms = fit_terms(measured)
    assert terms.startup.gamma_s_per_sqrt_byte == 0.0
    assert terms.scale_up is not None
    assert terms.scale_up.bytes_per_s > 0


def test_small_sizes_other_ranks_and_other_operations_do_not_disturb_the_fit() -> None:
    measured = made(nodes=1, ranks=8)
    noise = [
        Measurement("made", "all_to_all", 1, 8, 512, 1.0),
        Measurement("made", "all_to_all", 1, 4, 64 * KIB, 1.0),
        Measurement("made", "all_reduce", 1, 8, 64 * KIB, 1.0),
    ]
    assert fit_terms([*noise, *measured]) == fit_terms(measured)


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        ([], "calibrate: 0 sizes of an all-to-all of 65536 B and more, at least 3"),
        (made(nodes=1, ranks=8, sizes=SIZES[:2]), "calibrate: 2 sizes of an all-to-all"),
        (made(nodes=1, ranks=8, operation="all_reduce"), "calibrate: 0 sizes of an all-to-all"),
        (
            [Measurement("", "all_to_all", 1, 8, size, 1e-5) for size in SIZES],
            "calibrate: times do not grow with the bytes, so there is no bandwidth to fit",
        ),
    ],
)
def test_too_little_to_fit_is_a_users_error(measured: list[Measurement], text: str) -> None:
    with pytest.raises(UserError, match=text):
        fit_terms(measured)


def test_message_gap_is_what_is_left_for_each_message() -> None:
    measurement = Measurement("", "all_to_all", 8, 64, 8 * MIB, 337.8e-6)
    assert message_gap_s(337.8e-6, 225.8e-6, measurement) == pytest.approx(2e-6)  # 112 us over 56 messages
    assert message_gap_s(200e-6, 225.8e-6, measurement) == 0.0


def written(folder: Path, measured: Iterable[Measurement], name: str = "made.csv") -> Path:
    lines = ["device,op,nodes,ngpus,bytes,time_us"]
    lines += [f"{m.device},{m.operation},{m.nodes},{m.ranks},{m.bytes},{m.time_s * 1e6!r}" for m in measured]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_report_tells_fits_from_predictions(tmp_path: Path) -> None:
    first = written(tmp_path, [*made(nodes=1, ranks=8), *made(nodes=1, ranks=2)])
    second = written(
        tmp_path, [*made(nodes=1, ranks=4), *made(nodes=1, ranks=8, operation="all_gather")], "more.csv"
    )
    rows = calibrate([first, second]).table()
    assert [(row["op"], row["ranks"], row["role"], row["points"]) for row in rows] == [
        ("all_to_all", 8, "fit", 7),
        ("all_to_all", 8, "one size left out", 7),
        ("all_to_all", 2, "prediction", 4),  # 1 MiB and more, without the size that gave the cap
        ("all_to_all", 4, "prediction", 5),
        ("all_gather", 8, "prediction", 5),
    ]
    assert max(float(row["worst_error"]) for row in rows) < 1e-3
    assert {row["device"] for row in rows} == {"made"}


def test_errors_are_those_of_the_points(tmp_path: Path) -> None:
    measured = made(nodes=1, ranks=8)
    odd = measured[3]
    measured[3] = Measurement(odd.device, odd.operation, 1, 8, odd.bytes, odd.time_s * 1.2)
    (calibration,) = calibrate([written(tmp_path, measured)]).devices
    errors = [point.error for point in calibration.points if point.role == "fit"]
    assert calibration.mean_absolute_error("fit", ranks=8) == pytest.approx(sum(map(abs, errors)) / 7)
    assert min(errors) == errors[3] < -0.05


def test_the_fragment_is_a_topology_when_sizes_are_added(tmp_path: Path) -> None:
    measured = [*made(nodes=1, ranks=8), *made(nodes=1, ranks=2), *made(nodes=4, ranks=32)]
    report = calibrate([written(tmp_path, measured)])
    text = report.to_yaml()
    assert text.startswith("# made: what all-to-alls reached, so efficiency is 1; latency is assumed\n")
    assert "#   all_to_all, 8 ranks on 1 node, fit, 7 points: mean absolute error 0.0%" in text
    keys = yaml.safe_load(text)
    topology = build_topology(
        TopologySpec.model_validate({"name": "x", "islands": 4, "gpus_per_island": 8, **keys})
    )
    for measurement in made(nodes=4, ranks=32):
        assert predict_s(topology, measurement) == pytest.approx(measurement.time_s, rel=2e-3)


def test_each_device_has_its_own_document(tmp_path: Path) -> None:
    other = [
        Measurement("other", m.operation, m.nodes, m.ranks, m.bytes, 2 * m.time_s)
        for m in made(nodes=1, ranks=8)
    ]
    report = calibrate([written(tmp_path, [*made(nodes=1, ranks=8), *other])])
    assert [device.device for device in report.devices] == ["made", "other"]
    documents = list(yaml.safe_load_all(report.to_yaml()))
    assert [list(document) for document in documents] == [["scale_up"], ["scale_up"]]
    assert report.to_yaml().count("# other:") == 1


def test_no_files_and_empty_files_are_users_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="calibrate: no measurements"):
        calibrate([])
    with pytest.raises(UserError, match="at least 3 with the same ranks are needed"):
        calibrate([written(tmp_path, made(nodes=1, ranks=8, sizes=[MIB]))])
