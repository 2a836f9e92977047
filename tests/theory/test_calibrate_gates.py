"""The simulator against measured all-to-alls. Figures and sources: docs/calibration.md."""

import csv
import importlib
import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulator.calibrate.fit import message_gap_s
from simulator.calibrate.measurement import Measurement, Operation
from simulator.calibrate.read import read_log
from simulator.calibrate.report import Calibration, calibrate
from simulator.calibrate.terms import predict_s
from simulator.topology.topology import Topology

ROOT = Path(__file__).parents[2]
ONE_NODE = ROOT / "docs/data/nccl_all_to_all_one_node.csv"
MULTI_NODE = ROOT / "docs/data/nccl_all_to_all_multi_node.csv"
SHARED = ROOT.parent / "shared/data/ground_truth/nccl_tests_one_node.csv"
DEVICES = ("A100-SXM4-80GB", "H100-SXM")
sys.path.insert(0, str(ROOT))
BENCHMARK = importlib.import_module("benchmarks.calibration")
SHIPPED = BENCHMARK.DEVICE_OF
RINGS: tuple[Operation, ...] = ("all_reduce", "all_gather", "reduce_scatter")
MIB = 1 << 20


@cache
def calibration(path: Path, device: str) -> Calibration:
    (found,) = [each for each in calibrate([path]).devices if each.device == device]
    return found


def cited_or_shared(device: str, path: Path) -> Calibration:
    if not path.exists():
        pytest.skip("the full sweeps are not there")
    return calibration(path, device)


@pytest.mark.parametrize("path", [ONE_NODE, SHARED], ids=["cited", "full"])
@pytest.mark.parametrize("device", DEVICES)
def test_eight_gpus_in_sample(device: str, path: Path) -> None:
    found = cited_or_shared(device, path)
    sizes = {point.measurement.bytes for point in found.points if point.role == "fit"}
    assert (min(sizes), max(sizes), len(sizes)) == (64 * 1024, 512 * MIB, 14)
    assert found.mean_absolute_error("fit", ranks=8) <= 0.06


@pytest.mark.parametrize("path", [ONE_NODE, SHARED], ids=["cited", "full"])
@pytest.mark.parametrize("device", DEVICES)
def test_eight_gpus_leaving_one_size_out(device: str, path: Path) -> None:
    assert cited_or_shared(device, path).mean_absolute_error("one size left out", ranks=8) <= 0.08


@pytest.mark.parametrize("path", [ONE_NODE, SHARED], ids=["cited", "full"])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("device", DEVICES)
def test_fewer_gpus_are_predicted_from_eight(device: str, ranks: int, path: Path) -> None:
    found = cited_or_shared(device, path)
    sizes = {
        point.measurement.bytes
        for point in found.points
        if point.role == "prediction"
        and (point.measurement.operation, point.measurement.ranks) == ("all_to_all", ranks)
    }
    assert min(sizes) == MIB
    # with two GPUs the largest size gave the pair cap, so that it is no prediction
    assert max(sizes) == (512 if ranks == 4 else 256) * MIB
    assert found.mean_absolute_error("prediction", ranks=ranks) <= 0.06


@pytest.mark.parametrize("device", DEVICES)
def test_without_the_square_root_term_the_fit_misses_its_gate(device: str) -> None:
    """The term is needed: alpha + bytes / bandwidth alone is off by more than 8 %."""
    group = [m for m in read_log(ONE_NODE) if m.device == device and m.ranks == 8]
    times_s = np.array([m.time_s for m in group])
    columns = np.array([[1.0, m.bytes * 7 / 8] for m in group]) / times_s[:, None]
    solution = np.linalg.lstsq(columns, np.ones(len(group)))[0]
    assert np.abs(columns @ solution - 1.0).mean() > 0.08


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize(("name", "device"), SHIPPED.items())
def test_no_shipped_topology_contradicts_its_calibration(name: str, device: str, ranks: int) -> None:
    topology = BENCHMARK.shipped(name)
    measured = [m for m in read_log(ONE_NODE) if m.device == device and m.ranks == ranks]
    errors = [BENCHMARK.first_ranks_s(topology, m) / m.time_s - 1 for m in measured]
    assert np.abs(errors).mean() <= 0.06


@pytest.mark.parametrize(("name", "device"), SHIPPED.items())
def test_shipped_terms_are_the_fitted_ones_to_two_digits(name: str, device: str) -> None:
    topology, terms = BENCHMARK.shipped(name), calibration(ONE_NODE, device).terms
    assert terms.scale_up is not None
    routes = topology.routes([0], [1])
    startup = topology.scale_up_startup
    assert topology.scale_up_bytes_per_s[0] == pytest.approx(terms.scale_up.bytes_per_s, rel=0.01)
    assert routes.cap_bytes_per_s[0] == pytest.approx(terms.scale_up.pair_cap_bytes_per_s, rel=0.01)
    assert startup.alpha_s == pytest.approx(terms.startup.alpha_s, rel=0.01)
    assert startup.gamma_s_per_sqrt_byte == pytest.approx(terms.startup.gamma_s_per_sqrt_byte, rel=0.01)
    assert topology.scale_out_startup == startup


