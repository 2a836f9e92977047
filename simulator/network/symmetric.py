"""`simulate_kinds`: symmetric traffic from start to finish, one flow of each kind standing for all of it."""

from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, FloatArray
from simulator.network.solver import TIE
from simulator.network.symmetry import Kinds


@dataclass(frozen=True, eq=False)
class KindsResult:
    """Like `FlowResult` and `Bound`, for all flows of a kind at once. Exact."""

    finish_s: FloatArray  # [kinds] when the flows of a kind arrive, latency included
    rank_finish_s: FloatArray  # [world_size] when all that a rank sends and receives has arrived
    time_s: float
    bound_s: float  # the port bound
    solves: int


def simulate_kinds(kinds: Kinds) -> KindsResult:
    """All flows start at 0 on a quiet network."""
    left_bytes = kinds.volume_bytes
    finish_s, now_s, solves = np.zeros(len(left_bytes)), 0.0, 0
    flying = np.ones(len(left_bytes), np.bool_)
    while flying.any():
        rates = _rates(kinds, flying)
        solves += 1
        needs_s = np.divide(left_bytes, rates, out=np.full(len(rates), np.inf), where=flying)
        step_s = needs_s.min()
        done = flying & (needs_s <= step_s * (1 + TIE))
        left_bytes = left_bytes - rates * step_s
        now_s += step_s
        finish_s[done] = now_s
        flying &= ~done
    finish_s += kinds.routes.latency_s
    rank_finish_s = np.max(np.where(kinds.rank_has, finish_s, 0.0), axis=1, initial=0.0)
    return KindsResult(finish_s, rank_finish_s, float(finish_s.max(initial=0.0)), _bound_s(kinds), solves)


def _rates(kinds: Kinds, flying: BoolArray) -> FloatArray:
    """Max-min fair rates [kinds], by progressive filling."""
    rates, rising = np.zeros(len(flying)), flying.copy()
    left, caps = kinds.capacity_bytes_per_s.astype(np.float64), kinds.routes.cap_bytes_per_s
    while rising.any():
        weight = rising @ kinds.crossings
        share = np.divide(left, weight, out=np.full(len(left), np.inf), where=weight > 0)
        level = min(share.min(), caps[rising].min())
        full = share <= level * (1 + TIE)
        stop = rising & ((caps <= level * (1 + TIE)) | (kinds.crossings[:, full] > 0).any(axis=1))
        rates[stop] = level
        left = left - level * (stop @ kinds.crossings)
        rising &= ~stop
    return rates


def _bound_s(kinds: Kinds) -> float:
    resource_s = kinds.volume_bytes @ kinds.crossings / kinds.capacity_bytes_per_s
    pair_s = kinds.volume_bytes / kinds.routes.cap_bytes_per_s
    return float(max(resource_s.max(initial=0.0), pair_s.max(initial=0.0)))
