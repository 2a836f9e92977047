"""From files of measurements to terms, their errors, and a fragment of a topology."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from simulator.calibrate.fit import cap_points, fit_group, fit_terms, gap_group
from simulator.calibrate.fragment import fragment
from simulator.calibrate.measurement import Measurement, Operation
from simulator.calibrate.read import read_log
from simulator.calibrate.terms import Terms, predict_s
from simulator.errors import UserError

Role = Literal["fit", "one size left out", "prediction"]

_PREDICTED_FROM_BYTES = 1 << 20


@dataclass(frozen=True)
class Point:
    """One measured time beside what the simulator makes of it."""

    measurement: Measurement
    role: Role
    predicted_s: float

    @property
    def error(self) -> float:
        """Relative: 0.05 is 5 % too long."""
        return self.predicted_s / self.measurement.time_s - 1.0


@dataclass(frozen=True)
class Calibration:
    """One device: its terms, and every point that they were fitted to or tried on."""

    device: str
    terms: Terms
    points: tuple[Point, ...]

    def mean_absolute_error(
        self, role: Role, *, operation: Operation = "all_to_all", nodes: int = 1, ranks: int
    ) -> float:
        """Of the points of one role and kind; NaN without any."""
        errors = [
            abs(point.error)
            for point in self.points
            if point.role == role and _kind(point.measurement) == (operation, nodes, ranks)
        ]
        return float(np.mean(errors)) if errors else float("nan")


@dataclass(frozen=True)
class CalibrationReport:
    """All devices of the files, in the order in which they were found."""

    devices: tuple[Calibration, ...]

    def table(self) -> list[dict[str, str | int | float]]:
        """A row for each device, operation, number of ranks and role. Errors are relative."""
        rows: list[dict[str, str | int | float]] = []
        for calibration in self.devices:
            for (operation, nodes, ranks, role), points in _grouped(calibration.points).items():
                errors = np.abs([point.error for point in points])
                rows.append(
                    {
                        "device": calibration.device,
                        "op": operation,
                        "nodes": nodes,
                        "ranks": ranks,
                        "role": role,
                        "points": len(points),
                        "smallest_bytes": min(point.measurement.bytes for point in points),
                        "largest_bytes": max(point.measurement.bytes for point in points),
                        "mean_absolute_error": float(errors.mean()),
                        "worst_error": float(errors.max()),
                    }
                )
        return rows

    def to_yaml(self) -> str:
        """The fitted keys of a topology file, one document for each device."""
        return "---\n".join(
            fragment(
                calibration.device,
                calibration.terms,
                [_said(row) for row in self.table() if row["device"] == calibration.device],
            )
            for calibration in self.devices
        )


def calibrate(paths: Iterable[Path]) -> CalibrationReport:
    """Fit each device that the files name. UserError for files that can't be read or hold too little."""
    by_device: dict[str, list[Measurement]] = {}
    for path in paths:
        for measurement in read_log(path):
            by_device.setdefault(measurement.device, []).append(measurement)
    if not by_device:
        raise UserError("calibrate: no measurements")
    return CalibrationReport(tuple(_calibrate(device, found) for device, found in by_device.items()))


def _calibrate(device: str, measurements: Sequence[Measurement]) -> Calibration:
    terms = fit_terms(measurements)
    fitted = [*fit_group(measurements), *(gap_group(measurements) if terms.scale_up else [])]
    used = {*fitted, *cap_points(measurements)}
    others = [
        m
        for m in measurements
        if m not in used and m.bytes >= _PREDICTED_FROM_BYTES and (m.nodes == 1 or terms.scale_out)
    ]
    points = [
        *_points(terms, fitted, "fit"),
        *_left_out(measurements),
        *_points(terms, others, "prediction"),
    ]
    return Calibration(device, terms, tuple(points))


def _left_out(measurements: Sequence[Measurement]) -> list[Point]:
    """Each size of the fitted group, predicted from the other sizes."""
    group = fit_group(measurements)
    sizes = sorted({m.bytes for m in group})
    if len(sizes) <= 3:
        return []
    points = []
    for size in sizes:
        terms = fit_terms([m for m in measurements if m.bytes != size])
        points += _points(terms, [m for m in group if m.bytes == size], "one size left out")
    return points


def _points(terms: Terms, measurements: Sequence[Measurement], role: Role) -> list[Point]:
    predicted: dict[tuple[Operation, int, int, int], float] = {}
    for m in measurements:
        key = (*_kind(m), m.bytes)
        if key not in predicted:
            predicted[key] = predict_s(terms.topology(nodes=m.nodes, ranks=m.ranks), m)
    return [Point(m, role, predicted[(*_kind(m), m.bytes)]) for m in measurements]


def _said(row: Mapping[str, str | int | float]) -> str:
    """A row of the table in words."""
    nodes = "1 node" if row["nodes"] == 1 else f"{row['nodes']} nodes"
    return (
        f"{row['op']}, {row['ranks']} ranks on {nodes}, {row['role']}, {row['points']} points: "
        f"mean absolute error {row['mean_absolute_error']:.1%}, worst {row['worst_error']:.1%}"
    )


def _kind(measurement: Measurement) -> tuple[Operation, int, int]:
    return measurement.operation, measurement.nodes, measurement.ranks


def _grouped(points: Iterable[Point]) -> dict[tuple[Operation, int, int, Role], list[Point]]:
    groups: dict[tuple[Operation, int, int, Role], list[Point]] = {}
    for point in points:
        groups.setdefault((*_kind(point.measurement), point.role), []).append(point)
    return groups
