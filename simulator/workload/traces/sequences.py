"""Sequences of ids out of a trace, streamed: what one user or session looked up, in order.

Theory of operation. In `sessions` and `user_items` a line is a sequence. In `user_item` a user's lines are
one, wherever they stand: a file that is grouped by user streams through; one that is not is read several
times, each time gathering the users of one hash class, so that memory stays bounded there too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.arrays import BoolArray, IntArray
from simulator.workload.shuffle import splitmix64
from simulator.workload.traces.counts import IdCounts
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.tokens import Tokens, UIntArray, read_tokens

Which = BoolArray | slice  # of a chunk's tokens

LOOKUPS_AT_ONCE = 3_000_000  # gathered in one pass over a file that is not grouped by user


@dataclass(frozen=True, eq=False)
class Sequences:
    """Some sequences; items of sequence k follow those of sequence k - 1."""

    items: UIntArray  # [lookups]
    lengths: IntArray  # [sequences]
    in_second_half: BoolArray  # [sequences] whether it begins in the second half of the file's bytes
    dropped: int = 0  # lookups of the padding id
    wrapped: int = 0  # ids beyond the table, taken modulo its rows

    @property
    def owner(self) -> IntArray:
        """[lookups] the sequence of each item."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


@dataclass(frozen=True, eq=False)
class _Lookups:
    """Lookups before padding is dropped. All arrays are [lookups]."""

    items: UIntArray
    kept: BoolArray
    wrapped: BoolArray
    users: UIntArray
    offsets: IntArray  # where the lookup's line begins in the file

    def take(self, index: IntArray | Which) -> "_Lookups":
        return _Lookups(
            self.items[index], self.kept[index], self.wrapped[index], self.users[index], self.offsets[index]
        )

    @classmethod
    def joined(cls, parts: list["_Lookups"]) -> "_Lookups":
        """Parts of a trace, one after another."""
        return cls(
            np.concatenate([part.items for part in parts]),
            np.concatenate([part.kept for part in parts]),
            np.concatenate([part.wrapped for part in parts]),
            np.concatenate([part.users for part in parts]),
            np.concatenate([part.offsets for part in parts]),
        )


def read_sequences(source: TraceSource) -> Iterator[Sequences]:
    """All sequences of the part asked for; errors name table, line and id."""
    return _by_user(source) if source.format == "user_item" else _by_line(source)


def _by_line(source: TraceSource) -> Iterator[Sequences]:
    for tokens in read_tokens(source):
        are_items: Which = slice(None)
        if source.format == "user_items":
            _check_columns(tokens, source, least=1, most=None)
            are_items = np.ones(len(tokens.values), np.bool_)
            are_items[np.cumsum(tokens.columns) - tokens.columns] = False
        items, kept, wrapped = _rows(tokens, are_items, source)
        yield _build(source, items, kept, wrapped, tokens.line[are_items], tokens.line_offsets)


