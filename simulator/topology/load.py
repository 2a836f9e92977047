"""Topology files."""

from pathlib import Path

from simulator.config.load import load_model
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def load_topology(path: Path) -> Topology:
    """Read, check and build a topology file. Raises UserError with a line for each problem."""
    return build_topology(load_model(path, TopologySpec))
