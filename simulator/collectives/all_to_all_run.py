"""One all-to-all on a quiet cluster: how long it takes, and when each flow and each rank is done.

It begins when the last rank has come, late ranks included, with the start-up time of the bytes asked for. Then
its stages follow one another.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.arrays import FloatArray, IntArray
from simulator.collectives.all_to_all import AllToAllAlgorithm, all_to_all
from simulator.collectives.run import Engine, StagesRun, run_stages
from simulator.collectives.stage import Stage
from simulator.collectives.startup import startup_s
from simulator.files import replacing
from simulator.network.bound import port_bound
from simulator.network.flows import Flows
from simulator.sums import added
from simulator.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class AllToAllFigures:
    """Times count from the moment when the first ranks are ready.

    `bound_s` is the port bound of the stages, without start-up and latency. `algbw_bytes_per_s` is that of
    nccl-tests, a rank's mean bytes, an even share for itself included, over the time; `busbw_bytes_per_s` is
    that times (W - 1) / W. Where nothing moves both are None, and busbw where pairs differ by more than 1 byte.
    """

    time_s: float
    bound_s: float
    rank_finish_s: FloatArray  # [world_size]
    algbw_bytes_per_s: float | None
    busbw_bytes_per_s: float | None
    bottleneck: str  # a resource, a pair, or "none"
    flow_count: int
    solves: int

    def to_json(self) -> dict[str, Any]:
        """Numbers, texts and lists only; `flows` is how many there are."""
        return {
            "time_s": self.time_s,
            "bound_s": self.bound_s,
            "rank_finish_s": self.rank_finish_s.tolist(),
            "algbw_bytes_per_s": self.algbw_bytes_per_s,
            "busbw_bytes_per_s": self.busbw_bytes_per_s,
            "bottleneck": self.bottleneck,
            "flows": self.flow_count,
            "solves": self.solves,
        }


@dataclass(frozen=True, eq=False)
class AllToAllResult(AllToAllFigures):
    """With every flow of all stages, one stage after another."""

    flows: Flows
    finish_s: FloatArray  # [flows] when each has arrived

    def write_flows(self, path: Path) -> None:
        """A CSV of `source,destination,bytes,finish_s`, a line for each flow. UserError when it can't be written."""
        columns = (self.flows.sources, self.flows.destinations, self.flows.bytes, self.finish_s)
        with replacing(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("source", "destination", "bytes", "finish_s"))
            writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def run_all_to_all(
    topology: Topology,
    matrix: IntArray,
    *,
    tolerance: float | None = 0.01,
    algorithm: AllToAllAlgorithm = "direct",
    engine: Engine = "fluid",
) -> AllToAllResult:
    """Carry `matrix` [world_size, world_size] int64; entry [i][j] = bytes from i to j, the diagonal stays at home.

    `tolerance` is the fluid network's step as a share of the port bound; None is exact. Raises StalledError
    when flows wait for a link that never returns.
    """
    stages = all_to_all(topology, matrix, algorithm=algorithm)
    start_s = float(topology.late_s.max()) + startup_s(topology, Flows.from_matrix(matrix))
    run = run_stages(topology, stages, start_s=start_s, engine=engine, tolerance=tolerance)
    bounds = [port_bound(topology, stage.flows) for stage in stages]
    bound_s = added(bound.time_s for bound in bounds)
    algbw, busbw = _bandwidths(matrix, run.end_s)
    return AllToAllResult(
        time_s=max(run.end_s, bound_s),  # sums of steps may round to a hair below
        bound_s=bound_s,
        rank_finish_s=_rank_finish_s(topology.world_size, stages, run),
        algbw_bytes_per_s=algbw,
        busbw_bytes_per_s=busbw,
        bottleneck=max(bounds, key=lambda bound: bound.time_s).bottleneck if bounds else "none",
        flow_count=sum(len(stage.flows) for stage in stages),
        flows=_joined(stages),
        finish_s=np.concatenate([np.empty(0), *run.finish_s]),
        solves=run.solves,
    )


def _rank_finish_s(world_size: int, stages: tuple[Stage, ...], run: StagesRun) -> FloatArray:
    """A rank leaves with the last stage: at once if it has no part in it."""
    if not stages:
        return np.full(world_size, run.end_s)
    finish_s = np.full(world_size, run.starts_s[-1])
    for ends in (stages[-1].flows.sources, stages[-1].flows.destinations):
        np.maximum.at(finish_s, ends, run.finish_s[-1])
    return finish_s


def _bandwidths(matrix: IntArray, time_s: float) -> tuple[float | None, float | None]:
    world_size = len(matrix)
    pairs = world_size * (world_size - 1)
    moved_bytes = int(matrix.sum()) - int(np.trace(matrix))
    if not moved_bytes:
        return None, None
    algbw = moved_bytes / pairs * world_size / time_s
    remote = matrix[~np.eye(world_size, dtype=np.bool_)]
    is_even = int(remote.max()) - int(remote.min()) <= 1
    return algbw, algbw * (world_size - 1) / world_size if is_even else None


def _joined(stages: tuple[Stage, ...]) -> Flows:
    parts = [stage.flows for stage in stages]
    return Flows(
        np.concatenate([np.empty(0, np.int32), *(part.sources for part in parts)]),
        np.concatenate([np.empty(0, np.int32), *(part.destinations for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.bytes for part in parts)]),
    )
