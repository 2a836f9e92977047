"""Perturbations: late and slow ranks, ports and links that lose some or all of their rate for a time.

Times count from the start of an iteration. Perturbations of one part that overlap multiply. One that holds from
0 s and never ends is no different from an override of its rate, and is applied as one, so that planners see it
and the results are the same; except a failure for good, which stays a change at 0 s for the replay to report.
"""

from collections import defaultdict

import numpy as np

from simulator.arrays import FloatArray
from simulator.topology.parts import Parts, Targets
from simulator.topology.spec import LateSpec, LinkSpec, SlowSpec, TopologySpec
from simulator.topology.topology import CapacityChange


def late_s(spec: TopologySpec, world_size: int) -> FloatArray:
    """How late each rank starts."""
    late = np.zeros(world_size)
    targets = Targets((), world_size)
    for entry in spec.perturb:
        if isinstance(entry, LateSpec):
            late[targets.rank(entry.target)] += entry.by
    return late


def compute_factor(spec: TopologySpec, world_size: int) -> FloatArray:
    """By what each rank's durations are divided."""
    factor = np.ones(world_size)
    targets = Targets((), world_size)
    for entry in spec.perturb:
        if isinstance(entry, SlowSpec):
            factor[targets.rank(entry.target)] *= entry.factor
    return factor


def capacity_changes(spec: TopologySpec, parts: Parts, world_size: int) -> tuple[CapacityChange, ...]:
    """When and to what each resource's rate changes, by time and then resource."""
    links = [entry for entry in spec.perturb if isinstance(entry, LinkSpec) and not entry.is_lasting]
    if not links:
        return ()
    targets = Targets(parts.names, world_size)
    spells: dict[int, list[LinkSpec]] = defaultdict(list)
    for link in links:
        for part in targets.parts(link.target):
            spells[part].append(link)
    touched = sorted({int(parts.resource[part]) for part in spells if parts.resource[part] >= 0})
    changes = [change for resource in touched for change in _resource_changes(resource, parts, spells)]
    return tuple(sorted(changes, key=lambda change: (change.time_s, change.resource)))


def _resource_changes(resource: int, parts: Parts, spells: dict[int, list[LinkSpec]]) -> list[CapacityChange]:
    members = np.flatnonzero(parts.resource == resource)
    weights = parts.bytes_per_s[members] / parts.bytes_per_s[members].sum()
    own = [spells.get(int(part), []) for part in members]
    times = {
        edge for part in own for spell in part for edge in (spell.from_, spell.until) if edge is not None
    }
    changes, previous = [], 1.0
    for time_s in sorted(times):
        factors = [np.prod([spell.factor for spell in part if _holds(spell, time_s)]) for part in own]
        factor = float(weights @ np.asarray(factors)) if len(own) > 1 else float(factors[0])
        if factor != previous:
            changes.append(CapacityChange(time_s, resource, factor))
        previous = factor
    return changes


def _holds(spell: LinkSpec, time_s: float) -> bool:
    return spell.from_ <= time_s and (spell.until is None or time_s < spell.until)
