"""Fits the terms of a topology to measured all-to-alls.

Theory of operation. An even all-to-all of B bytes a rank takes

    alpha + latency + gamma * sqrt(S) + X / rate,        S = B (n - 1) / n

where X are the bytes on a rank's busiest port: S within one node, B times the share of ranks on other nodes
between nodes. The terms are linear in the unknowns, so they come from least squares on the relative error, none
of them negative. In this order:

    start-up, rate   all sizes of the measured group with most ranks on one node (else on the most nodes)
    pair cap         two ranks of one node, their largest size alone: cap = (B / 2) / (time - start-up)
    NIC rate, gap    between nodes, beyond the start-up: time = messages * gap + X / rate

The latency can't be told from alpha and is assumed. Where only one size is measured between nodes the gap is 0.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from simulator.arrays import FloatArray
from simulator.calibrate.measurement import Measurement
from simulator.calibrate.terms import ScaleOutTerms, ScaleUpTerms, Terms
from simulator.errors import UserError
from simulator.topology.topology import Startup

SMALLEST_BYTES = 65_536
"""Below this nccl-tests measures little but the launch, and jitter."""

_SCALE_UP_LATENCY_S = 1e-6
_SCALE_OUT_LATENCY_S = 2e-6
_FEWEST_SIZES = 3
_ROUNDING_SHARE = 1e-6  # a term that explains less of every time is what floating point leaves of zero


def fit_terms(measurements: Sequence[Measurement]) -> Terms:
    """The terms of one device's all-to-alls, to four digits. UserError when there are too few sizes."""
    group = fit_group(measurements)
    one_node = group[0].nodes == 1
    latency_s = _SCALE_UP_LATENCY_S if one_node else _SCALE_OUT_LATENCY_S
    port_bytes = np.array([_sent_bytes(m) if one_node else _crossing_bytes(m) for m in group])
    columns = np.stack([np.ones(len(group)), np.sqrt([_sent_bytes(m) for m in group]), port_bytes], axis=1)
    start_s, gamma, per_byte = _least_squares(columns, np.array([m.time_s for m in group]))
    alpha_s = start_s - latency_s
    startup = Startup(_rounded(alpha_s if alpha_s > _ROUNDING_SHARE * start_s else 0.0), _rounded(gamma))
    rate = _rate(per_byte)
    if not one_node:
        return Terms(startup, None, ScaleOutTerms(rate, 0.0, latency_s))
    scale_up = ScaleUpTerms(rate, _pair_cap(measurements, startup, rate), latency_s)
    return Terms(startup, scale_up, _scale_out(measurements, startup))


def fit_group(measurements: Sequence[Measurement]) -> list[Measurement]:
    """What the start-up and the rate are fitted to. UserError when it has too few sizes."""
    usable = [m for m in measurements if m.operation == "all_to_all" and m.bytes >= SMALLEST_BYTES]
    nodes = 1 if any(m.nodes == 1 for m in usable) else max((m.nodes for m in usable), default=1)
    ranks = max((m.ranks for m in usable if m.nodes == nodes), default=0)
    group = [m for m in usable if (m.nodes, m.ranks) == (nodes, ranks)]
    sizes = len({m.bytes for m in group})
    if sizes < _FEWEST_SIZES:
        raise UserError(
            f"calibrate: {sizes} sizes of an all-to-all of {SMALLEST_BYTES} B and more, at least "
            f"{_FEWEST_SIZES} with the same ranks are needed"
        )
    return group


def cap_points(measurements: Sequence[Measurement]) -> list[Measurement]:
    """What the pair cap is read off: two ranks of one node at their largest size."""
    pairs = [m for m in measurements if (m.operation, m.nodes, m.ranks) == ("all_to_all", 1, 2)]
    largest = max((m.bytes for m in pairs), default=0)
    return [m for m in pairs if m.bytes == largest]


def gap_group(measurements: Sequence[Measurement]) -> list[Measurement]:
    """What the NIC rate and the message gap are fitted to, when the start-up comes from one node."""
    return [
        m for m in measurements if m.operation == "all_to_all" and m.nodes > 1 and m.bytes >= SMALLEST_BYTES
    ]


def message_gap_s(measured_s: float, without_gap_s: float, measurement: Measurement) -> float:
    """The gap that explains what a latency-bound all-to-all takes longer than it would without."""
    return max(measured_s - without_gap_s, 0.0) / _messages(measurement)


def _pair_cap(measurements: Sequence[Measurement], startup: Startup, rate_bytes_per_s: float) -> float | None:
    points = cap_points(measurements)
    if not points:
        return None
    cap = np.mean([_sent_bytes(m) / (m.time_s - _before_bytes_s(m, startup)) for m in points])
    return _rounded(float(cap)) if cap < rate_bytes_per_s else None


def _scale_out(measurements: Sequence[Measurement], startup: Startup) -> ScaleOutTerms | None:
    group = gap_group(measurements)
    if not group:
        return None
    times_s = np.array([m.time_s for m in group])
    left_s = times_s - [_before_bytes_s(m, startup) for m in group]
    crossing = np.array([_crossing_bytes(m) for m in group])
    messages = np.array([float(_messages(m)) for m in group])
    if len({m.bytes for m in group}) == 1:
        messages[:] = 0.0
    gap_s, per_byte = _least_squares(np.stack([messages, crossing], axis=1), left_s, scale=times_s)
    return ScaleOutTerms(_rate(per_byte), _rounded(gap_s), _SCALE_OUT_LATENCY_S)


def _before_bytes_s(measurement: Measurement, startup: Startup) -> float:
    latency_s = _SCALE_UP_LATENCY_S if measurement.nodes == 1 else _SCALE_OUT_LATENCY_S
    return startup.after_s(_sent_bytes(measurement)) + latency_s


def _sent_bytes(measurement: Measurement) -> float:
    return measurement.bytes * (measurement.ranks - 1) / measurement.ranks


def _crossing_bytes(measurement: Measurement) -> float:
    return measurement.bytes * (measurement.nodes - 1) / measurement.nodes


def _messages(measurement: Measurement) -> int:
    """To ranks of other nodes."""
    return measurement.ranks - measurement.ranks // measurement.nodes


def _least_squares(
    columns: FloatArray, times_s: FloatArray, *, scale: FloatArray | None = None
) -> list[float]:
    """Coefficients [terms], none negative, of the least squares of the errors relative to `scale`.

    `columns` is [points, terms]. Terms that would be negative are left out, whichever fit best without.
    """
    weights = 1.0 / (times_s if scale is None else scale)
    terms = columns.shape[1]
    best, best_error = np.zeros(terms), np.inf
    for count in range(terms, 0, -1):
        for kept in combinations(range(terms), count):
            weighted = columns[:, kept] * weights[:, None]
            solution = np.linalg.lstsq(weighted, times_s * weights)[0]
            error = float(np.sum((weighted @ solution - times_s * weights) ** 2))
            if (solution >= 0).all() and error < best_error:
                best, best_error = np.zeros(terms), error
                best[list(kept)] = solution
    shares = np.max(columns * best * weights[:, None], axis=0)  # of the time that each term explains, at most
    return [float(value) for value in np.where(shares < _ROUNDING_SHARE, 0.0, best)]


def _rate(per_byte_s: float) -> float:
    if per_byte_s <= 0:
        raise UserError("calibrate: times do not grow with the bytes, so there is no bandwidth to fit")
    return _rounded(1.0 / per_byte_s)


def _rounded(value: float) -> float:
    """To four significant digits, as the terms are written."""
    return float(f"{value:.4g}")
