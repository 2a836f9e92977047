"""What of a cluster and a workload can be turned a little: each knob makes a point with it changed.

A knob multiplies its quantity by the factor asked for, or by the nearest that the quantity can have (whole samples,
islands of twice the size), and leaves all others as they are. Parts that an `overrides` entry gives a rate of their
own turn with their like. A knob that a point has not (no latency, no heavy-tailed table, no memory rule) makes None.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator.sweeps.point import Point
from simulator.sweeps.policy import edited_entry
from simulator.topology.edit import edited_spec as edited_topology
from simulator.topology.spec import LeafSpineSpec, TopologySpec, TorusSpec
from simulator.units import spell_bandwidth, spell_duration
from simulator.workload.edit import edited_spec as edited_workload
from simulator.workload.spec_popularity import ZipfSpec

Turned = tuple[Point, float] | None  # the changed point, and by what factor it has changed

OVERSUBSCRIPTION = "scale_out.fabric.oversubscription"
LINK_BANDWIDTH = "scale_out.fabric.link_bandwidth"
MEMORY_OPTION = "memory_scale"  # of a policy: multiplies the memory that it may use


@dataclass(frozen=True)
class Knob:
    """`turn(point, factor)`."""

    name: str
    turn: Callable[[Point, float], Turned]


def with_topology(point: Point, changes: Mapping[str, Any]) -> Point:
    return replace(point, topology=edited_topology(point.topology, changes))


def rate(tier: str, key: str, target: str = "") -> Callable[[Point, float], Turned]:
    """A bandwidth of a tier, and of the overrides whose targets begin with `target`."""

    def turn(point: Point, factor: float) -> Turned:
        """The point with its knob turned, and the factor that rounding left; None where the knob is not there."""
        own = getattr(getattr(point.topology, tier), key, None)
        if own is None:
            return None
        changes: dict[str, Any] = {f"{tier}.{key}": spell_bandwidth(own * factor)}
        return with_topology(point, changes | _turned_overrides(point.topology, target, factor)), factor

    return turn


def _turned_overrides(topology: TopologySpec, target: str, factor: float) -> dict[str, Any]:
    """The change that turns the overrides whose targets begin with `target`; none without a target or overrides."""
    kept = [entry.model_dump(mode="json", exclude_none=True) for entry in topology.overrides]
    return (
        {"overrides": [_turned_override(entry, target, factor) for entry in kept]} if target and kept else {}
    )


def _turned_override(entry: dict[str, Any], target: str, factor: float) -> dict[str, Any]:
    from simulator.units import parse_bandwidth

    if "bandwidth" not in entry or not entry["target"].startswith(target):
        return entry
    return entry | {"bandwidth": spell_bandwidth(parse_bandwidth(entry["bandwidth"]) * factor)}


def times(*paths: str) -> Callable[[Point, float], Turned]:
    """Durations of the topology, together; those that are zero or not there stay so."""

    def turn(point: Point, factor: float) -> Turned:
        """The point with its knob turned, and the factor that rounding left; None where the knob is not there."""
        found = {path: value for path in paths if (value := _at(point.topology, path))}
        if not found:
            return None
        return with_topology(
            point, {path: spell_duration(value * factor) for path, value in found.items()}
        ), factor

    return turn


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def nics(point: Point, factor: float) -> Turned:
    """NICs alone: uplinks of leaves, which a file gives as a share of the NICs' rate, keep their own."""
    turned = rate("scale_out", "nic_bandwidth", "nic")(point, factor)
    own = _at(point.topology, "scale_out.fabric")
    if turned is None or not isinstance(own, LeafSpineSpec):
        return turned
    return with_topology(turned[0], {OVERSUBSCRIPTION: own.oversubscription * factor}), factor


def fabric(point: Point, factor: float) -> Turned:
    """The links that NICs share: of a torus, or above leaves."""
    own = _at(point.topology, "scale_out.fabric")
    changes: dict[str, Any]
    if isinstance(own, TorusSpec):
        target, changes = "torus", {LINK_BANDWIDTH: spell_bandwidth(own.link_bandwidth * factor)}
    elif isinstance(own, LeafSpineSpec):
        target, changes = "leaf", {OVERSUBSCRIPTION: own.oversubscription / factor}
    else:
        return None
    return with_topology(point, changes | _turned_overrides(point.topology, target, factor)), factor


def hbm(point: Point, factor: float) -> Turned:
    own = point.topology.gpu.hbm_bandwidth
    return with_topology(point, {"gpu.hbm_bandwidth": spell_bandwidth(own * factor)}), factor


def island_size(point: Point, factor: float) -> Turned:
    """Twice the size, half as many: the same ranks, with the same NICs each."""
    spec = point.topology
    if not isinstance(spec.islands, int) or spec.islands % 2 or spec.gpus_per_island is None:
        return None
    out, up = spec.scale_out, spec.scale_up
    if up is None or out is None or out.gpu_to_nic is not None or isinstance(out.fabric, TorusSpec):
        return None
    changes: dict[str, Any] = {"islands": spec.islands // 2, "gpus_per_island": 2 * spec.gpus_per_island}
    if isinstance(out.nics_per_island, int):
        changes["scale_out.nics_per_island"] = 2 * out.nics_per_island
    if isinstance(out.fabric, LeafSpineSpec):
        if out.fabric.islands_per_leaf % 2:
            return None
        changes["scale_out.fabric.islands_per_leaf"] = out.fabric.islands_per_leaf // 2
    return with_topology(point, changes), 2.0


def batch(point: Point, factor: float) -> Turned:
    """Samples a rank, times `factor`."""
    own = point.workload.batch_per_rank
    turned = round(own * factor)
    if not own or turned == own:
        return None
    return replace(point, workload=edited_workload(point.workload, {"batch_per_rank": turned})), turned / own


def skew(point: Point, factor: float) -> Turned:
    """The exponents of all tables whose popularity is Zipf's."""
    changes = {
        f"tables.{table.name}.popularity.s": table.popularity.s * factor
        for table in point.workload.tables
        if isinstance(table.popularity, ZipfSpec) and table.popularity.s
    }
    return (replace(point, workload=edited_workload(point.workload, changes)), factor) if changes else None


def memory(point: Point, factor: float) -> Turned:
    """What a policy that plans within a memory rule may use."""
    own = getattr(point.policy.options, MEMORY_OPTION, None)
    if own is None:
        return None
    return replace(point, policy=edited_entry(point.policy, {MEMORY_OPTION: own * factor})), factor


KNOBS = (
    Knob("scale-up bandwidth", rate("scale_up", "bandwidth", "scale_up")),
    Knob("scale-up pair cap", rate("scale_up", "pair_cap")),
    Knob("NIC bandwidth", nics),
    Knob("scale-out pair cap", rate("scale_out", "pair_cap")),
    Knob("fabric bandwidth", fabric),
    Knob("HBM bandwidth", hbm),
    Knob("scale-up latency", times("scale_up.latency")),
    Knob("scale-out latency", times("scale_out.latency", "scale_out.fabric.hop_latency")),
    Knob(
        "start-up times",
        times(
            *(f"{tier}.startup.{term}" for tier in ("scale_up", "scale_out") for term in ("alpha", "gamma"))
        ),
    ),
    Knob("message gaps", times("scale_up.message_gap", "scale_out.message_gap")),
    Knob("island size", island_size),
    Knob("batch a rank", batch),
    Knob("memory budget", memory),
    Knob("skew (Zipf's s)", skew),
)
