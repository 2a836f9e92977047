"""The terms of a topology that measurements can fix, and what the simulator makes of them."""

from dataclasses import dataclass
from typing import Any

from simulator.calibrate.measurement import Measurement
from simulator.collectives.all_reduce import all_gather, all_reduce, reduce_scatter
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.collectives.matrix import even_matrix
from simulator.collectives.run import run_stages
from simulator.collectives.startup import startup_s
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Startup, Topology
from simulator.units import spell_bandwidth, spell_duration

_RING = {"all_reduce": all_reduce, "all_gather": all_gather, "reduce_scatter": reduce_scatter}
_NOT_LIMITING = 1000.0


@dataclass(frozen=True)
class ScaleUpTerms:
    """Within a node. The rate is effective; the pair cap is None where it was not measured."""

    bytes_per_s: float
    pair_cap_bytes_per_s: float | None
    latency_s: float


@dataclass(frozen=True)
class ScaleOutTerms:
    """Between nodes, for each GPU: the effective rate of its share of the NICs."""

    bytes_per_s: float
    message_gap_s: float
    latency_s: float


@dataclass(frozen=True)
class Terms:
    """A tier that was not measured is None. The start-up holds for both."""

    startup: Startup
    scale_up: ScaleUpTerms | None
    scale_out: ScaleOutTerms | None

    def topology(self, *, nodes: int, ranks: int) -> Topology:
        """An island a node, a NIC a GPU. A scale-up that was not measured limits nothing; more than one node
        needs a measured scale-out."""
        spec: dict[str, Any] = {
            "name": "calibrated",
            "islands": nodes,
            "gpus_per_island": ranks // nodes,
            "scale_up": self._scale_up(),
        }
        if self.scale_out and nodes > 1:
            spec["scale_out"] = tier_keys(self.scale_out, self.startup)
        return build_topology(TopologySpec.model_validate(spec))

    def _scale_up(self) -> dict[str, Any]:
        if self.scale_up:
            return tier_keys(self.scale_up, self.startup)
        assert self.scale_out is not None
        return {"bandwidth": spell_bandwidth(_NOT_LIMITING * self.scale_out.bytes_per_s)}


def tier_keys(terms: ScaleUpTerms | ScaleOutTerms, startup: Startup) -> dict[str, Any]:
    """The keys of one tier as a topology file has them."""
    keys: dict[str, Any] = {"latency": spell_duration(terms.latency_s)}
    keys["startup"] = {
        "alpha": spell_duration(startup.alpha_s),
        "gamma": spell_duration(startup.gamma_s_per_sqrt_byte),
    }
    if isinstance(terms, ScaleOutTerms):
        gap = spell_duration(terms.message_gap_s)
        return {"nic_bandwidth": spell_bandwidth(terms.bytes_per_s), **keys, "message_gap": gap}
    if terms.pair_cap_bytes_per_s is not None:
        keys["pair_cap"] = spell_bandwidth(terms.pair_cap_bytes_per_s)
    return {"bandwidth": spell_bandwidth(terms.bytes_per_s), **keys}


def predict_s(topology: Topology, measurement: Measurement) -> float:
    """How long the simulator takes for what was measured, on the whole of `topology`, in exact mode.

    All-reduce, all-gather and reduce-scatter are rings.
    """
    if measurement.operation == "all_to_all":
        return run_all_to_all(topology, even_matrix(topology, measurement.bytes), tolerance=None).time_s
    stages = _RING[measurement.operation](topology, range(topology.world_size), measurement.bytes)
    return run_stages(topology, stages, start_s=startup_s(topology, stages[0].flows)).end_s
