"""From a checked spec to a `Topology`: resources are numbered, capacities worked out, the fabric set up.

Resources are numbered in blocks: scale-up egress of every rank, scale-up ingress of every rank, egress of every
NIC port, ingress of every NIC port, the fabric's links.
"""

from typing import Any

import numpy as np

from simulator.arrays import FloatArray
from simulator.topology.fabrics.build import build_fabric
from simulator.topology.fabrics.fabric import Fabric, Ports
from simulator.topology.members import Members, members_of
from simulator.topology.parts import DIRECTIONS, Parts, parts_of
from simulator.topology.perturb import capacity_changes, compute_factor, late_s
from simulator.topology.routing import PairRouter, TierFigures
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, StartupSpec, TopologySpec
from simulator.topology.topology import ResourceKind, Resources, Startup, Topology
from simulator.units import spell_bandwidth, spell_duration


def build_topology(spec: TopologySpec) -> Topology:
    """The cluster that `spec` describes. A `TopologySpec` has been checked, so this cannot fail."""
    members = members_of(spec)
    fabric = build_fabric(spec, members)
    ports = _number_ports(members, has_scale_up=spec.scale_up is not None)
    parts = parts_of(spec, members, fabric.links)
    resources = _resources(members, parts, ports, fabric)
    return Topology(
        name=spec.name,
        source=spec.source,
        spec=spec,
        island_sizes=members.island_sizes,
        islands=members.islands,
        island_of=members.island_of,
        local_index=members.local_index,
        host_of=members.host_of,
        resources=resources,
        router=_router(spec, members, fabric, ports, resources),
        hbm_capacity_bytes=spec.gpu.hbm_capacity,
        hbm_bandwidth_bytes_per_s=spec.gpu.hbm_bandwidth,
        host_bandwidth_bytes_per_s=spec.gpu.host_bandwidth,
        scale_up_startup=_startup(spec.scale_up),
        scale_out_startup=_startup(spec.scale_out),
        scale_up_bytes_per_s=_scale_up_rates(ports, resources, members.world_size),
        inter_island_bytes_per_s=np.minimum(
            _nic_shares(members, ports, resources),
            fabric.share_bytes_per_s(resources.capacity_bytes_per_s[ports.fabric :]),
        ),
        late_s=late_s(spec, members.world_size),
        compute_factor=compute_factor(spec, members.world_size),
        capacity_changes=capacity_changes(spec, parts, members.world_size),
    )


def uniform_topology(
    *,
    islands: int,
    gpus_per_island: int,
    scale_up_bytes_per_s: float,
    nic_bytes_per_s: float,
    nics_per_island: int | None = None,
    latency_s: float = 0.0,
) -> Topology:
    """The pure model: equal islands on a non-blocking fabric, no start-up, caps or gaps, efficiency 1."""
    latency = spell_duration(latency_s)
    spec: dict[str, Any] = {
        "name": "uniform",
        "islands": islands,
        "gpus_per_island": gpus_per_island,
        "scale_up": {"bandwidth": spell_bandwidth(scale_up_bytes_per_s), "latency": latency},
        "scale_out": {"nic_bandwidth": spell_bandwidth(nic_bytes_per_s), "latency": latency},
    }
    if nics_per_island is not None:
        spec["scale_out"]["nics_per_island"] = nics_per_island
    return build_topology(TopologySpec.model_validate(spec))


def _number_ports(members: Members, *, has_scale_up: bool) -> Ports:
    ranks = np.arange(members.world_size if has_scale_up else 0, dtype=np.int32)
    first_nic = 2 * len(ranks)
    port_count = len(members.port_nics)
    return Ports(
        scale_up_egress=ranks,
        scale_up_ingress=ranks + np.int32(len(ranks)),
        nic_egress=members.port_of + np.int32(first_nic),
        nic_ingress=members.port_of + np.int32(first_nic + port_count),
        fabric=first_nic + 2 * port_count,
    )


def _resources(members: Members, parts: Parts, ports: Ports, fabric: Fabric) -> Resources:
    scale_up_count = 2 * len(ports.scale_up_egress)
    nics = ["+".join(map(str, bond)) for bond in members.port_nics]
    nic_names = [f"nic/{nic}/{direction}" for direction in DIRECTIONS for nic in nics]
    kinds = np.repeat(
        np.array([ResourceKind.SCALE_UP, ResourceKind.NIC, ResourceKind.FABRIC], np.int32),
        [scale_up_count, len(nic_names), len(fabric.links.names)],
    )
    names = (*parts.names[:scale_up_count], *nic_names, *fabric.links.names)
    return Resources(names, kinds, parts.capacities(len(names)))


def _router(
    spec: TopologySpec, members: Members, fabric: Fabric, ports: Ports, resources: Resources
) -> PairRouter:
    is_link = resources.kind == ResourceKind.FABRIC
    return PairRouter(
        island_of=members.island_of,
        ports=ports,
        fabric=fabric,
        inside=_figures(spec.scale_up),
        between=_figures(spec.scale_out),
        port_bytes_per_s=np.where(is_link, np.inf, resources.capacity_bytes_per_s),
    )


def _scale_up_rates(ports: Ports, resources: Resources, world_size: int) -> FloatArray:
    if not len(ports.scale_up_egress):
        return np.full(world_size, np.inf)
    capacity = resources.capacity_bytes_per_s
    return np.minimum(capacity[ports.scale_up_egress], capacity[ports.scale_up_ingress])


def _nic_shares(members: Members, ports: Ports, resources: Resources) -> FloatArray:
    """What each rank has of its NIC port when all that share it send and receive."""
    if not len(members.port_of):
        return np.full(members.world_size, np.inf)
    capacity = resources.capacity_bytes_per_s
    sharing = np.bincount(members.port_of)[members.port_of]
    return np.minimum(capacity[ports.nic_egress], capacity[ports.nic_ingress]) / sharing


def _figures(tier: ScaleUpSpec | ScaleOutSpec | None) -> TierFigures:
    if tier is None:
        return TierFigures()
    cap = np.inf if tier.pair_cap is None else tier.pair_cap
    return TierFigures(tier.latency, cap, tier.message_gap)


def _startup(tier: ScaleUpSpec | ScaleOutSpec | None) -> Startup:
    startup = StartupSpec() if tier is None else tier.startup
    return Startup(startup.alpha, startup.gamma)