def between_nodes() -> list[tuple[Measurement, Topology]]:
    points: list[tuple[Measurement, Topology]] = BENCHMARK.points_between_nodes()
    return points


@pytest.mark.parametrize("point", range(3))
def test_published_points_between_nodes(point: int) -> None:
    measurement, topology = between_nodes()[point]
    assert abs(predict_s(topology, measurement) / measurement.time_s - 1) <= 0.12


def test_times_of_published_points_follow_from_their_bus_bandwidths() -> None:
    rows = [row for row in MULTI_NODE.read_text().splitlines() if not row.startswith("#")]
    for row in csv.DictReader(rows):
        ranks, busbw = int(row["ngpus"]), float(row["busbw_gbyte_per_s"]) * 1e9
        time_s = int(row["bytes"]) * (ranks - 1) / ranks / busbw
        assert float(row["time_us"]) * 1e-6 == pytest.approx(time_s, rel=1e-3)


def test_the_shipped_message_gap_is_what_the_latency_bound_point_needs() -> None:
    measurement, topology = between_nodes()[2]
    without = topology.with_(**{"scale_out.message_gap": "0 s"})
    without_s = predict_s(without, measurement)
    assert (
        without_s / measurement.time_s - 1 < -0.40
    )  # bandwidth and start-up alone explain little more than half
    gap_s = message_gap_s(measurement.time_s, without_s, measurement)
    assert gap_s == pytest.approx(2.6e-6, rel=0.03)
    assert topology.spec.scale_out is not None
    assert topology.spec.scale_out.message_gap == pytest.approx(gap_s, rel=0.03)


def test_bandwidth_bound_points_hardly_feel_the_message_gap() -> None:
    for measurement, topology in between_nodes()[:2]:
        without = topology.with_(**{"scale_out.message_gap": "0 s"})
        assert predict_s(topology, measurement) / predict_s(without, measurement) - 1 < 0.002


def test_a_role_without_points_has_no_error() -> None:
    assert math.isnan(calibration(ONE_NODE, DEVICES[0]).mean_absolute_error("fit", ranks=2))


@pytest.mark.parametrize(
    ("name", "rows_of"),
    [
        ("calibration_fit", "fit_rows"),
        ("calibration_shipped", "shipped_rows"),
        ("calibration_between_nodes", "between_nodes_rows"),
    ],
)
def test_the_page_and_its_tables_are_what_the_benchmark_computes(name: str, rows_of: str) -> None:
    computed = [[str(cell) for cell in row.values()] for row in getattr(BENCHMARK, rows_of)()]
    with (ROOT / f"docs/data/{name}.csv").open() as file:
        assert list(csv.reader(file))[1:] == computed
    page = (ROOT / "docs/calibration.md").read_text()
    for cells in computed:
        assert f"| {' | '.join(cells)} |" in page


def test_terms_on_the_page_are_the_fitted_ones() -> None:
    page = (ROOT / "docs/calibration.md").read_text()
    for device in DEVICES:
        terms = calibration(ONE_NODE, device).terms
        assert terms.scale_up is not None
        assert terms.scale_up.pair_cap_bytes_per_s is not None
        for value, unit in (
            (terms.scale_up.bytes_per_s / 1e9, "GB/s"),
            (terms.scale_up.pair_cap_bytes_per_s / 1e9, "GB/s"),
            (terms.startup.alpha_s * 1e6, "us"),
            (terms.startup.gamma_s_per_sqrt_byte * 1e9, "ns"),
        ):
            assert f"| {value:.4g} {unit} |" in page


def test_rings_are_as_far_off_as_the_page_says() -> None:
    if not SHARED.exists():
        pytest.skip("the full sweeps are not there")
    errors = [
        calibration(SHARED, device).mean_absolute_error("prediction", operation=operation, ranks=ranks)
        for device in DEVICES
        for operation in RINGS
        for ranks in (2, 4, 8)
    ]
    assert (round(min(errors), 2), round(max(errors), 2)) == (0.07, 0.25)


@pytest.mark.parametrize(
    ("device", "cap_bytes_per_s", "error"), [(DEVICES[0], 160e9, 0.12), (DEVICES[1], 275e9, 0.09)]
)
def test_caps_with_the_start_up_left_in_are_as_far_off_as_the_page_says(
    device: str, cap_bytes_per_s: float, error: float
) -> None:
    terms = calibration(ONE_NODE, device).terms
    assert terms.scale_up is not None
    lower = replace(terms, scale_up=replace(terms.scale_up, pair_cap_bytes_per_s=cap_bytes_per_s))
    topology = lower.topology(nodes=1, ranks=2)
    measured = [m for m in read_log(ONE_NODE) if (m.device, m.ranks) == (device, 2)]
    errors = [predict_s(topology, m) / m.time_s - 1 for m in measured]
    assert np.abs(errors).mean() == pytest.approx(error, abs=0.005)
