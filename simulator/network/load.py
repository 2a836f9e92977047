"""What flows put on each resource: payload bytes, exactly, and volume, message gaps included."""

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.topology.topology import Routes

_EXACT_IN_FLOAT = 1 << 53


def payload_bytes(routes: Routes, flow_bytes: IntArray, resources: int) -> IntArray:
    """Bytes that cross each resource [resources], without message gaps, exact at any size."""
    if int(flow_bytes.sum()) < _EXACT_IN_FLOAT:
        return _per_resource(routes, flow_bytes.astype(np.float64), resources).astype(np.int64)
    high, low = np.divmod(flow_bytes, 1 << 32)
    high_sum, low_sum = (_per_resource(routes, part.astype(np.float64), resources) for part in (high, low))
    return (high_sum.astype(np.int64) << 32) + low_sum.astype(np.int64)


def gap_bytes(routes: Routes, resources: int, *, messages: int = 1) -> FloatArray:
    """What the message gaps occupy on each resource [resources], as bytes; each flow sends `messages`."""
    if not routes.overhead_bytes.any():
        return np.zeros(resources)
    return messages * _per_resource(routes, routes.overhead_bytes, resources)


def volume_bytes(routes: Routes, flow_bytes: IntArray, *, messages: int = 1) -> FloatArray:
    """Each flow's bytes and message gaps [flows]."""
    return flow_bytes + messages * routes.overhead_bytes


def _per_resource(routes: Routes, weights: FloatArray, resources: int) -> FloatArray:
    total = np.zeros(resources + 1)
    for hop in routes.resources.T:
        total += np.bincount(hop + 1, weights=weights, minlength=resources + 1)
    return total[1:]  # bin 0 is the padding
