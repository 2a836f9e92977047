"""The fabric that a spec asks for."""

from simulator.topology.fabrics.fabric import Fabric
from simulator.topology.fabrics.leaf_spine import LeafSpine
from simulator.topology.fabrics.non_blocking import NonBlocking
from simulator.topology.fabrics.rail_only import RailOnly
from simulator.topology.fabrics.torus import Torus
from simulator.topology.members import Members
from simulator.topology.spec import LeafSpineSpec, RailOnlySpec, TopologySpec, TorusSpec


def build_fabric(spec: TopologySpec, members: Members) -> Fabric:
    """The fabric of a checked spec; without scale-out it is never asked for a path."""
    if spec.scale_out is None:
        return NonBlocking(members.world_size)
    match spec.scale_out.fabric:
        case RailOnlySpec():
            return RailOnly.of(members, 0.0 if spec.scale_up is None else spec.scale_up.latency)
        case LeafSpineSpec(islands_per_leaf=islands, oversubscription=ratio):
            return LeafSpine.of(members, islands, spec.scale_out.nic_bandwidth / ratio)
        case TorusSpec() as torus:
            return Torus.of(members, torus)
        case _:
            return NonBlocking(members.world_size)
