"""Values of a topology file that are a list, an entry an island or a GPU."""

from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from simulator.config.types import parse_count


def _parse_island_list(value: object) -> int | tuple[int, ...]:
    """A count, or sizes, one an island."""
    many = isinstance(value, (list, tuple))
    counts = (
        [_parse_entry(number, item) for number, item in enumerate(value)]
        if isinstance(value, (list, tuple))
        else [parse_count(value)]
    )
    if not counts or min(counts) < 1:
        which = f"entry {counts.index(min(counts))} is {min(counts)}, each " if many and counts else ""
        raise ValueError(f"{which}must be a count of at least 1, or a list of them, one an island")
    return tuple(counts) if many else counts[0]


def _parse_entry(number: int, item: object) -> int:
    """A count in a list. Raises ValueError that shows it, and with words in it how lists are written."""
    try:
        return parse_count(item)
    except ValueError:
        words = item.split() if isinstance(item, str) else []
        hint = f"; with commas between: [{', '.join(words)}]" if len(words) > 1 else ""
        raise ValueError(f"entry {number} is {item!r}, each must be a whole number{hint}") from None


def _parse_nic_list(value: object) -> tuple[tuple[int, ...], ...]:
    """One entry a local GPU: the local number of its NIC, or the list of those it bonds."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(
            "must be a list with one NIC (or list of NICs) for each GPU of an island, like [0, 0, 1, 1]"
        )
    entries = [entry if isinstance(entry, (list, tuple)) else [entry] for entry in value]
    nics = tuple(tuple(parse_count(nic) for nic in entry) for entry in entries)
    if any(not entry or min(entry) < 0 or len(set(entry)) < len(entry) for entry in nics):
        raise ValueError("must name at least one NIC for each GPU, none twice, numbered from 0")
    return nics


def _as_it_is(value: object) -> object:
    return value


_COUNT_OR_LIST = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}
_PLAIN = PlainSerializer(_as_it_is, return_type=Any)
IslandList = Annotated[
    int | tuple[int, ...], PlainValidator(_parse_island_list), _PLAIN, WithJsonSchema(_COUNT_OR_LIST)
]
NicList = Annotated[
    tuple[tuple[int, ...], ...], PlainValidator(_parse_nic_list), _PLAIN, WithJsonSchema({"type": "array"})
]
