"""Parts: the things that a file can name and that have a rate of their own.

A part is one direction of a GPU's scale-up port, one direction of a NIC, or a fabric link. A resource is one part,
except that the NICs of a bonded port are parts of one resource. Overrides set a part's rate; perturbations change
it for a time. `Targets` finds the parts that a text such as 'nic/3' or 'leaf/0/up' names.
"""

import difflib
from dataclasses import dataclass

import numpy as np

from simulator.arrays import FloatArray, IndexArray
from simulator.topology.fabrics.fabric import Links
from simulator.topology.members import Members
from simulator.topology.spec import LinkSpec, TopologySpec

DIRECTIONS = ("egress", "ingress")


@dataclass(frozen=True, eq=False)
class Parts:
    """All parts of a cluster, in blocks: scale-up egress, scale-up ingress, NIC egress, NIC ingress, links."""

    names: tuple[str, ...]
    resource: IndexArray  # [parts] the resource it belongs to, -1 for a NIC that no GPU uses
    bytes_per_s: FloatArray  # [parts] effective: overrides and efficiency applied

    def capacities(self, resource_count: int) -> FloatArray:
        """Effective capacity [resources] in bytes per second."""
        used = self.resource >= 0
        capacities = np.zeros(resource_count)
        np.add.at(capacities, self.resource[used], self.bytes_per_s[used])
        return capacities


class Targets:
    """The parts that a target names: 'nic/3' both directions of a NIC, 'nic/3/egress' one of them."""

    def __init__(self, names: tuple[str, ...], world_size: int) -> None:
        self._parts: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {"rank": world_size}
        for part, name in enumerate(names):
            whole, _, _ = name.rpartition("/")
            family, _, number = whole.partition("/")
            self._parts.setdefault(whole, []).append(part)
            self._parts[name] = [part]
            self._counts[family] = max(self._counts.get(family, 0), int(number) + 1)

    def parts(self, target: str) -> list[int]:
        """Part numbers of a target. Raises ValueError that says what there is."""
        if target in self._parts:
            return self._parts[target]
        family = target.split("/")[0]
        if family == "rank":
            raise ValueError(f"{target!r} has no link of its own: a rank wants `kind: late` or `kind: slow`")
        if family not in self._counts:
            raise ValueError(f"{target!r} is not a port or a link: allowed are {self._ranges(target)}")
        near = (
            difflib.get_close_matches(target, self._parts, n=1, cutoff=0.8) if target.count("/") > 1 else []
        )
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{target!r} does not exist: allowed are {self._range(family)}{hint}")

    def rank(self, target: str) -> int:
        """The number of a target 'rank/5'. Raises ValueError that says what there is."""
        family, _, number = target.partition("/")
        if family != "rank" or not (number.isascii() and number.isdigit()) or str(int(number[:20])) != number:
            raise ValueError(f"{target!r} is not a rank: allowed are {self._range('rank')}")
        if int(number) >= self._counts["rank"]:
            raise ValueError(f"{target!r} does not exist: allowed are {self._range('rank')}")
        return int(number)

    def _range(self, family: str) -> str:
        last = self._counts[family] - 1
        return f"{family}/0 to {family}/{last}" if last else f"{family}/0"

    def _ranges(self, target: str) -> str:
        families = [family for family in self._counts if family != "rank"]
        near = difflib.get_close_matches(target.split("/")[0], families, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return ", ".join(self._range(family) for family in families) + hint


def part_names(spec: TopologySpec, members: Members, links: Links) -> tuple[str, ...]:
    """Names of all parts, in order."""
    ranks = range(members.world_size if spec.scale_up is not None else 0)
    names = [f"scale_up/{rank}/{direction}" for direction in DIRECTIONS for rank in ranks]
    names += [f"nic/{nic}/{direction}" for direction in DIRECTIONS for nic in range(members.nic_count)]
    return (*names, *links.names)


def parts_of(spec: TopologySpec, members: Members, links: Links) -> Parts:
    """The cluster's parts with their effective rates."""
    names = part_names(spec, members, links)
    return Parts(names, _resources(spec, members, links), _rates(spec, members, links, names))


def _resources(spec: TopologySpec, members: Members, links: Links) -> IndexArray:
    scale_up_count = 2 * members.world_size if spec.scale_up is not None else 0
    port_count = len(members.port_nics)
    port_of_nic = np.full(members.nic_count, -1, np.int32)
    for port, nics in enumerate(members.port_nics):
        port_of_nic[list(nics)] = port
    used = port_of_nic >= 0
    egress = np.where(used, scale_up_count + port_of_nic, -1)
    ingress = np.where(used, scale_up_count + port_count + port_of_nic, -1)
    link = scale_up_count + 2 * port_count + np.arange(len(links.names))
    return np.concatenate((np.arange(scale_up_count), egress, ingress, link)).astype(np.int32)


def _rates(spec: TopologySpec, members: Members, links: Links, names: tuple[str, ...]) -> FloatArray:
    up, out = spec.scale_up, spec.scale_out
    counts = (2 * members.world_size if up is not None else 0, 2 * members.nic_count, len(links.names))
    rates = np.empty(len(names))
    rates[: counts[0]] = up.bandwidth if up is not None else 0
    rates[counts[0] : counts[0] + counts[1]] = out.nic_bandwidth if out is not None else 0
    rates[counts[0] + counts[1] :] = links.bytes_per_s
    _override(rates, spec, names, members.world_size)
    rates[: counts[0]] *= up.efficiency if up is not None else 1
    rates[counts[0] :] *= out.efficiency if out is not None else 1
    return rates


def _override(rates: FloatArray, spec: TopologySpec, names: tuple[str, ...], world_size: int) -> None:
    lasting = [entry for entry in spec.perturb if isinstance(entry, LinkSpec) and entry.is_lasting]
    if not spec.overrides and not lasting:
        return
    targets = Targets(names, world_size)
    for override in spec.overrides:
        parts = targets.parts(override.target)
        if override.bandwidth is not None:
            rates[parts] = override.bandwidth
        if override.factor is not None:
            rates[parts] *= override.factor
    for link in lasting:
        rates[targets.parts(link.target)] *= link.factor
