"""Which points of a sweep a line over one key may go through.

Theory of operation. A line goes through the medians of a policy's points at each value of the key. Where a value
lacks points (they failed, or a list of combinations has none), the median is one of other settings, and the line
rises or falls for what was left out. So a line goes through shared settings alone: values of the other keys that
every policy has an answer for at each of its values of the key. A policy's variants (`policies.` keys) are shared
when it has them at each value. Engines are apart: a second pass computes some points only. Where none are shared, as
in combinations drawn at random, lines go through all points.
"""

from collections.abc import Mapping, Sequence

from simulator.sweeps.rows import Row

Told = tuple[tuple[str, str], ...]  # values of keys
OWN = "policies."


def shared_rows(rows: Sequence[Row], x: str, keys: Sequence[str]) -> list[Row]:
    """Those of some answered rows, all with the varied key `x`, that lines go through; `keys` are all varied ones."""
    taken: set[int] = set()
    for engine in dict.fromkeys(row["engine"] for row in rows):
        own = [row for row in rows if row["engine"] == engine]
        taken |= {id(row) for row in (_shared(own, x, keys) or own)}
    return [row for row in rows if id(row) in taken]


def shared_note(rows: Sequence[Row], x: str, keys: Sequence[str]) -> str:
    """What the lines over `x` leave out, or that they go through unlike settings; "" where neither is so."""
    shared = shared_rows(rows, x, keys)
    if len(shared) < len(rows):
        return f"Lines compare {len(shared):,} of {len(rows):,} points: the settings that every value has."
    for engine in dict.fromkeys(row["engine"] for row in rows):
        if not _shared([row for row in rows if row["engine"] == engine], x, keys):
            return "No setting is there at every value: lines go from one setting to another."
    return ""


def _shared(rows: Sequence[Row], x: str, keys: Sequence[str]) -> list[Row]:
    """Of one engine's rows."""
    others = [key for key in keys if key != x]
    contexts = [
        (
            told(row, [key for key in others if not key.startswith(OWN)]),
            told(row, [key for key in others if key.startswith(OWN)]),
        )
        for row in rows
    ]
    at: dict[str, dict[str, set[tuple[Told, Told]]]] = {}
    for row, context in zip(rows, contexts, strict=True):
        at.setdefault(row["policy"], {}).setdefault(row[x], set()).add(context)
    common = {policy: set.intersection(*places.values()) for policy, places in at.items()}
    settings = set.intersection(*({setting for setting, _ in own} for own in common.values()))
    return [
        row
        for row, context in zip(rows, contexts, strict=True)
        if context[0] in settings and context in common[row["policy"]]
    ]


def told(row: Mapping[str, str], keys: Sequence[str]) -> Told:
    """The values that a row has of some keys."""
    return tuple((key, row[key]) for key in keys if key in row)
