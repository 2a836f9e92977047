"""The communicators of a tier: ranks that ask one another form one group."""

from collections.abc import Iterable, Sequence

from simulator.sharding.plan import Layout, Tier

Groups = tuple[tuple[int, ...], ...]


def groups_by_tier(layouts: Sequence[Layout], world_size: int) -> dict[Tier, Groups]:
    """The groups of each tier that occurs, by their lowest rank. All ranks are one group of the global tier."""
    return {
        tier: (tuple(range(world_size)),) if tier == Tier.GLOBAL else _joined(own, world_size)
        for tier in Tier
        if (own := [layout for layout in layouts if layout.tier == tier])
    }


def _joined(layouts: Iterable[Layout], world_size: int) -> Groups:
    """Readers of a copy and its owners belong together; groups that share a rank are one."""
    leaders = list(range(world_size))
    for layout in layouts:
        for rank, copy in enumerate(layout.copy_of):
            _join(leaders, rank, layout.copies[copy][0])
        for owners in layout.copies:
            for owner in owners[1:]:
                _join(leaders, owner, owners[0])
    members: dict[int, list[int]] = {}
    for rank in range(world_size):
        members.setdefault(_leader(leaders, rank), []).append(rank)
    return tuple(tuple(ranks) for ranks in members.values())


def _join(leaders: list[int], first: int, second: int) -> None:
    low, high = sorted((_leader(leaders, first), _leader(leaders, second)))
    leaders[high] = low


def _leader(leaders: list[int], rank: int) -> int:
    """The lowest rank of a group; the way there is shortened for the next to ask."""
    while leaders[rank] != rank:
        leaders[rank] = leaders[leaders[rank]]
        rank = leaders[rank]
    return rank