def _by_user(source: TraceSource) -> Iterator[Sequences]:
    lookups, grouped = _survey(source)
    if grouped:
        yield from _grouped_users(source)
        return
    classes = -(-lookups // LOOKUPS_AT_ONCE)
    for wanted in range(classes):
        parts = []
        for part in _user_lines(source):
            parts.append(part.take(splitmix64(part.users) % np.uint64(classes) == np.uint64(wanted)))
        gathered = _Lookups.joined(parts)
        yield _users(source, gathered.take(np.argsort(gathered.users, kind="stable")))


def _survey(source: TraceSource) -> tuple[int, bool]:
    """Number of lines, and whether each user's lines stand together."""
    lines, runs, last = 0, IdCounts(), None
    for part in _user_lines(source):
        users = part.users
        begins = np.flatnonzero(np.diff(users, prepend=users[:1]))
        first = [] if last is not None and users[0] == last else [0]
        runs.add(users[np.concatenate([first, begins]).astype(np.int64)])
        lines, last = lines + len(users), users[-1]
    return lines, bool((runs.counts[0] == 1).all())


def _user_lines(source: TraceSource) -> Iterator[_Lookups]:
    """The lines of a `user_item` file, checked."""
    for tokens in read_tokens(source):
        _check_columns(tokens, source, least=2, most=2)
        users, are_items = slice(0, None, 2), slice(1, None, 2)
        if tokens.negative[users].any():
            line = int(np.flatnonzero(tokens.negative[users])[0])
            raise source.error(
                tokens.first_line + line, "a user is negative, allowed are whole numbers below 2^64"
            )
        items, kept, wrapped = _rows(tokens, are_items, source)
        yield _Lookups(items, kept, wrapped, tokens.values[users], tokens.line_offsets)


def _grouped_users(source: TraceSource) -> Iterator[Sequences]:
    """The last user of a chunk waits for the next one, where its lines may go on."""
    rest: list[_Lookups] = []
    for part in _user_lines(source):
        begins = np.flatnonzero(np.diff(part.users))
        if rest and part.users[0] != rest[-1].users[-1]:
            last = 0
        elif len(begins):
            last = int(begins[-1]) + 1
        else:
            rest.append(part)
            continue
        yield from _flush(source, [*rest, part.take(slice(0, last))])
        rest = [part.take(slice(last, None))]
    yield from _flush(source, rest)


def _flush(source: TraceSource, parts: list[_Lookups]) -> Iterator[Sequences]:
    if parts:
        yield _users(source, _Lookups.joined(parts))


def _users(source: TraceSource, lookups: _Lookups) -> Sequences:
    """One sequence for each run of equal users."""
    begins = np.flatnonzero(np.diff(lookups.users, prepend=~lookups.users[:1]))
    owner = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(lookups.users)))
    return _build(source, lookups.items, lookups.kept, lookups.wrapped, owner, lookups.offsets[begins])


def _build(
    source: TraceSource,
    items: UIntArray,
    kept: BoolArray,
    wrapped: BoolArray,
    owner: IntArray,
    offsets: IntArray,
) -> Sequences:
    """Drop padding and the sequences of the other half; `offsets` is [sequences], the rest [lookups]."""
    second = offsets >= source.middle
    chosen = (
        second if source.part == "second_half" else ~second if source.part == "first_half" else second | True
    )
    inside = np.ones(len(items), np.bool_) if chosen.all() else chosen[owner]
    taken = kept & inside
    if not taken.all():
        items, owner = items[taken], owner[taken]
    return Sequences(
        items,
        np.bincount(owner, minlength=len(offsets))[chosen],
        second[chosen],
        int((~kept & inside).sum()),
        int((wrapped & inside).sum()),
    )


def _rows(tokens: Tokens, are_items: Which, source: TraceSource) -> tuple[UIntArray, BoolArray, BoolArray]:
    """[items] rows of the table, which of them are not padding, and which were taken modulo the rows."""
    items = tokens.values[are_items]
    negative = tokens.negative[are_items] & (items > 0)
    kept = np.ones(len(items), np.bool_)
    if source.padding_id is not None:
        kept = (items != np.uint64(abs(source.padding_id))) | (negative != (source.padding_id < 0))
    outside = (
        kept & negative if source.rows is None else kept & (negative | (items >= np.uint64(source.rows)))
    )
    refused = outside if source.ids == "strict" else outside & negative
    if refused.any():
        at = int(np.flatnonzero(refused)[0])
        found = f"id {'-' if negative[at] else ''}{items[at]}"
        raise source.error(
            tokens.first_line + int(tokens.line[are_items][at]), f"{found} {source.allowed_ids}"
        )
    if source.ids == "modulo" and source.rows is not None:
        items = np.where(outside, items % np.uint64(source.rows), items)
    return items, kept, outside


def _check_columns(tokens: Tokens, source: TraceSource, *, least: int, most: int | None) -> None:
    columns = tokens.columns
    wrong = (columns < least) | (columns > (columns if most is None else most))
    if wrong.any():
        line = int(np.flatnonzero(wrong)[0])
        wanted = f"{least} or more" if most is None else str(least)
        raise source.error(tokens.first_line + line, f"{columns[line]} columns, {source.format} has {wanted}")
